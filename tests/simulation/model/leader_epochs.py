"""Which leader epoch begins where in a log (`LeaderEpochFileCache`)."""

from __future__ import annotations

from collections.abc import Iterator

UNDEFINED = -1


class LeaderEpochs:
    def __init__(self) -> None:
        self._starts: dict[int, int] = {}  # epoch: its first offset, both ascending

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self._starts.items())

    @property
    def latest(self) -> int:
        return max(self._starts, default=UNDEFINED)

    def assign(self, epoch: int, start: int) -> None:
        """Entries that the new one contradicts are dropped: the epoch before, if it never wrote."""
        if epoch == self.latest and start >= self._starts[epoch]:
            return
        self._starts = {e: s for e, s in self._starts.items() if e < epoch and s < start}
        self._starts[epoch] = start

    def end_offset(self, epoch: int, log_end: int) -> tuple[int, int]:
        """The largest epoch that is not above the asked one, and where it ends."""
        if epoch == UNDEFINED:
            return UNDEFINED, UNDEFINED
        if epoch == self.latest:
            return epoch, log_end
        higher = [start for each, start in self._starts.items() if each > epoch]
        if not higher:
            return UNDEFINED, UNDEFINED
        return max((each for each in self._starts if each <= epoch), default=epoch), higher[0]

    def at(self, offset: int) -> int:
        """The epoch under which the record at this offset was appended (`epochForOffset`)."""
        return max((e for e, start in self._starts.items() if start <= offset), default=UNDEFINED)

    def truncate_from_start(self, start: int) -> None:
        """The last epoch that begins at or before the new start of the log begins there."""
        before = [epoch for epoch, each in self._starts.items() if each <= start]
        if before:
            after = {e: s for e, s in self._starts.items() if s > start}
            self._starts = {before[-1]: start} | after

    def truncate_from_end(self, end: int) -> None:
        self._starts = {e: s for e, s in self._starts.items() if s < end}
