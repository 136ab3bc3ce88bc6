"""How often, and how soon, the copy is started again after a failure that Spark gives up on."""

from __future__ import annotations

from heliograph.client.net.backoff import Backoff

#: A copy that has run this long was well: the next failure is a new one.
_WELL_SECONDS = 30.0


class Restarts:
    """The first one follows at once, and so does every one that brings the copy on; otherwise they follow
    later and later."""

    def __init__(self) -> None:
        self.count = 0
        self._backoff = Backoff(first=0.1, most=30.0)

    def next(self, ran_seconds: float, *, copied: bool) -> float:
        """Another restart is due, after this many seconds. `copied`: records, since the one before."""
        if copied or ran_seconds >= _WELL_SECONDS:
            self._backoff.reset()
        self.count += 1
        return self._backoff.next()
