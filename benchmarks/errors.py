"""The error of a benchmark run."""

from __future__ import annotations

from harness.errors import HarnessError


class BenchmarkError(HarnessError):
    """A run that gives no figures; the message says why. The other runs continue."""
