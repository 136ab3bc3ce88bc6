"""Flows between real clusters, run by the real service."""
