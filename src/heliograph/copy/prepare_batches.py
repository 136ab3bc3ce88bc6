"""Turns fetched records into batches for the target: selects, repacks where necessary, and drops the records
that the target already has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.copy.partition import Partition
from heliograph.errors import CorruptRecords, HeliographError, RecordTooLarge
from heliograph.measured import BatchCounts
from heliograph.mm2.quarantine import Oversize
from heliograph.model import LeaderEpochMark
from heliograph.records.batch import (
    ATTRIBUTES_AT,
    CODEC,
    LOG_APPEND_TIME,
    MAGIC_AT,
    PREFIX,
    max_timestamp,
    read_header,
)
from heliograph.records.decode import decode
from heliograph.records.legacy import decode_legacy
from heliograph.records.repack import repack
from heliograph.records.select import Selected, Selection, select
from heliograph.wire.fetch import FetchedPartition

#: Oversize records handled per fetch: each needs its whole batch decoded, while other partitions wait.
_OVERSIZE_RUN = 20

_Runs = tuple[tuple[int, int], ...]


class Prepared(NamedTuple):
    """The content of a fetch, ready to be sent.

    batches      to send, in order
    position     the next offset to fetch; unchanged after a failure
    failure      why the rest of the fetch was not processed
    there        what the target already has, before `batches`
    uncertain    which records the target has cannot be determined
    oversize     records too large for the target, directly after `batches`
    renumbered   compaction has removed records that were sent before, so none of these may be sent under the
                 same sequence numbers
    holes        compaction has removed records that were to be skipped
    mark         of the newest record read
    counts       batches of the source by what becomes of them
    """

    batches: list[ProducerBatch]
    position: int
    failure: HeliographError | None = None
    there: Sequence[ProducerBatch] = ()
    uncertain: bool = False
    oversize: Sequence[Oversize] = ()
    renumbered: bool = False
    holes: bool = False
    mark: LeaderEpochMark | None = None
    counts: BatchCounts = BatchCounts()


def prepare(
    copy: Partition,
    answer: FetchedPartition,
    *,
    append_time: bool,
    subject: str,
    quarantine: bool = False,
) -> Prepared:
    """With `quarantine`, records too large for the target become `oversize` instead of a failure."""
    cutter = _Cutter(copy, append_time, subject, quarantine)
    try:
        selection = selection_of(copy, answer, append_time=append_time, subject=subject)
        skipped, selection = _skip_landed(copy, cutter, selection)
    except CorruptRecords as e:
        return Prepared([], copy.position, e)
    if _renumbered(copy, selection.batches) or _is_proven(copy, skipped.there):
        rest = selection.batches[0].first_offset if selection.batches else selection.position
        position = rest if skipped.there else copy.position
        return skipped._replace(position=position, renumbered=True)
    failure, position, mark = None, copy.position, None
    try:
        position = cutter.take_all(selection)
        mark = _mark(copy, selection)
    except (CorruptRecords, RecordTooLarge) as e:
        failure = e
    return skipped._replace(
        batches=cutter.batches,
        position=position,
        failure=failure,
        oversize=cutter.oversize,
        mark=mark,
        counts=BatchCounts(
            cutter.passed,
            cutter.repacked,
            cutter.recompressed,
            selection.aborted,
            selection.control,
        ),
    )


def selection_of(
    copy: Partition, answer: FetchedPartition, *, append_time: bool, subject: str
) -> Selection:
    """The batches of a fetch to copy. Raises CorruptRecords if the first one is damaged."""
    try:
        return select(
            answer.records,
            position=copy.position,
            end=copy.end,
            aborted=answer.aborted,
            append_time=append_time,
        )
    except CorruptRecords as e:
        raise CorruptRecords(f"{subject}: {e}; it is not mirrored") from None


def _skip_landed(
    copy: Partition, cutter: _Cutter, selection: Selection
) -> tuple[Prepared, Selection]:
    """What the target already has, and the rest of the selection."""
    nothing = Prepared([], copy.position)
    if not copy.numbers.skip:
        return nothing, selection
    there, rest = cutter.count_off(selection)
    holes = _has_holes(copy, selection, there)
    uncertain = _uncertain(copy, selection, there, holes)
    skipped = nothing._replace(there=there, uncertain=uncertain, holes=holes)
    return skipped, selection._replace(batches=rest)


def _mark(copy: Partition, selection: Selection) -> LeaderEpochMark | None:
    """None while records are skipped that the predecessor has read beyond: its mark is newer."""
    before = copy.source_mark
    further = before is not None and copy.numbers.skip and before.offset > selection.position
    if not selection.epochs or further:
        return None
    return (before or LeaderEpochMark(-1, -1)).advance(selection.position, selection.epochs)


def _renumbered(copy: Partition, batches: Iterable[Selected]) -> bool:
    """Whether compaction has removed records among those that may have been numbered before."""
    return any(each.holes and each.first_offset < copy.numbers.given_to for each in batches)


def _is_proven(copy: Partition, there: Sequence[ProducerBatch]) -> bool:
    """Whether all records to skip were found, after a snapshot without an isolation level."""
    return copy.numbers.unproven and bool(there) and _is_all(copy, there)


def _has_holes(copy: Partition, selection: Selection, there: Sequence[ProducerBatch]) -> bool:
    """Whether compaction has removed records to skip, in this fetch or an earlier one."""
    end = there[-1].next_offset if there else selection.position
    within = any(each.holes and each.first_offset < end for each in selection.batches)
    return copy.numbers.holes or within or (selection.holes and not _is_all(copy, there))


def _is_all(copy: Partition, there: Sequence[ProducerBatch]) -> bool:
    return sum(batch.record_count for batch in there) == copy.numbers.skip


def _uncertain(
    copy: Partition, selection: Selection, there: Sequence[ProducerBatch], holes: bool
) -> bool:
    """The last record to skip must equal the last one on the target. Source records may have been removed or
    replaced since they were copied; counting alone would then skip records that were not copied. And the
    target cannot have more records than the source."""
    if not _is_all(copy, there):
        return selection.position >= copy.source_end >= 0
    same = _same_record(there[-1], memoryview(copy.numbers.landed_last))
    return holes if same is None else not same


def _same_record(upstream: ProducerBatch, downstream: memoryview) -> bool | None:
    """None if compaction has emptied the target's last batch, so that there is nothing to compare with.
    Timestamps are not compared if the target uses LogAppendTime."""
    landed = decode(downstream) if downstream else []
    if not landed:
        return None
    last = replace(decode(upstream.data)[upstream.record_count - 1], offset=0)
    if read_header(downstream).attributes & LOG_APPEND_TIME:
        last = replace(last, timestamp=landed[-1].timestamp)
    return last == replace(landed[-1], offset=0)


def leave_out(
    batches: Sequence[ProducerBatch], records: int
) -> tuple[list[ProducerBatch], list[ProducerBatch]]:
    """Splits off the first `records`, which the target has. Law: both parts together are the input."""
    there: list[ProducerBatch] = []
    rest: list[ProducerBatch] = []
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


def _cut(batch: ProducerBatch, records: int) -> tuple[ProducerBatch, ProducerBatch]:
    """Splits a batch that the predecessor had split elsewhere: by other limits, or in another fetch."""
    head, tail = _cut_runs(batch.runs or ((batch.first_offset, batch.record_count),), records)
    (base,) = PREFIX.unpack_from(batch.data)[:1]
    (piece,) = repack(batch.data, first=base + records)
    return (
        ProducerBatch(batch.data, records, head[0][0], sum(head[-1]), head),
        ProducerBatch(
            memoryview(piece.data),
            piece.count,
            tail[0][0],
            batch.next_offset,
            tail,
            newest_ms=batch.newest_ms,
        ),
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


def _whole(selected: Selected) -> ProducerBatch:
    return ProducerBatch(
        selected.data,
        selected.record_count,
        selected.first_offset,
        selected.next_offset,
        newest_ms=selected.newest_ms,
    )


class _Cutter:
    """Collects batches for the target, unchanged or repacked, and the records too large for it."""

    def __init__(self, copy: Partition, append_time: bool, subject: str, quarantine: bool) -> None:
        self.batches: list[ProducerBatch] = []
        self.oversize: list[Oversize] = []
        self.passed = self.repacked = self.recompressed = 0
        self._copy = copy
        self._append_time = append_time
        self._subject = subject
        self._quarantine = quarantine

    def take_all(self, selection: Selection) -> int:
        """Returns the position after what was taken."""
        for selected in selection.batches:
            if not self._take(selected):
                return self.oversize[-1].offset + 1
        return selection.position

    def count_off(self, selection: Selection) -> tuple[list[ProducerBatch], list[Selected]]:
        """Splits off the first `skip` records, which the target has. They are not too large: the target has
        accepted them before."""
        there: list[ProducerBatch] = []
        left, batches = self._copy.numbers.skip, list(selection.batches)
        while left and batches:
            selected = batches.pop(0)
            pieces = [_whole(selected)]
            if selected.repack:
                end = self._copy.end
                pieces = list(self._pieces(selected, selected.first_offset, end, limit=None))
            counted, rest = leave_out(pieces, left)
            there += counted
            left -= sum(piece.record_count for piece in counted)
            if rest:
                batches.insert(0, selected._replace(first_offset=rest[0].first_offset, repack=True))
        return there, batches

    def _take(self, selected: Selected) -> bool:
        """False if it has to wait until the oversize records before it are in quarantine."""
        most = self._copy.max_bytes
        if selected.repack or (most is not None and len(selected.data) > most):
            return self._take_pieces(selected)
        if self.oversize:
            return False
        self.batches.append(_whole(selected))
        self.passed += 1
        return True

    def _take_pieces(self, selected: Selected) -> bool:
        first = selected.first_offset
        while len(self.oversize) < _OVERSIZE_RUN:
            pieces, too_large = self._pieces_from(selected, first)
            if pieces and self.oversize:
                return False
            self.batches += pieces
            if too_large is None:
                self._count_repacked(selected)
                return True
            if not self._quarantine:
                raise too_large
            self.oversize.append(self._described(selected, too_large))
            first = too_large.offset + 1
        return False

    def _count_repacked(self, selected: Selected) -> None:
        attributes_at = ATTRIBUTES_AT + 1 if selected.data[MAGIC_AT] >= 2 else MAGIC_AT + 1
        self.repacked += 1
        self.recompressed += bool(selected.data[attributes_at] & CODEC)

    def _pieces_from(
        self, selected: Selected, first: int
    ) -> tuple[list[ProducerBatch], RecordTooLarge | None]:
        """Returns the pieces before the first record that is too large, and that record's error."""
        limit = self._copy.max_bytes
        try:
            return list(self._pieces(selected, first, self._copy.end, limit)), None
        except RecordTooLarge as e:
            before = self._pieces(selected, first, e.offset, limit) if e.offset > first else ()
            return list(before), e

    def _pieces(
        self, selected: Selected, first: int, end: int | None, limit: int | None
    ) -> Iterator[ProducerBatch]:
        for piece in repack(
            selected.data,
            first=first,
            end=end,
            append_time=self._append_time,
            max_bytes=limit,
            subject=self._subject,
        ):
            yield ProducerBatch(
                memoryview(piece.data),
                piece.count,
                piece.first_offset,
                piece.next_offset,
                piece.runs,
                newest_ms=max_timestamp(memoryview(piece.data)),
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
