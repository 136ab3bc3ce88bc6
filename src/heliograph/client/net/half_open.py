"""Suspects idle connections of being half-open once another connection has timed out.

A firewall or a load balancer may drop connections without a reset. Only a timeout shows it, and it rarely
hits one connection alone. If each were found when it is next used, a mirror would stop for the 30 s
timeout of its source, then of its target, then of its coordinator.

    A ──●───────────────────────●──    has answered since B was asked: kept
    B ──●────┼ asked ── no answer ✗    timed out
    C ─●─────┼─────────────────────    idle, no answer since: replaced when it is next needed
"""

from __future__ import annotations

import math


class HalfOpenDetector:
    """One for the process and all its clusters: what drops connections is on the way to them."""

    def __init__(self) -> None:
        self._since = -math.inf

    def note(self, asked: float) -> None:
        """A request sent at `asked` timed out, on a connection that had answered others."""
        self._since = max(self._since, asked)

    def covers(self, last_response: float) -> bool:
        """Whether a connection whose last response came at `last_response` may be half-open, too."""
        return last_response < self._since


HALF_OPEN = HalfOpenDetector()
