"""What only the tests of one lane use ends with the last of them, and not with the run.

An idle broker takes 2 % of a core, for as long as it runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable


class Lanes:
    """Counts the tests of each lane that this process has still to run. A process of pytest-xdist runs all
    tests of a lane or none of them, so a lane that it has begun is over after as many tests as it has."""

    def __init__(self) -> None:
        self._left: Counter[str] = Counter()
        self._current = ""
        self._ends: dict[str, list[Callable[[], None]]] = {}

    def expect(self, lanes: Iterable[str]) -> None:
        self._left.update(lanes)

    def begin(self, lane: str) -> None:
        """A test of this lane begins, and its fixtures with it."""
        self._current = lane

    def at_end(self, end: Callable[[], None]) -> None:
        """Call `end` after the last test of the lane whose test is running."""
        self._ends.setdefault(self._current, []).append(end)

    def end(self, lane: str) -> None:
        """A test of this lane is over."""
        self._left[lane] -= 1
        if not self._left[lane]:
            for end in self._ends.pop(lane, []):
                end()
