"""Logs the same sentence about the same subject at most every 10 s, while a broker is away for example."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable

_QUIET_SECONDS = 10.0


class LogThrottle:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._said: dict[Hashable, tuple[str, float]] = {}

    def is_news(self, subject: Hashable, sentence: str) -> bool:
        """Whether to log: another sentence than the subject's last, or the last was logged 10 s ago."""
        now = self._clock()
        last, at = self._said.get(subject, ("", now))
        if sentence == last and now < at + _QUIET_SECONDS:
            return False
        self._said[subject] = (sentence, now)
        return True
