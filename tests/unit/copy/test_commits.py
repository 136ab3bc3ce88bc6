"""The order of a copy loop's transactions, with stand-ins for what talks to brokers."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.config.mirror_config import ExactlyOnce
from heliograph.copy.bookkeeping.written import RecordsWritten
from heliograph.copy.commits import Commits
from heliograph.copy.partition import Partition
from heliograph.copy.prepare_batches import Prepared
from heliograph.errors import BrokerError, ClientError
from heliograph.measured import Stopwatch
from heliograph.mm2.connect.offset_records import Logs
from heliograph.model import LeaderEpochMark, Lease, TopicPartition

QUARANTINE = TopicPartition("mm2-quarantine.a.internal", 0)
ORDERS, REFUNDS = TopicPartition("a.orders", 0), TopicPartition("a.refunds", 0)


class Line:
    """Producer, transaction and offset store in one; `events` says what was asked of them."""

    timeout_seconds = 60.0
    buffered_bytes = 0

    def __init__(self) -> None:
        self.events: list[str] = []
        self.times = Stopwatch()
        self.partitions: set[TopicPartition] = set()
        self.opened: float | None = None
        self.on_its_way: set[TopicPartition] = set()
        self.offsets_queued = False
        self.stored: dict[Partition, int] = {}

    def send(self, partition: TopicPartition) -> None:
        self.partitions.add(partition)
        self.opened = self.opened or time.monotonic()
        self.on_its_way.add(partition)

    # the producer's
    @property
    def in_flight(self) -> bool:
        return bool(self.on_its_way)

    def hold(self, partitions: Container[TopicPartition]) -> None:
        self.events.append("hold")

    def unsettled(self, partitions: Container[TopicPartition]) -> bool:
        return bool(self.on_its_way)

    def idle_but_for(self, partitions: Container[TopicPartition]) -> bool:
        return not self.offsets_queued

    def drop_all(self) -> None:
        self.events.append("drop")

    def go_on(self) -> None:
        self.events.append("go on")

    def troubles(self) -> dict[TopicPartition, ClientError]:
        return {}

    # the transaction's
    def commit(self) -> None:
        self.events.append("commit")
        self.partitions, self.opened = set(), None

    def abort(self) -> None:
        self.events.append("abort")
        self.partitions, self.opened = set(), None

    # the offset store's
    def append(self, positions: Mapping[Partition, int], logs: Mapping[Partition, Logs]) -> None:
        self.events.append("store")
        self.stored = dict(positions)
        self.logs = dict(logs)
        self.offsets_queued = True


class Rig:
    def __init__(self, **changes: Any) -> None:
        self.line = Line()
        self.copies = {p: copy_of(p) for p in (ORDERS, REFUNDS)}
        self.told: list[tuple[TopicPartition, int]] = []
        self.voided: list[Mapping[Partition, ClientError]] = []
        self.firsts: list[Mapping[Partition, int]] = []
        self.doubt: str | None = None
        flow: Any = SimpleNamespace(
            name="a->b",
            exactly_once=ExactlyOnce(interval_ms=None, timeout_ms=60_000),
            offset_flush_interval_ms=changes.get("flush_ms", 60_000),
        )
        line: Any = self.line
        self.quarantine: Any = SimpleNamespace(topics={QUARANTINE.topic}, waiting=list)
        self.written = RecordsWritten(self.copies, line, self.quarantine, self._vouch)
        self.commits = Commits(
            flow,
            self.written,
            producer=line,
            transaction=line,
            offsets=line,
            flush_delay=changes.get("flush_ms", 60_000) / 1000,
            committed=self._tell,
            voided=lambda cause, failures: self.voided.append(failures),
        )

    def _vouch(self, firsts: Mapping[Partition, int]) -> str | None:
        self.firsts.append(firsts)
        return self.doubt

    def _tell(self, partition: TopicPartition, batch: ProducerBatch, base_offset: int) -> None:
        if partition in self.copies:
            copy = self.copies[partition]
            copy.acknowledged(batch, base_offset, 1.0)
        self.told.append((partition, batch.next_offset))

    def write(self, partition: TopicPartition, first: int, count: int) -> ProducerBatch:
        batch = ProducerBatch(memoryview(b"batch"), count, first, first + count, sequence=0, size=5)
        self.copies[partition].fetched(Prepared([batch], first + count))
        self.line.send(partition)
        return batch

    def acknowledge(
        self, partition: TopicPartition, batch: ProducerBatch, at: int | None = None
    ) -> None:
        self.line.on_its_way.discard(partition)
        found = self.written.landed(partition, batch, batch.first_offset if at is None else at)
        if found is not None:
            self.commits.void(found)

    def step(self) -> list[str]:
        reach: Callable[[Callable[[], object]], object] = lambda action: action()  # noqa: E731
        self.commits.step(reach)  # type: ignore[arg-type]
        events, self.line.events = self.line.events, []
        return events


def copy_of(target: TopicPartition) -> Partition:
    topic = target.topic.removeprefix("a.")
    lease = Lease(flow="a->b", topic=topic, partition=0, target_topic=target.topic, start=0)
    copy = Partition(lease, transactional=True)
    copy.recovered()
    return copy


def test_records_and_offsets_are_acknowledged_before_the_transaction_is_committed() -> None:
    rig = Rig()
    batch = rig.write(ORDERS, 0, 10)

    assert rig.step() == ["hold"]
    assert rig.step() == []  # waits for the batch
    rig.acknowledge(ORDERS, batch)
    assert rig.step() == ["store"]
    assert rig.step() == []  # waits for the offsets
    rig.line.offsets_queued = False
    assert rig.told == []
    assert rig.step() == ["commit", "go on"]

    assert rig.told == [(ORDERS, 10)]
    assert rig.copies[ORDERS].offset.position == rig.copies[ORDERS].acked == 10
    assert rig.commits.done


def test_the_offset_is_behind_what_was_sent_and_not_behind_what_waits() -> None:
    rig = Rig()
    batch = rig.write(ORDERS, 0, 10)
    rig.acknowledge(ORDERS, batch)
    rig.write(ORDERS, 10, 20)  # held back
    rig.line.on_its_way.clear()

    rig.step()

    assert rig.line.stored == {rig.copies[ORDERS]: 10}


def test_the_offset_passes_what_was_dropped_behind_the_last_record() -> None:
    rig = Rig()
    batch = rig.write(ORDERS, 0, 10)
    rig.acknowledge(ORDERS, batch)
    rig.copies[ORDERS].read_to(12)  # a marker of the source's

    rig.step()

    assert rig.line.stored == {rig.copies[ORDERS]: 12}


def test_a_refused_batch_voids_what_was_acknowledged_and_nothing_of_it_is_told() -> None:
    rig = Rig()
    good, _bad = rig.write(ORDERS, 0, 10), rig.write(REFUNDS, 0, 10)
    rig.acknowledge(ORDERS, good)
    error = BrokerError("a.refunds-0", 32, "INVALID_TIMESTAMP", "", retriable=False)
    rig.commits.refused(REFUNDS, error)

    assert rig.step() == []  # something is on its way
    rig.line.on_its_way.clear()
    assert rig.step() == ["abort", "drop", "go on"]

    assert rig.told == []
    assert rig.voided == [{rig.copies[REFUNDS]: error}]
    assert rig.copies[ORDERS].acked == 0


def test_offsets_are_stored_with_what_both_logs_are_like_then() -> None:
    rig = Rig()
    rig.copies[ORDERS].set_mark(LeaderEpochMark(10, 3))
    rig.copies[ORDERS].remote.downstream = 40
    batch = rig.write(ORDERS, 0, 10)
    rig.acknowledge(ORDERS, batch, at=41)

    rig.step()

    assert rig.line.logs == {rig.copies[ORDERS]: Logs(51, LeaderEpochMark(10, 3), 50, -1)}


def test_a_batch_that_lands_before_what_was_committed_shows_a_loss_and_voids_its_transaction() -> (
    None
):
    """An unclean election: if they were committed, later records would stand before those copied again."""
    rig = Rig()
    orders = rig.copies[ORDERS]
    orders.remote.downstream = 40
    batch = rig.write(ORDERS, 40, 10)
    rig.acknowledge(ORDERS, batch, at=25)

    assert rig.step() == ["abort", "drop", "go on"]

    assert rig.told == []
    assert (orders.remote.lost_from, orders.remote.copied_since) == (25, False)


def test_a_transaction_behind_records_that_the_target_may_have_lost_is_aborted() -> None:
    rig = Rig()
    rig.doubt = "a.orders-0: the target may have lost records"
    for first in (0, 10):
        rig.acknowledge(ORDERS, rig.write(ORDERS, first, 10), at=40 + first)

    assert rig.step() == ["hold", "abort", "drop", "go on"]

    assert rig.firsts == [{rig.copies[ORDERS]: 40}]
    assert rig.told == []


def test_records_that_are_copied_again_are_stored_under_the_offset_that_is_stored_already() -> None:
    """A successor finds them by the header: it has the target offset of the last one."""
    rig = Rig()
    rig.copies[ORDERS].store(10)
    rig.acknowledge(ORDERS, rig.write(ORDERS, 0, 10), at=41)

    rig.step()

    assert rig.line.stored == {rig.copies[ORDERS]: 10}
    assert rig.line.logs[rig.copies[ORDERS]].last == 50


def test_offsets_that_moved_without_a_record_are_stored_now_and_then() -> None:
    rig = Rig(flush_ms=0)
    rig.copies[ORDERS].read_to(7)

    assert rig.step() == ["hold", "store"]
    assert rig.line.stored == {rig.copies[ORDERS]: 7}


def test_a_transaction_that_is_not_settled_in_time_is_given_up() -> None:
    rig = Rig()
    rig.write(ORDERS, 0, 10)
    rig.step()
    rig.line.opened = time.monotonic() - 41

    rig.step()
    rig.line.on_its_way.clear()

    assert rig.step() == ["abort", "drop", "go on"]


def test_offsets_that_could_not_be_sent_are_given_up_in_time_and_leave_nothing_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The leader of the offsets topic cannot be reached: no request of the transaction was sent."""
    rig = Rig(flush_ms=0)
    rig.copies[ORDERS].read_to(7)
    assert rig.step() == ["hold", "store"]
    assert rig.step() == []
    assert rig.commits.ended
    later = time.monotonic() + 41
    monkeypatch.setattr(time, "monotonic", lambda: later)

    assert rig.step() == []  # gives up
    assert rig.step() == ["abort", "drop", "go on"]

    assert rig.voided == [{}]
    assert not rig.commits.done


def test_what_is_in_quarantine_is_told_once_it_is_committed() -> None:
    rig = Rig()
    rig.line.send(QUARANTINE)
    rig.acknowledge(QUARANTINE, ProducerBatch(memoryview(b"batch"), 1, -1, -1, size=5))

    rig.step()
    rig.line.offsets_queued = False
    assert rig.told == []
    rig.step()

    assert rig.told == [(QUARANTINE, -1)]
    assert rig.line.stored == {}


def test_a_refused_quarantine_is_the_trouble_of_those_that_wait_for_it() -> None:
    rig = Rig()
    rig.quarantine.waiting = lambda: [rig.copies[ORDERS]]
    rig.write(REFUNDS, 0, 10)
    rig.line.on_its_way.clear()
    error = BrokerError("q", 29, "TOPIC_AUTHORIZATION_FAILED", "", retriable=False)
    rig.commits.refused(QUARANTINE, error)

    rig.step()

    assert rig.voided == [{rig.copies[ORDERS]: error}]
