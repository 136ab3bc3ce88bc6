"""Debian's Chromium, driven by Playwright, and what a page must have for keyboard and screen reader."""
