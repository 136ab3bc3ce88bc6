"""What the silence of one connection says of others.

A connection may die without a word: a firewall forgets it, a load balancer is replaced. Only a time limit
tells, and what killed one has rarely killed one alone. Were each found out when it is next needed, a mirror
would stand still for the 30 s of its source's, then for those of its target's, then of its coordinator's.

    A ──●───────────────────────●──    heard since B was asked: stays
    B ──●────┼ asked ── no answer ✗    silent
    C ─●─────┼─────────────────────    at rest, and not heard since: whoever needs it next opens another
"""

from __future__ import annotations

import math


class HalfOpenDetector:
    """Of one process, whatever clusters it talks to: it is the way to them that is in doubt."""

    def __init__(self) -> None:
        self._since = -math.inf

    def note(self, asked: float) -> None:
        """A question of that time was never answered, by a broker that had answered others."""
        self._since = max(self._since, asked)

    def covers(self, heard: float) -> bool:
        """Whether a connection that was last heard then may be dead, too."""
        return heard < self._since


SILENCE = HalfOpenDetector()
