"""The error of a chaos session."""

from __future__ import annotations

from harness.errors import HarnessError


class ChaosError(HarnessError):
    """A session without a result, because of the harness and not of the system under test."""
