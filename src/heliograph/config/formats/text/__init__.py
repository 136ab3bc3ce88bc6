"""Parses JSON and YAML with line numbers, for error messages."""
