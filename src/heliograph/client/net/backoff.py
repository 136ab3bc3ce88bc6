"""Exponential back-off with jitter, so that a cluster that comes back is not met by a stampede."""

from __future__ import annotations

import random

#: More than any limit needs; a float would not hold what many more give.
_DOUBLINGS = 60


class Backoff:
    """Successive delays: doubling from `first` to `most` seconds, each spread by ±20 % as Kafka's are."""

    def __init__(self, first: float = 0.1, most: float = 5.0) -> None:
        self._first = first
        self._most = most
        self.attempts = 0

    def next(self) -> float:
        delay = min(self._first * 2.0 ** min(self.attempts, _DOUBLINGS), self._most)
        self.attempts += 1
        return float(delay * random.uniform(0.8, 1.2))

    def reset(self) -> None:
        self.attempts = 0
