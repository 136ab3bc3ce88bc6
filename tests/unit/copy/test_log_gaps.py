"""A link's partitions whose logs may not be what they were; brokers answer from a script."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from heliograph.client.fetch.fetcher import Fetcher
from heliograph.client.net.cluster import Metadata
from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.copy.bookkeeping.receipts import receipt_of
from heliograph.copy.log_gaps import GapWatch
from heliograph.copy.partition import Partition
from heliograph.copy.prepare_batches import Prepared
from heliograph.copy.subscription import SubscriptionState
from heliograph.model import (
    GapKind,
    IsolationLevel,
    LeaderEpochMark,
    Lease,
    Lineage,
    PartitionState,
    ProducerIdentity,
    ProducerSnapshot,
    TopicIdPair,
    TopicPartition,
)
from heliograph.plan.resume import Landed
from heliograph.wire.error_codes import ErrorCode
from heliograph.wire.fetch import FetchLimits
from support.brokers.scripted import ScriptedCluster, reply
from support.configurations.mm2_files import BASE, Reader

TP = TopicPartition("orders", 0)
ID, OTHER = UUID(int=1), UUID(int=2)
TEXT = Metadata(topic_ids={"orders": ID}).topic_id("orders")


class Watched:
    """One partition at offset 50, read up to there under leader epoch 3."""

    def __init__(self, folder: Path, policy: str = "continue", known: UUID = ID) -> None:
        self.start, self.end, self.epoch_end, self.error = 10, 90, 70, 0
        self.reasons: list[str] = []
        self.source: Any = ScriptedCluster(
            {
                "ListOffsetsRequest": self._offsets,
                "OffsetForLeaderEpochRequest": self._epochs,
            }
        )
        self.target: Any = ScriptedCluster({})
        self.lead(3, known)
        lineage = Lineage(TopicIdPair(TEXT, TEXT), LeaderEpochMark(50, 3))
        lease = Lease(
            flow="us->eu",
            topic="orders",
            partition=0,
            target_topic="us.orders",
            start=50,
            lineage=lineage,
        )
        self.copy = Partition(lease)
        self.fetcher = Fetcher(
            self.source,
            isolation_level=IsolationLevel.READ_COMMITTED,
            limits=FetchLimits(),
            on_records=lambda _: None,
            on_nothing=lambda _: None,
            on_leaders=lambda epochs: self.watch.on_leaders(epochs),
        )
        beside: Any = SimpleNamespace(moved=False)
        self.subscription = SubscriptionState(
            "us->eu",
            [self.copy],
            target=self.target,
            fetcher=self.fetcher,
            producer=beside,
            quarantine=beside,
            syncs=beside,
            snapshots=beside,
        )
        self.watch = GapWatch(
            Reader(folder)(f"{BASE}source.log.gap.policy = {policy}\n").flows[0],
            {TP: self.copy},
            self.subscription,
            source=self.source,
            target=self.target,
            fall_back=self._fall_back,
        )
        self.recover()

    def _fall_back(self, copy: Partition, reason: str, position: int) -> None:
        self.reasons.append(reason)
        copy.fall_back(position)

    def recover(self) -> None:
        self.subscription.recovered([self.copy])

    def skip(self, records: int) -> None:
        """So many records behind offset 50 are on the target already."""
        base = ProducerSnapshot(50, 40, 0, ProducerIdentity(7, 0), (), self.copy.isolation)
        self.copy.numbers.base = base
        self.copy.resume_behind(Landed(records, 0), None)

    def lead(self, epoch: int, topic_id: UUID = ID, *, missing: bool = False) -> None:
        self.source.metadata = Metadata(
            nodes={1: ("localhost", 1)},
            leaders={} if missing else {TP: 1},
            leader_epochs={} if missing else {TP: epoch},
            partitions={} if missing else {"orders": 1},
            topic_ids={} if missing else {"orders": topic_id},
            missing=frozenset({"orders"} if missing else ()),
        )

    def judge(self) -> None:
        """And look at the target, if the copy goes on elsewhere."""
        if self.watch.due:
            self.watch.judge()
        if self.subscription.awaiting_recovery:
            self.recover()

    @property
    def fetched_from(self) -> int | None:
        return self.fetcher.positions.get(TP)

    def _offsets(self, request: Any) -> Any:
        offset = self.start if request.topics[0].partitions[0].timestamp == -2 else self.end
        answer = reply(partition_index=0, error_code=self.error, offset=offset)
        return reply(topics=[reply(name="orders", partitions=[answer])])

    def _epochs(self, request: Any) -> Any:
        assert request.topics[0].partitions[0].leader_epoch == 3
        answer = reply(
            partition=0, error_code=self.error, leader_epoch=3, end_offset=self.epoch_end
        )
        return reply(topics=[reply(topic="orders", partitions=[answer])])


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def test_the_leader_whose_records_were_read_is_not_suspected(watched: Watched) -> None:
    watched.watch.on_leaders({TP: 3})

    assert watched.fetched_from == 50
    assert not watched.watch.due


def test_nothing_is_fetched_from_a_new_leader_before_its_log_is_known(watched: Watched) -> None:
    watched.watch.on_leaders({TP: 4})
    assert watched.fetched_from is None

    watched.judge()

    assert watched.fetched_from == 50
    assert watched.copy.take_gaps() == ()
    assert watched.copy.state is PartitionState.RUNNING


def test_a_log_of_another_course_is_followed_and_told(watched: Watched) -> None:
    watched.epoch_end = 45
    watched.watch.on_leaders({TP: 4})
    watched.judge()

    receipt = receipt_of(watched.copy)
    assert watched.fetched_from == receipt.position == 45
    assert [gap[:4] for gap in watched.copy.take_gaps()] == [(GapKind.TRUNCATED, 45, 50, 45)]
    assert watched.copy.take_gaps() == (), "told twice"
    assert receipt.mark == LeaderEpochMark(45, 3)


@pytest.mark.parametrize("end_of_epoch", [70, 60])
def test_records_to_be_skipped_are_counted_up_to_where_the_log_took_another_course(
    watched: Watched, end_of_epoch: int
) -> None:
    """The target has twenty records more than is known of. Those that follow in another course of the log may
    be others, or the same, if a predecessor had noticed it and gone on: none of them is skipped, nor gets the
    numbers of then, and the log says that they may be doubled (simulation: everything 1595)."""
    watched.epoch_end = end_of_epoch
    watched.copy.set_mark(LeaderEpochMark(70, 3))
    watched.skip(20)
    watched.watch.suspect(watched.copy)
    watched.judge()

    gaps = [gap[:4] for gap in watched.copy.take_gaps()]
    departed = end_of_epoch < 70
    assert watched.fetched_from == (end_of_epoch if departed else 50)
    assert watched.copy.numbers.skip == (0 if departed else 20)
    assert watched.copy.fallbacks == departed
    assert all("truncated" in reason for reason in watched.reasons)
    assert watched.copy.source_mark == LeaderEpochMark(end_of_epoch, 3)
    told = (GapKind.TRUNCATED, end_of_epoch, 70, end_of_epoch)
    assert gaps == ([told] if departed else [])


def test_a_log_that_took_another_course_right_there_is_read_under_new_numbers(
    watched: Watched,
) -> None:
    watched.epoch_end = 50
    watched.copy.set_mark(LeaderEpochMark(70, 3))
    watched.skip(20)
    watched.watch.suspect(watched.copy)
    watched.watch.judge()

    assert watched.copy.numbers.skip == 0
    assert watched.copy.numbers.retired == ProducerIdentity(7, 0)
    assert watched.copy.needs_recovery
    assert [gap[:4] for gap in watched.copy.take_gaps()] == [(GapKind.TRUNCATED, 50, 70, 50)]


@pytest.mark.parametrize(("start", "left"), [(55, 15), (69, 1)])
def test_records_to_be_skipped_that_the_source_deleted_need_not_be_read(
    watched: Watched, start: int, left: int
) -> None:
    """Or the partition would ask for deleted offsets for ever."""
    watched.start = start
    watched.copy.set_mark(LeaderEpochMark(70, 3))
    watched.skip(20)
    watched.watch.suspect(watched.copy, "out of range")
    watched.judge()

    assert watched.fetched_from == start
    assert (watched.copy.numbers.skip, watched.copy.numbers.holes) == (left, True)
    assert watched.copy.take_gaps() == ()


def test_a_start_behind_all_that_is_to_be_skipped_is_a_gap(watched: Watched) -> None:
    watched.start = 75
    watched.copy.set_mark(LeaderEpochMark(70, 3))
    watched.skip(20)
    watched.watch.suspect(watched.copy, "out of range")
    watched.judge()

    assert watched.fetched_from == 75
    assert [gap[:4] for gap in watched.copy.take_gaps()] == [(GapKind.OVERTAKEN, 70, 75, 75)]


@pytest.mark.parametrize(
    ("mark", "leader_epoch", "first"),
    [
        (None, 3, 50),
        (LeaderEpochMark(62, 3), 4, 62),  # another leader since
        (LeaderEpochMark(62, 3), 3, 70),  # the same leader, which never truncates its own log
    ],
)
def test_what_no_mark_covers_of_records_that_the_source_deleted_is_part_of_the_gap(
    watched: Watched, mark: LeaderEpochMark | None, leader_epoch: int, first: int
) -> None:
    """The source may have had other records there since (simulation: everything 162 and 739)."""
    watched.start = 75
    watched.lead(leader_epoch)
    watched.copy.set_mark(mark)
    watched.skip(20)
    watched.watch.suspect(watched.copy, "out of range")
    watched.judge()

    assert [gap[:4] for gap in watched.copy.take_gaps()] == [(GapKind.OVERTAKEN, first, 75, 75)]


@pytest.mark.parametrize(("read_to", "first"), [(65, 70), (80, 70)])
def test_records_counted_in_the_place_of_compacted_ones_are_part_of_the_gap(
    watched: Watched, read_to: int, first: int
) -> None:
    """20 records from offset 50 on have landed, so those before 70 have. Compaction has removed some of them,
    and newer ones were counted, but never compared (simulation: everything 7615)."""
    watched.start = 90
    watched.copy.set_mark(LeaderEpochMark(85, 3))
    watched.skip(20)
    counted = ProducerBatch(memoryview(b""), 10, 52, read_to)
    watched.copy.fetched(Prepared([], read_to, there=(counted,), holes=True))
    watched.copy.read(Prepared([], read_to, there=(counted,), holes=True))
    watched.watch.suspect(watched.copy, "out of range")
    watched.judge()

    assert [gap[:4] for gap in watched.copy.take_gaps()] == [(GapKind.OVERTAKEN, first, 90, 90)]


def test_nothing_is_judged_before_it_is_known_what_is_on_the_target(watched: Watched) -> None:
    watched.start = 55
    watched.copy.refused()
    watched.watch.suspect(watched.copy, "out of range")

    assert not watched.watch.due


def test_what_is_under_way_is_waited_for(watched: Watched) -> None:
    watched.start = 55
    batch = ProducerBatch(memoryview(b""), 1, 50, 51, sequence=0)
    watched.copy.fetched(Prepared([batch], 51))
    watched.watch.suspect(watched.copy, "out of range")
    assert not watched.watch.due

    watched.copy.acknowledged(batch, 40, 1.0)
    watched.judge()

    assert watched.fetched_from == watched.copy.acked == 55


def test_a_broker_that_cannot_tell_is_asked_again(watched: Watched) -> None:
    watched.error = ErrorCode.NOT_LEADER_OR_FOLLOWER
    watched.watch.suspect(watched.copy)
    watched.judge()
    assert watched.fetched_from is None
    assert watched.copy.state is PartitionState.RETRYING

    watched.error = 0
    watched.watch.judge()

    assert watched.fetched_from == 50


def test_with_the_policy_fail_it_stops_there_with_the_cause(tmp_path: Path) -> None:
    watched = Watched(tmp_path, "fail")
    watched.start = 55
    watched.watch.suspect(watched.copy, "out of range")
    watched.judge()

    receipt = receipt_of(watched.copy)
    assert watched.fetched_from is None
    assert (receipt.position, receipt.state) == (50, PartitionState.FAILED)
    assert "source offsets 50 to 54" in (receipt.error or "")
    assert [gap.resumed for gap in watched.copy.take_gaps()] == [-1]
    assert not watched.watch.due


def test_what_a_client_knew_before_the_lease_says_nothing(tmp_path: Path) -> None:
    watched = Watched(tmp_path, known=OTHER)
    watched.watch.compare_topics()
    assert not watched.copy.recheck

    watched.lead(0, OTHER)
    watched.watch.compare_topics()

    assert watched.copy.recheck


def test_a_topic_of_another_id_is_left_to_the_driver(watched: Watched) -> None:
    watched.lead(0, OTHER)
    watched.watch.suspect(watched.copy, "out of range")
    watched.judge()

    receipt = receipt_of(watched.copy)
    assert receipt.recheck
    assert receipt.state is PartitionState.FAILED
    assert watched.copy.take_gaps() == ()
    assert watched.fetched_from is None


def test_a_topic_that_is_not_known_just_now_is_asked_after(watched: Watched) -> None:
    watched.lead(3, missing=True)
    watched.watch.compare_topics()
    assert watched.copy.recheck

    watched.lead(3)
    watched.watch.compare_topics()

    assert not watched.copy.recheck
    assert watched.fetched_from == 50
