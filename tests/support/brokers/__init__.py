"""Peers that answer as a test says."""
