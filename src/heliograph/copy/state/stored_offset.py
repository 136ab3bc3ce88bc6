"""The offset of a partition in Connect's offsets topic, as far as its copy knows it."""

from __future__ import annotations

from dataclasses import dataclass

#: How many positions written to the offsets topic a snapshot lists: some writes may have been lost.
_REMEMBERED = 8


@dataclass(slots=True, eq=False)
class StoredOffset:
    """Part of a `Partition`; only the partition changes it. `position` is the newest offset written to the
    topic, None if that is not known; `possible` are all offsets that the topic may hold, -1 for none."""

    position: int | None
    possible: tuple[int, ...]

    def mark(self, position: int) -> None:
        """This position is about to be written."""
        if len(self.possible) == _REMEMBERED:  # keep the first: it is the only confirmed one
            self.possible = (self.possible[0], *self.possible[2:])
        self.possible = (*self.possible, _as_stored(position))

    def confirm(self, position: int) -> None:
        """The topic has this offset, or one that was marked later."""
        stored = _as_stored(position)
        if stored in self.possible:
            self.possible = self.possible[self.possible.index(stored) :]


def _as_stored(position: int) -> int:
    """Position 0 is never written, since nothing is mirrored then."""
    return position or -1
