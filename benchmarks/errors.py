"""What can go wrong in a benchmark."""

from __future__ import annotations


class BenchmarkError(Exception):
    """A run that gives no figures; the message says why. Other runs go on."""
