"""From fetched records to batches that the target takes: select, repack where it must be, and leave out what
the target has already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from heliograph.client.produce.partition_queue import Outgoing
from heliograph.copy.partition import PartitionCopy
from heliograph.errors import CorruptRecords, HeliographError, RecordTooLarge
from heliograph.mm2.quarantine import Oversize
from heliograph.model import Mark
from heliograph.records.batch import MAGIC_AT, PREFIX
from heliograph.records.decode import decode
from heliograph.records.legacy import decode_legacy
from heliograph.records.repack import repack
from heliograph.records.select import Selected, Selection, select
from heliograph.wire.fetch import FetchedPartition

#: Records left out in one go: each takes a look at its whole batch, and other partitions wait meanwhile.
_OVERSIZE_RUN = 20

_Runs = tuple[tuple[int, int], ...]


class Forward(NamedTuple):
    """What to produce, in order; before it, what is `there` already. With a failure, `position` is where it
    was: the rest was not looked at. `doubtful`: what is there cannot be counted off. `oversize` records come
    right behind the batches, with nothing between them that the target takes."""

    batches: list[Outgoing]
    position: int
    failure: HeliographError | None = None
    there: Sequence[Outgoing] = ()
    doubtful: bool = False
    oversize: Sequence[Oversize] = ()


def forward(
    copy: PartitionCopy,
    answer: FetchedPartition,
    *,
    append_time: bool,
    subject: str,
    quarantine: bool = False,
) -> Forward:
    """With `quarantine`, records that are too large for the target are left out instead of a failure."""
    cutter = _Cutter(copy, append_time, subject, quarantine)
    failure: HeliographError | None = None
    selection = Selection([], copy.position)
    try:
        selection = select(
            answer.records,
            position=copy.position,
            end=copy.lease.end,
            aborted=answer.aborted,
            append_time=append_time,
        )
    except CorruptRecords as e:
        failure = CorruptRecords(f"{subject}: {e}; it is not passed on")
    try:
        position = cutter.take_all(selection)
    except (CorruptRecords, RecordTooLarge) as e:
        failure = e
    if failure is None and selection.leader_epoch >= 0:
        copy.source_mark = Mark(selection.position, selection.leader_epoch)
    if failure is not None:
        position = copy.position
    if not copy.skip:
        return Forward(cutter.batches, position, failure, oversize=cutter.oversize)
    try:
        there, rest = leave_out(cutter.batches, copy.skip)
        doubtful = _doubtful(copy, selection._replace(position=position), there)
    except CorruptRecords as e:
        return Forward([], copy.position, e)
    return Forward(rest, position, failure, there, doubtful, cutter.oversize)


def _doubtful(copy: PartitionCopy, selection: Selection, there: Sequence[Outgoing]) -> bool:
    """Where compaction has been, records may be gone since they were copied, and counting them would leave
    out others that were not. Then the last one must be the very record that stands last on the target; and
    what is there cannot be more than the source has."""
    end = there[-1].next_offset if there else selection.position
    whole = sum(batch.record_count for batch in there) == copy.skip
    copy.holes |= any(each.holes and each.first_offset < end for each in selection.batches)
    if not whole:
        copy.holes |= selection.holes
        return selection.position >= copy.source_end >= 0
    return copy.holes and not _same_record(there[-1], memoryview(copy.landed_last))


def _same_record(upstream: Outgoing, downstream: memoryview) -> bool:
    """Not if compaction has emptied the target's last batch: then nobody knows what its last record was."""
    last = decode(upstream.data)[upstream.record_count - 1]
    landed = decode(downstream) if downstream else []
    return bool(landed) and replace(last, offset=0) == replace(landed[-1], offset=0)


def leave_out(batches: Sequence[Outgoing], records: int) -> tuple[list[Outgoing], list[Outgoing]]:
    """The first `records`, which the target has, and the rest. Law: together they are what was given."""
    there: list[Outgoing] = []
    rest: list[Outgoing] = []
    for batch in batches:
        if batch.record_count <= records:
            there.append(batch)
        elif records:
            head, tail = _cut(batch, records)
            there.append(head)
            rest.append(tail)
        else:
            rest.append(batch)
        records -= min(records, batch.record_count)
    return there, rest


def _cut(batch: Outgoing, records: int) -> tuple[Outgoing, Outgoing]:
    """Its writer before us had cut it otherwise: to other limits, or from another fetch."""
    head, tail = _cut_runs(batch.runs or ((batch.first_offset, batch.record_count),), records)
    (base,) = PREFIX.unpack_from(batch.data)[:1]
    (piece,) = repack(batch.data, first=base + records)
    return (
        Outgoing(batch.data, records, head[0][0], sum(head[-1]), head),
        Outgoing(memoryview(piece.data), piece.count, tail[0][0], batch.next_offset, tail),
    )


def _cut_runs(runs: _Runs, records: int) -> tuple[_Runs, _Runs]:
    head: list[tuple[int, int]] = []
    tail: list[tuple[int, int]] = []
    for first, count in runs:
        left = min(records, count)
        records -= left
        if left:
            head.append((first, left))
        if left < count:
            tail.append((first + left, count - left))
    return tuple(head), tuple(tail)


class _Cutter:
    """Batches as the target takes them: as they are, or repacked; and what it does not take at all."""

    def __init__(
        self, copy: PartitionCopy, append_time: bool, subject: str, quarantine: bool
    ) -> None:
        self.batches: list[Outgoing] = []
        self.oversize: list[Oversize] = []
        self._copy = copy
        self._append_time = append_time
        self._subject = subject
        self._quarantine = quarantine

    def take_all(self, selection: Selection) -> int:
        """The position behind what was taken."""
        for selected in selection.batches:
            if not self._take(selected):
                return self.oversize[-1].offset + 1
        return selection.position

    def _take(self, selected: Selected) -> bool:
        """False: it has to wait until the records before it that are left out stand in quarantine."""
        most = self._copy.max_bytes
        if selected.repack or (most is not None and len(selected.data) > most):
            return self._take_pieces(selected)
        if self.oversize:
            return False
        self.batches.append(
            Outgoing(
                selected.data, selected.record_count, selected.first_offset, selected.next_offset
            )
        )
        return True

    def _take_pieces(self, selected: Selected) -> bool:
        first = selected.first_offset
        while len(self.oversize) < _OVERSIZE_RUN:
            pieces, too_large = self._pieces_from(selected, first)
            if pieces and self.oversize:
                return False
            self.batches += pieces
            if too_large is None:
                return True
            if not self._quarantine:
                raise too_large
            self.oversize.append(self._described(selected, too_large))
            first = too_large.offset + 1
        return False

    def _pieces_from(
        self, selected: Selected, first: int
    ) -> tuple[list[Outgoing], RecordTooLarge | None]:
        """What stands before a record too large goes on."""
        try:
            return list(self._pieces(selected, first, self._copy.lease.end)), None
        except RecordTooLarge as e:
            before = self._pieces(selected, first, e.offset) if e.offset > first else ()
            return list(before), e

    def _pieces(self, selected: Selected, first: int, end: int | None) -> Iterator[Outgoing]:
        for piece in repack(
            selected.data,
            first=first,
            end=end,
            append_time=self._append_time,
            max_bytes=self._copy.max_bytes,
            subject=self._subject,
        ):
            yield Outgoing(
                memoryview(piece.data),
                piece.count,
                piece.first_offset,
                piece.next_offset,
                piece.runs,
            )

    def _described(self, selected: Selected, too_large: RecordTooLarge) -> Oversize:
        data, subject = selected.data, self._subject
        records = (
            decode_legacy(data, append_time=self._append_time, subject=subject)
            if data[MAGIC_AT] < 2
            else decode(data, subject=subject)
        )
        (record,) = (each for each in records if each.offset == too_large.offset)
        return Oversize(
            offset=record.offset,
            timestamp=record.timestamp,
            key=record.key,
            size=too_large.size,
            limit=self._copy.max_bytes or 0,
        )
