"""Decides which value is in force (prefixes, layers, placeholders), and reports mistakes."""
