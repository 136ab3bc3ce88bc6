"""Selects the batches to copy from the data fetched of one partition, by their headers.

Nothing is decompressed. A batch is copied as it is, dropped (control batches, aborted transactions, empty
batches left by compaction), or marked for `repack` if a broker would refuse it. As `CompletedFetch.java` for
read_committed, with two differences: it works on batches, not records, and descending offsets are corrupt.
Offsets are outside the checksum, and a damaged one could make a reader skip records.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import NamedTuple

from heliograph.errors import CorruptRecords
from heliograph.model import AbortedTransaction
from heliograph.records.batch import (
    CONTROL,
    LAST_OFFSET,
    LOG_APPEND_TIME,
    MAGIC_AT,
    PREFIX,
    TRANSACTIONAL,
    Header,
    check_crc,
    check_header,
    is_abort_marker,
    read_header,
    split,
)


class Selected(NamedTuple):
    """A batch to copy. `next_offset` is the source position once it is on the target. `holes`: compaction has
    removed records of it or right before it. `newest_ms`: the newest timestamp in its header; -1: none."""

    data: memoryview
    first_offset: int
    next_offset: int
    record_count: int
    repack: bool
    holes: bool = False
    newest_ms: int = -1


class Selection(NamedTuple):
    """`holes`: compaction has removed records between the last batch and `position`. `epochs` are the leader
    epochs of the batches read, each with the offset where it begins among them. `aborted` and `control` count
    batches that were dropped."""

    batches: list[Selected]
    position: int
    holes: bool = False
    epochs: tuple[tuple[int, int], ...] = ()
    aborted: int = 0
    control: int = 0


def select(
    records: memoryview,
    *,
    position: int,
    end: int | None = None,
    aborted: Sequence[AbortedTransaction] = (),
    append_time: bool = True,
) -> Selection:
    """The batches to copy of `records`, fetched at `position`, and the position after them.

    The first batch may start before `position` (a fetch returns whole batches), the last may reach past
    `end` (exclusive): both are marked for repacking. With `append_time`, batches with LogAppendTime are
    marked, too. Under read_uncommitted `aborted` is empty.

    A damaged batch ends the selection; if it is the first, CorruptRecords is raised. So all records before
    the damage are copied, and the next fetch, which starts at the damage, reports it.
    """
    walk = _Walk(position, end, aborted, append_time)
    try:
        for data in split(records):
            walk.take(data)
            if end is not None and walk.position >= end:
                return walk.selection(end)
    except CorruptRecords:
        if walk.position == position:
            raise
    return walk.selection(walk.position)


class _Walk:
    """Takes batches in the order of the log."""

    def __init__(
        self,
        position: int,
        end: int | None,
        aborted: Sequence[AbortedTransaction],
        append_time: bool,
    ) -> None:
        self.batches: list[Selected] = []
        self.position = position
        self.holes = False  # since the last batch
        self.epochs: list[tuple[int, int]] = []
        self._aborted = self._control = 0
        self._end = end
        self._transactions = _Transactions(aborted)
        self._append_time = append_time
        self._behind = 0  # offset after the last batch
        self._without_last = (0, position, False, 0)

    def selection(self, position: int) -> Selection:
        epochs = tuple(self.epochs)
        return Selection(self.batches, position, self.holes, epochs, self._aborted, self._control)

    def take(self, data: memoryview) -> None:
        if data[MAGIC_AT] < 2:
            selected, after = _legacy(data, self.position)
            self._check_order(after - 1)
            self.holes = True  # unknown: old formats do not contain the first offset of a batch
        else:
            header = read_header(data)
            check_header(header)
            self._check_order(header.base_offset)
            selected, after = self._magic2(data, header)
        if selected is not None:
            self.batches.append(selected._replace(holes=True) if self.holes else selected)
            self.holes = False
        self._behind = after
        self.position = max(self.position, after)

    def _check_order(self, offset: int) -> None:
        """Offsets are outside the checksum, and of two batches out of order either may be the damaged one, so
        both are dropped."""
        if offset < self._behind:
            kept, self.position, self.holes, epochs = self._without_last
            del self.batches[kept:]
            del self.epochs[epochs:]
            raise CorruptRecords(
                f"record batch at source offset {offset}: follows offset {self._behind - 1}"
            )
        self._without_last = (len(self.batches), self.position, self.holes, len(self.epochs))

    def _magic2(self, data: memoryview, header: Header) -> tuple[Selected | None, int]:
        after = header.last_offset + 1
        if after <= self.position:
            return None, after
        if self._end is not None and header.base_offset >= self._end:
            self.holes = self.holes or self._end > self.position
            return None, self._end
        check_crc(data, header)
        if header.leader_epoch >= 0 and (
            not self.epochs or self.epochs[-1][0] != header.leader_epoch
        ):
            self.epochs.append((header.leader_epoch, max(header.base_offset, self.position)))
        self.holes = self.holes or header.base_offset > self.position or _thinned(header)
        if self._transactions.drops(data, header):
            control = bool(header.attributes & CONTROL)
            self._control += control
            self._aborted += not control
            return None, after
        if header.record_count == 0:
            return None, after
        selected = _magic2(data, header, self.position, self._end, self._append_time)
        return selected, after


def _magic2(
    data: memoryview, header: Header, position: int, end: int | None, append_time: bool
) -> Selected:
    first, after = header.base_offset, header.last_offset + 1
    repack = (
        _thinned(header)
        or first < position
        or (end is not None and after > end)
        or bool(append_time and header.attributes & LOG_APPEND_TIME)
    )
    first = position if first < position else first
    return Selected(data, first, after, header.record_count, repack, False, header.max_timestamp)


def _thinned(header: Header) -> bool:
    """Whether compaction has removed records from a batch."""
    return header.record_count != header.last_offset_delta + 1


def _legacy(data: memoryview, position: int) -> tuple[Selected | None, int]:
    """Magic 0 and 1: an entry's offset is that of its last message."""
    last, _ = PREFIX.unpack_from(data)
    if not 0 <= last <= LAST_OFFSET:
        raise CorruptRecords(f"message: offset {last} is out of range")
    if last < position:
        return None, last + 1
    return Selected(data, position, last + 1, 0, True), last + 1


class _Transactions:
    """Tracks which producers are inside an aborted transaction, batch by batch in offset order."""

    def __init__(self, aborted: Sequence[AbortedTransaction]) -> None:
        self._upcoming = [(t.first_offset, t.producer_id) for t in aborted]
        heapq.heapify(self._upcoming)
        self._dead: set[int] = set()

    def drops(self, data: memoryview, header: Header) -> bool:
        while self._upcoming and self._upcoming[0][0] <= header.last_offset:
            self._dead.add(heapq.heappop(self._upcoming)[1])
        if header.attributes & CONTROL:
            if header.producer_id in self._dead and is_abort_marker(data):
                self._dead.discard(header.producer_id)
            return True
        return bool(header.attributes & TRANSACTIONAL) and header.producer_id in self._dead
