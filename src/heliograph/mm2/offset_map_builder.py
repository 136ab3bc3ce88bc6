"""Collects where a task's acknowledged records have landed, as offset ranges."""

from __future__ import annotations

from heliograph.mm2.offset_map import LOST, OffsetRange


class OffsetMapBuilder:
    """For one partition, from the start of its lease.

    Laws: the ranges returned by `fresh` so far, appended to an `OffsetMap`, translate every offset between
    the start of the lease and the last position; and a run that lands in parts gives the same as one that
    lands at once.
    """

    __slots__ = ("_closed", "_fresh_from", "_shift", "end", "told")

    def __init__(self, start: int) -> None:
        self.end = start  # upstream, after the last record that landed
        self.told = start  # the position of the last `fresh`
        self._fresh_from = start  # start of the part of the open run that `fresh` has not returned
        self._shift: int | None = None  # downstream minus upstream of the open run
        self._closed: list[OffsetRange] = []

    def land(self, upstream: int, downstream: int, count: int) -> None:
        """Called for every batch: continuing a run is one addition."""
        if upstream == self.end and downstream - upstream == self._shift:
            self.end += count
        else:
            self._begin(upstream, downstream, count)

    def lose(self, upstream: int, count: int) -> None:
        """These records were acknowledged without an offset."""
        self._close()
        self._closed.append(OffsetRange(upstream, LOST, count))
        self.end = self._fresh_from = upstream + count
        self._shift = None

    def has_fresh(self, position: int) -> bool:
        """Whether `fresh` may return ranges; cheaper than calling it."""
        return position != self.told or self.end != self._fresh_from or bool(self._closed)

    def fresh(self, position: int) -> list[OffsetRange]:
        """The ranges since the last call; everything mirrored below `position` has landed."""
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
            # This task has mirrored nothing between the two runs, whatever other writers have added.
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
