"""From fetched records to batches that the target takes: select, repack where it must be, and leave out what
the target has already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from heliograph.client.producer import Outgoing
from heliograph.errors import CorruptRecords, HeliographError, RecordTooLarge
from heliograph.model import Mark
from heliograph.pipeline.progress import PartitionCopy
from heliograph.records.batch import PREFIX
from heliograph.records.decode import decode
from heliograph.records.repack import repack
from heliograph.records.select import Selected, Selection, select
from heliograph.wire.fetch import FetchedPartition

_Runs = tuple[tuple[int, int], ...]


class Forward(NamedTuple):
    """What to produce, in order; before it, what is `there` already. With a failure, `position` is where it
    was: the rest was not looked at. `doubtful`: what is there cannot be counted off."""

    batches: list[Outgoing]
    position: int
    failure: HeliographError | None = None
    there: Sequence[Outgoing] = ()
    doubtful: bool = False


def forward(
    copy: PartitionCopy, answer: FetchedPartition, *, append_time: bool, subject: str
) -> Forward:
    batches: list[Outgoing] = []
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
        for selected in selection.batches:
            fits = copy.max_bytes is None or len(selected.data) <= copy.max_bytes
            if fits and not selected.repack:
                batches.append(
                    Outgoing(
                        selected.data,
                        selected.record_count,
                        selected.first_offset,
                        selected.next_offset,
                    )
                )
            else:
                _repack_into(batches, copy, selected, append_time, subject)
    except (CorruptRecords, RecordTooLarge) as e:
        failure = e
    if failure is None and selection.leader_epoch >= 0:
        copy.source_mark = Mark(selection.position, selection.leader_epoch)
    position = copy.position if failure else selection.position
    if not copy.skip:
        return Forward(batches, position, failure)
    try:
        there, rest = leave_out(batches, copy.skip)
        return Forward(rest, position, failure, there, _doubtful(copy, selection, there))
    except CorruptRecords as e:
        return Forward([], copy.position, e)


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


def _repack_into(
    batches: list[Outgoing],
    copy: PartitionCopy,
    selected: Selected,
    append_time: bool,
    subject: str,
) -> None:
    def pieces(end: int | None) -> Iterator[Outgoing]:
        for piece in repack(
            selected.data,
            first=selected.first_offset,
            end=end,
            append_time=append_time,
            max_bytes=copy.max_bytes,
            subject=subject,
        ):
            yield Outgoing(
                memoryview(piece.data),
                piece.count,
                piece.first_offset,
                piece.next_offset,
                piece.runs,
            )

    try:
        batches.extend(pieces(copy.lease.end))
    except RecordTooLarge as e:
        batches.extend(pieces(e.offset))  # what stands before it goes on
        raise
