"""The source offset to resume at when the target has lost records, by the offset map in the state topic."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from heliograph.copy import target_loss
from heliograph.copy.partition import Partition
from heliograph.copy.target_loss import TargetLoss
from heliograph.mm2.state_records import segments_of
from heliograph.model import AckedOffsets, Lease, Lineage, OffsetRange, TopicPartition

SOURCE = TopicPartition("orders", 0)


def judged(
    patch: pytest.MonkeyPatch, ranges: Sequence[OffsetRange], end: int, *, transactional: bool
) -> tuple[int | None, bool]:
    """Records up to source offset 56 were acknowledged, before target offset 72."""
    segments = segments_of(SOURCE, ranges)
    records = [SimpleNamespace(key=each.key(), value=each.value()) for each in segments]
    tail = SimpleNamespace(read_new=lambda: records)
    patch.setattr(target_loss, "LogTail", lambda *_: tail)
    flow: Any = SimpleNamespace(keeps_offset_map=True, source="a")
    part: Any = SimpleNamespace(flush=lambda: None, wait_idle=lambda _: None)
    lease = Lease(
        flow="a->b",
        topic="orders",
        partition=0,
        target_topic="a.orders",
        start=56,
        lineage=Lineage(acked_offsets=AckedOffsets(56, 72)),
    )
    copy = Partition(lease, transactional=transactional)
    verdict, exact = TargetLoss(flow, part, part, part).judge(copy, end)
    return verdict.position, exact


def test_the_map_has_the_source_offset_of_the_new_end(monkeypatch: pytest.MonkeyPatch) -> None:
    ranges = [OffsetRange(0, 16, 7), OffsetRange(10, 30, 42)]

    assert judged(monkeypatch, ranges, 50, transactional=True) == (30, True)


def test_a_range_that_has_grown_since_it_was_written_is_known_from_its_beginning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ranges = [OffsetRange(0, 16, 7)]

    assert judged(monkeypatch, ranges, 52, transactional=False) == (36, True)


def test_no_range_grows_over_the_marker_of_a_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many source offsets without a record, and markers, lie between by chance."""
    ranges = [OffsetRange(0, 16, 7)]

    assert judged(monkeypatch, ranges, 52, transactional=True) == (7, False)


@pytest.mark.parametrize("transactional", [False, True])
def test_without_a_map_only_transactions_leave_doubt_about_later_records(
    monkeypatch: pytest.MonkeyPatch, transactional: bool
) -> None:
    """A marker that was under way may have committed records that had been aborted."""
    assert judged(monkeypatch, [], 50, transactional=transactional) == (56, not transactional)
