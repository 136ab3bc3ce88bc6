"""Decide, header by header, what a flow forwards of the data fetched from one partition.

Nothing is decompressed here. A batch passes as it is, is dropped (control batches, aborted
transactions, empty batches left by compaction), or is marked for `repack` when a broker would refuse
it. Mirrors `CompletedFetch.java` for read_committed; differs in working on batches, not records, and in
that offsets which go back are corrupt: they are outside the checksum, and what a damaged one makes a
reader pass over is lost.
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
    """A batch to forward. `next_offset` is where the source position stands once it is on the target.
    `holes`: records of it, or of what stood right before it, are gone (compaction)."""

    data: memoryview
    first_offset: int
    next_offset: int
    record_count: int
    repack: bool
    holes: bool = False


class Selection(NamedTuple):
    """`holes`: compaction has been at what follows the last batch, up to `position`. `leader_epoch` is that
    of the last batch looked at, -1 if it has none."""

    batches: list[Selected]
    position: int
    holes: bool = False
    leader_epoch: int = -1


def select(
    records: memoryview,
    *,
    position: int,
    end: int | None = None,
    aborted: Sequence[AbortedTransaction] = (),
    append_time: bool = True,
) -> Selection:
    """What to forward of `records`, fetched at `position`, and the position after them.

    The first batch may start below `position` (a fetch returns whole batches), the last may reach past
    `end` (exclusive): both are marked for repacking. With `append_time`, batches whose reader sees the
    broker's append time are marked too. Under read_uncommitted `aborted` is empty.
    """
    batches: list[Selected] = []
    transactions = _Transactions(aborted)
    holes, epoch = False, -1
    behind = 0  # the last batch
    for data in split(records):
        if data[MAGIC_AT] < 2:
            selected, after = _legacy(data, position)
            _check_order(after - 1, behind)
            behind = after
            holes = True  # nobody can tell: old formats do not say where a batch begins
        else:
            header = read_header(data)
            check_header(header)
            _check_order(header.base_offset, behind)
            after = behind = header.last_offset + 1
            if after <= position:
                continue
            if end is not None and header.base_offset >= end:
                break
            check_crc(data, header)
            epoch = header.leader_epoch
            holes = holes or header.base_offset > position or _thinned(header)
            dropped = transactions.drops(data, header) or header.record_count == 0
            selected = None if dropped else _magic2(data, header, position, end, append_time)
        if selected is not None:
            batches.append(selected._replace(holes=True) if holes else selected)
            holes = False
        position = max(position, after)
        if end is not None and position >= end:
            return Selection(batches, end, holes, epoch)
    return Selection(batches, position, holes, epoch)


def _check_order(offset: int, behind: int) -> None:
    if offset < behind:
        raise CorruptRecords(
            f"record batch at source offset {offset}: stands behind offset {behind - 1}"
        )


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
    return Selected(data, max(first, position), after, header.record_count, repack)


def _thinned(header: Header) -> bool:
    """Whether compaction has left holes in a batch."""
    return header.record_count != header.last_offset_delta + 1


def _legacy(data: memoryview, position: int) -> tuple[Selected | None, int]:
    """Magic 0 and 1: the entry's offset is that of its last message (a wrapper) or its only one."""
    last, _ = PREFIX.unpack_from(data)
    if not 0 <= last <= LAST_OFFSET:
        raise CorruptRecords(f"message: no record can have the offset {last}")
    if last < position:
        return None, last + 1
    return Selected(data, position, last + 1, 0, True), last + 1


class _Transactions:
    """Follows which producers are inside an aborted transaction while batches go by in offset order."""

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
