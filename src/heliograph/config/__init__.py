"""Reads and checks the user's configuration. Pure."""
