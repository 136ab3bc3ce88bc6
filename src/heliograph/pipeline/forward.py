"""From fetched records to batches that the target takes: select, repack where it must be, and leave out what
the target has already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from heliograph.client.producer import Outgoing
from heliograph.errors import CorruptRecords, HeliographError, RecordTooLarge
from heliograph.pipeline.progress import PartitionCopy
from heliograph.records.batch import PREFIX
from heliograph.records.repack import repack
from heliograph.records.select import Selected, Selection, select
from heliograph.wire.fetch import FetchedPartition

_Runs = tuple[tuple[int, int], ...]


class Forward(NamedTuple):
    """What to produce, in order; before it, what is `there` already. With a failure, `position` is where it
    was: the rest was not looked at. `holes`: compaction has been at records that are there, so that counting
    them says nothing."""

    batches: list[Outgoing]
    position: int
    failure: HeliographError | None = None
    there: Sequence[Outgoing] = ()
    holes: bool = False


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
    position = copy.position if failure else selection.position
    there, rest = leave_out(batches, copy.skip) if copy.skip else ([], batches)
    holes = bool(copy.skip) and _holes(selection, there, copy.skip)
    return Forward(rest, position, failure, there, holes)


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
        Outgoing(memoryview(b""), records, head[0][0], sum(head[-1]), head),
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


def _holes(selection: Selection, there: Sequence[Outgoing], skip: int) -> bool:
    if not there or sum(batch.record_count for batch in there) < skip:
        return selection.holes or any(selected.holes for selected in selection.batches)
    end = there[-1].next_offset
    return any(selected.holes and selected.first_offset < end for selected in selection.batches)


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
