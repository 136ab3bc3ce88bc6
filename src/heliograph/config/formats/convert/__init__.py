"""Converts a configuration from one format into another, by way of an outline: workers and connectors.

Placeholders are not filled in. Every setting that the other format cannot express gets a note.
"""
