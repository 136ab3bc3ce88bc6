"""What can go wrong with the harness itself, as against the system under test."""

from __future__ import annotations


class ChaosError(Exception):
    """A run that has no result."""
