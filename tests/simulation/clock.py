"""Time that passes when the simulation says so."""

from __future__ import annotations

_EPOCH_SECONDS = 1.7e9


class VirtualClock:
    """Takes the place of the module `time` in the modules under test."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return _EPOCH_SECONDS + self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
