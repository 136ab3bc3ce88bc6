"""What a copy loop publishes of its partitions, and what the task's thread takes of it."""

from __future__ import annotations

from typing import Any

import pytest

from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.copy.bookkeeping.receipts import Receipts
from heliograph.copy.partition import Partition
from heliograph.copy.prepare_batches import Prepared
from heliograph.model import Gap, GapKind, Lease, OffsetRange, ProducerIdentity

GAP = Gap(GapKind.OVERTAKEN, 0, 5, 5)


class Landed:
    """Where records have landed since it was last asked."""

    def __init__(self) -> None:
        self.ranges: dict[Partition, tuple[OffsetRange, ...]] = {}

    def take_unreported(self) -> dict[Partition, tuple[OffsetRange, ...]]:
        taken, self.ranges = self.ranges, {}
        return taken


class Rig:
    def __init__(self) -> None:
        self.copies = [new_copy(number) for number in range(2)]
        self.landed: Any = Landed()
        self.receipts = Receipts(self.copies, self.landed)


def new_copy(partition: int) -> Partition:
    lease = Lease(
        flow="a->b", topic="orders", partition=partition, target_topic="a.orders", start=0
    )
    return Partition(lease)


@pytest.fixture
def rig() -> Rig:
    return Rig()


def test_nothing_is_made_before_it_is_asked_for(rig: Rig) -> None:
    rig.receipts.publish_if_asked()
    assert rig.receipts.take() == []

    rig.receipts.ask()
    rig.receipts.publish_if_asked()

    assert [receipt.partition for receipt in rig.receipts.take()] == [0, 1]


def test_a_partition_without_news_has_the_very_same_receipt(rig: Rig) -> None:
    """A driver that gets thousands of them every second need not look at what they say."""
    rig.receipts.publish()
    before = rig.receipts.take()
    quiet, busy = rig.copies
    busy.fetched(Prepared([batch := ProducerBatch(memoryview(b""), 10, 0, 10)], 10))
    batch.sequence, batch.size = 0, 100
    busy.acknowledged(batch, 0, 1.0)

    rig.receipts.publish()
    after = rig.receipts.take()

    assert after[0] is before[0]
    assert (after[1].position, after[1].records, after[1].bytes) == (10, 10, 100)
    quiet.retrying("no leader")
    quiet.store(None)
    rig.receipts.publish()
    assert (rig.receipts.take()[0].error, rig.receipts.take()[0].stored) == ("no leader", False)


def test_news_are_taken_once_and_those_that_were_not_taken_come_with_the_next(rig: Rig) -> None:
    copy = rig.copies[0]
    rig.landed.ranges = {copy: (OffsetRange(0, 100, 5),)}
    rig.receipts.publish()
    rig.landed.ranges = {copy: (OffsetRange(7, 105, 3),)}
    copy.report_gap(GAP)
    rig.receipts.publish()

    first = rig.receipts.take()[0]

    assert first.ranges == (OffsetRange(0, 100, 5), OffsetRange(7, 105, 3))
    assert first.gaps == (GAP,)
    again = rig.receipts.take()[0]
    assert (again.ranges, again.gaps) == ((), ())


def test_the_snapshot_is_told_when_the_epoch_has_ended(rig: Rig) -> None:
    copy = rig.copies[0]
    copy.introduce(ProducerIdentity(7, 0))
    copy.recovered()
    rig.receipts.publish()
    assert rig.receipts.take()[0].snapshot is None
    rig.receipts.ended = True
    rig.receipts.publish()

    told = rig.receipts.take()[0].snapshot
    assert told is not None
    assert told == copy.snapshot


def test_an_identity_that_the_state_topic_does_not_name_yet_is_not_handed_on(rig: Rig) -> None:
    """The next task would take it for noted and send records under it; after a crash its successor would
    copy them a second time, without a log line (simulation: epochs 16)."""
    rig.copies[0].introduce(ProducerIdentity(7, 0))
    rig.receipts.ended = True
    rig.receipts.publish()

    assert rig.receipts.take()[0].snapshot is None
