"""From fetched records to batches that the target takes: select, and repack where it must be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from heliograph.client.producer import Outgoing
from heliograph.errors import CorruptRecords, HeliographError, RecordTooLarge
from heliograph.pipeline.progress import PartitionCopy
from heliograph.records.repack import repack
from heliograph.records.select import Selected, select
from heliograph.wire.fetch import FetchedPartition


class Forward(NamedTuple):
    """What to produce, in order. With a failure, `position` is where it was: the rest was not looked at."""

    batches: list[Outgoing]
    position: int
    failure: HeliographError | None


def forward(
    copy: PartitionCopy, answer: FetchedPartition, *, append_time: bool, subject: str
) -> Forward:
    batches: list[Outgoing] = []
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
        return Forward(batches, copy.position, e)
    return Forward(batches, selection.position, None)


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
