"""What a copy loop publishes of its partitions, and what the task's thread takes of it."""

from __future__ import annotations

from typing import Any

import pytest

from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.copy.bookkeeping.receipts import Receipts
from heliograph.copy.partition import Partition
from heliograph.copy.prepare_batches import Prepared
from heliograph.measured import BatchCounts
from heliograph.model import Gap, GapKind, Lease, OffsetRange, ProducerIdentity
from support.snapshots import REPORT

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


def test_an_identity_that_the_state_topic_does_not_name_yet_is_handed_on_as_retired(
    rig: Rig,
) -> None:
    """The next task would take it for noted and send records under it; after a crash its successor would
    copy them a second time, without a log line (simulation: epochs 16). It continues under the next epoch,
    so that late batches are refused, and knows which offsets may be stored (everything 1315 and 1655)."""
    copy = rig.copies[0]
    copy.introduce(ProducerIdentity(7, 0))
    rig.receipts.ended = True
    rig.receipts.publish()

    snapshot = rig.receipts.take()[0].snapshot
    assert snapshot is not None
    assert (snapshot.identity, snapshot.retired) == (ProducerIdentity(7, 0), True)
    assert (snapshot.upstream, snapshot.stored) == (copy.acked, copy.offset.possible)


def test_times_are_those_of_each_batch_weighted_with_its_records(rig: Rig) -> None:
    copy = rig.copies[0]
    sent = [ProducerBatch(memoryview(b""), 10, n * 10, n * 10 + 10) for n in range(2)]
    for batch, newest_ms in zip(sent, (1000, 4000), strict=True):
        batch.newest_ms, batch.sequence = newest_ms, 0
    copy.fetched(Prepared(sent, 20, counts=BatchCounts(passed=2)))
    copy.measure_age(sent, 5.0)
    for batch in sent:
        copy.acknowledged(batch, batch.first_offset, 6.0)
    rig.receipts.publish()

    told = rig.receipts.take()[0]

    assert told.batches == BatchCounts(passed=2)
    assert told.newest_ms == 4000
    assert (told.ages.count, told.ages.total, told.ages.last) == (20, 50.0, 1.0)
    assert (told.latencies.least, told.latencies.most) == (2.0, 5.0)


def test_extremes_are_told_once_and_those_that_were_not_taken_come_with_the_next(rig: Rig) -> None:
    copy = rig.copies[0]
    for number, wall in enumerate((3.0, 2.0)):
        batch = ProducerBatch(memoryview(b""), 1, number, number + 1, newest_ms=1000)
        batch.sequence = number
        copy.fetched(Prepared([batch], number + 1))
        copy.acknowledged(batch, number, wall)
        rig.receipts.publish()

    first = rig.receipts.take()[0]
    assert (first.latencies.least, first.latencies.most, first.latencies.count) == (1.0, 2.0, 2)
    rig.receipts.publish()
    again = rig.receipts.take()[0]
    assert not again.latencies.is_news
    assert again.latencies.count == 2


def test_a_batch_without_a_timestamp_is_copied_and_not_timed(rig: Rig) -> None:
    copy = rig.copies[0]
    batch = ProducerBatch(memoryview(b""), 1, 0, 1)
    batch.sequence = 0
    copy.fetched(Prepared([batch], 1))
    copy.acknowledged(batch, 0, 6.0)
    rig.receipts.publish()

    told = rig.receipts.take()[0]
    assert (told.records, told.latencies.count, told.newest_ms) == (1, 0, -1)


def test_the_report_of_the_loop_is_of_the_same_moment(rig: Rig) -> None:
    receipts = Receipts(rig.copies, rig.landed, lambda: REPORT)
    assert receipts.report is None
    receipts.publish()

    assert receipts.report is REPORT
