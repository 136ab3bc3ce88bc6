"""Heliograph and the real MirrorMaker 2 mirror the same traffic and are scraped in one run."""
