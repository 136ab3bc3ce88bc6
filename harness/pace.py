"""The pace of a writer: so many units a second."""

from __future__ import annotations

import time
from collections.abc import Callable


class Pace:
    """At most one second's worth is owed: after an outage the load continues at its rate and does not catch
    up."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._clock = clock
        self._owed = 0.0
        self._at = clock()

    def owed(self) -> float:
        """Units to write now."""
        now = self._clock()
        self._owed = min(self._owed + (now - self._at) * self._rate, self._rate)
        self._at = now
        return self._owed

    def spend(self, units: float) -> None:
        """They were written."""
        self._owed -= units
