"""What can go wrong in a comparison."""

from __future__ import annotations


class ConformanceError(Exception):
    """No comparison took place; the message says why."""
