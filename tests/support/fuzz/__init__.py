"""Hostile input, and the laws that hold for it."""
