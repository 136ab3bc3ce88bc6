"""Whether and how soon the copy is restarted after the Spark query has failed."""

from __future__ import annotations

from heliograph.client.net.backoff import Backoff

#: After this long without a failure, the next one is treated as the first.
_WELL_SECONDS = 30.0
_RESTARTS_ONCE = 3


class Restarts:
    """The first restart follows at once, and so does each one after records were copied; otherwise the pause
    grows."""

    def __init__(self) -> None:
        self.count = 0
        self._backoff = Backoff(first=0.1, most=30.0)

    def next(self, ran_seconds: float, *, copied: bool) -> float:
        """Seconds until the next restart. `copied`: whether records were copied since the last one."""
        if copied or ran_seconds >= _WELL_SECONDS:
            self._backoff.reset()
        self.count += 1
        return self._backoff.next()

    def gives_up(self, *, once: bool, retriable: bool, copied: bool) -> bool:
        """A bounded run fails for the third time, or tasks can never run, and never have."""
        return (once and self.count >= _RESTARTS_ONCE) or not (retriable or copied)
