"""What Connect's offsets topic says of a partition, as far as its copy knows."""

from __future__ import annotations

from dataclasses import dataclass

#: Positions given to the offsets topic that a snapshot remembers: some may never have arrived there.
_REMEMBERED = 8


@dataclass(slots=True, eq=False)
class StoredOffset:
    """Part of a `Partition`, which alone changes it. `position` is the newest that was given to the topic,
    None if that is not known; `possible` are all that the topic may say, -1 for nothing."""

    position: int | None
    possible: tuple[int, ...]

    def mark(self, position: int) -> None:
        """It is to be stored now."""
        if len(self.possible) == _REMEMBERED:  # not the first: it is there for sure, others may be
            self.possible = (self.possible[0], *self.possible[2:])
        self.possible = (*self.possible, _said(position))

    def confirm(self, position: int) -> None:
        """The topic says this, or what was marked after it."""
        said = _said(position)
        if said in self.possible:
            self.possible = self.possible[self.possible.index(said) :]


def _said(position: int) -> int:
    """What the offsets topic says of a position: of 0 nothing, since nothing is mirrored."""
    return position or -1
