"""Where a task's acknowledged records have landed, gathered cheaply and handed on as ranges."""

from __future__ import annotations

from heliograph.mm2.offset_map import LOST, OffsetRange


class OffsetMapBuilder:
    """One partition's, from the start of its lease on.

    Laws: the ranges that `fresh` has returned so far, appended to `OffsetMap`, translate every offset
    between the lease's start and the position last given; and a run that is landed in parts is the same as
    one that is landed at once.
    """

    __slots__ = ("_closed", "_fresh_from", "_shift", "end", "told")

    def __init__(self, start: int) -> None:
        self.end = start  # upstream, behind the last record that landed
        self.told = start  # the position that `fresh` has gone up to
        self._fresh_from = (
            start  # where the part of the open run begins that `fresh` has not returned
        )
        self._shift: int | None = None  # downstream minus upstream of the open run
        self._closed: list[OffsetRange] = []

    def land(self, upstream: int, downstream: int, count: int) -> None:
        """Called with every batch: a run that goes on is one addition."""
        if upstream == self.end and downstream - upstream == self._shift:
            self.end += count
        else:
            self._begin(upstream, downstream, count)

    def lose(self, upstream: int, count: int) -> None:
        """These were acknowledged, and nobody knows where they are."""
        self._close()
        self._closed.append(OffsetRange(upstream, LOST, count))
        self.end = self._fresh_from = upstream + count
        self._shift = None

    def has_fresh(self, position: int) -> bool:
        """Cheaper than to call `fresh`, which may have nothing to say all the same."""
        return position != self.told or self.end != self._fresh_from

    def fresh(self, position: int) -> list[OffsetRange]:
        """What has landed since the last call; all that was mirrored below `position` has."""
        self._close()
        ranges, self._closed = self._closed, []
        if position > self.end and self._shift is not None and position != self.told:
            ranges.append(OffsetRange(position, self.end + self._shift, 0))
        self.told = max(position, self.end)
        return ranges

    def _begin(self, upstream: int, downstream: int, count: int) -> None:
        self._close()
        meets = self._shift is not None and downstream == self.end + self._shift
        if upstream > self.end and not meets:
            # This task has mirrored nothing between the two, whatever others have written.
            self._closed.append(OffsetRange(self.end, downstream, 0))
        self._fresh_from, self.end = upstream, upstream + count
        self._shift = downstream - upstream

    def _close(self) -> None:
        count = self.end - self._fresh_from
        if count and self._shift is not None:
            self._closed.append(
                OffsetRange(self._fresh_from, self._fresh_from + self._shift, count)
            )
        self._fresh_from = self.end
