"""Limits the wrong passwords of an address: ten at once, then one every six seconds.

Right passwords do not count, so that a client that polls is never slowed down.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

BURST = 10
SECONDS_EACH = 6.0
#: Addresses in memory; the one whose last attempt is oldest is dropped first.
_MOST = 10_000


class Attempts:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        #: When an address has all its attempts again.
        self._whole_at: OrderedDict[str, float] = OrderedDict()

    def take(self, address: str) -> float:
        """0 if it may try now; else the seconds until it may."""
        now = self._clock()
        whole_at = max(self._whole_at.get(address, now), now) + SECONDS_EACH
        wait = whole_at - now - BURST * SECONDS_EACH
        if wait > 0:
            return wait
        self._remember(address, whole_at)
        return 0.0

    def give_back(self, address: str) -> None:
        """The password was right."""
        if address in self._whole_at:
            self._remember(address, self._whole_at[address] - SECONDS_EACH)

    def _remember(self, address: str, whole_at: float) -> None:
        self._whole_at[address] = whole_at
        self._whole_at.move_to_end(address)
        if len(self._whole_at) > _MOST:
            self._whole_at.popitem(last=False)
