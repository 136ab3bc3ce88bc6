"""What ends `make image` and `make kubernetes`: one sentence."""

from __future__ import annotations


class LabError(Exception):
    """Subject, what was expected, what was found, remedy."""
