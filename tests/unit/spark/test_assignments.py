"""Leases and receipts on their way through Spark."""

from __future__ import annotations

from types import SimpleNamespace

from heliograph.model import (
    Gap,
    GapKind,
    LeaderEpochMark,
    Lease,
    Lineage,
    OffsetRange,
    PartitionState,
    ProducerIdentity,
    ProducerSnapshot,
    Receipt,
    TopicIdPair,
)
from heliograph.spark.assignments import (
    RECEIPTS,
    RECEIPTS_DDL,
    TaskAssignment,
    read_bundle,
    read_receipt,
    write_bundle,
    write_receipts,
)
from heliograph.spark.sealing import new_key

TRAIL = ProducerSnapshot(5, 17, 12, ProducerIdentity(4000, 0), (-1, 3))

RECEIPT = Receipt(
    flow="a->b",
    topic="orders",
    partition=3,
    position=5,
    records=2,
    bytes=100,
    source_end=9,
    stored=True,
    state=PartitionState.RETRYING,
    error="no leader",
    copied_ms=1_700_000_000_000,
    trail=TRAIL,
    mark=LeaderEpochMark(7, 2),
    turn=3,
    recheck=True,
    gaps=(Gap(GapKind.OVERTAKEN, 1, 5, 5, 1_700_000_000_000),),
    stretches=(OffsetRange(0, 7, 100), OffsetRange(101, -1, 5)),
)


def test_leases_are_the_same_behind_spark() -> None:
    lease = Lease(flow="a->b", topic="t", partition=0, target_topic="a.t", start=5, trail=TRAIL)
    other = Lease(
        flow="a->b",
        topic="t",
        partition=1,
        target_topic="a.t",
        start=0,
        end=9,
        lineage=Lineage(TopicIdPair("MQ", None), LeaderEpochMark(7, 2), 4),
    )
    bundle = TaskAssignment(epoch=3, task=1, leases=(lease, other), running=("a->b", "b->a"))

    key = new_key()

    assert read_bundle(write_bundle(bundle, key), key) == bundle


def test_a_receipt_is_the_same_behind_spark() -> None:
    (row,) = write_receipts([RECEIPT]).to_pylist()

    assert read_receipt(SimpleNamespace(**row, asDict=lambda: row)) == RECEIPT


def test_both_schemas_have_the_same_columns() -> None:
    assert [column.split()[0] for column in RECEIPTS_DDL.split(", ")] == RECEIPTS.names
