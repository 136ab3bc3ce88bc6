"""Decides when a progress line is due: soon after records begin to move, then ever less often."""

from __future__ import annotations

_FIRST_SECONDS = 5.0
_MOST_SECONDS = 60.0


class ProgressPace:
    """While records move, after 5, 10, 20, 40 and 60 s, then every minute, and from the start again after a
    rest; while none move, once a minute."""

    def __init__(self) -> None:
        self._gap = _FIRST_SECONDS
        self._told_at = float("-inf")
        self._told = self._seen = -1
        self._moving = False

    def due(self, now: float, records: int) -> bool:
        """To be called every few seconds, with the number of records mirrored so far."""
        moving = records != self._seen
        if moving and not self._moving:
            self._gap = _FIRST_SECONDS
        self._seen, self._moving = records, moving
        if now - self._told_at < (self._gap if records != self._told else _MOST_SECONDS):
            return False
        self._told_at, self._told = now, records
        self._gap = min(2 * self._gap, _MOST_SECONDS)
        return True
