"""A partition's copy without brokers: its lease, and the events that move it."""

from __future__ import annotations

from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.copy.partition import Partition
from heliograph.copy.prepare_batches import Prepared
from heliograph.model import (
    IsolationLevel,
    LeaderEpochMark,
    Lease,
    ProducerIdentity,
    ProducerSnapshot,
)
from heliograph.plan.resume import Landed

ME = ProducerIdentity(7, 0)
SNAPSHOT = ProducerSnapshot(
    100, 90, 90, ME, (80,), IsolationLevel.READ_UNCOMMITTED, LeaderEpochMark(120, 2)
)


def lease(snapshot: ProducerSnapshot | None = None, **others: object) -> Lease:
    return Lease(
        flow="a->b",
        topic="orders",
        partition=0,
        target_topic="a.orders",
        start=100,
        snapshot=snapshot,
        **others,  # type: ignore[arg-type]
    )


def resuming(records: int = 0) -> Partition:
    """Behind a snapshot, after which so many records are on the target already."""
    copy = Partition(lease(SNAPSHOT))
    copy.compare_target(90 + records, None, None)
    copy.resume_behind(Landed(records, 0), None)
    return copy


def copying() -> Partition:
    """A copy that was recovered without a predecessor."""
    copy = Partition(lease())
    copy.compare_target(0, None, None)
    copy.introduce(ME)
    copy.recovered()
    return copy


def batch(first: int, count: int = 5, sequence: int = 0) -> ProducerBatch:
    return ProducerBatch(memoryview(b""), count, first, first + count, sequence=sequence, size=50)


def fetch(copy: Partition, *batches: ProducerBatch) -> None:
    copy.fetched(Prepared(list(batches), batches[-1].next_offset))


def read(copy: Partition, first: int, count: int) -> None:
    """A fetch of records that are on the target already."""
    copy.fetched(Prepared([], first + count, there=[batch(first, count)]))
