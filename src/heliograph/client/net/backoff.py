"""Exponential back-off with jitter, so that clients do not all reconnect at the same moment."""

from __future__ import annotations

import random

#: More than any limit needs; 2.0 ** 1024 would overflow.
_DOUBLINGS = 60


class Backoff:
    """Successive delays: doubling from `first` to `most` seconds, each with ±20 % jitter, as in Kafka."""

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
