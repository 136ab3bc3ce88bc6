"""The error of a comparison."""

from __future__ import annotations

from harness.errors import HarnessError


class ConformanceError(HarnessError):
    """No comparison took place; the message says why."""
