"""Collects what the service measures, for its metrics."""
