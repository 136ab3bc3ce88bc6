"""The model of a partition: its main rules, and those that one real broker does not show."""

from __future__ import annotations

import pytest

from heliograph.records.batch import split
from heliograph.records.decode import Record, decode
from heliograph.records.encode import encode
from simulation.model.compaction import compact
from simulation.model.errors import Error
from simulation.model.offsets import EARLIEST, LATEST, MAX_TIMESTAMP, find_offset
from simulation.model.partition_log import Appended, PartitionLog
from simulation.model.producer_entry import UNKNOWN

DAY_MS = 86_400_000


def batch(
    producer_id: int = -1,
    epoch: int = 0,
    sequence: int = 0,
    count: int = 1,
    *,
    transactional: bool = False,
    timestamp: int = 0,
    key: bytes | None = None,
) -> bytes:
    records = [Record(timestamp=timestamp, key=key, value=b"v")] * count
    if producer_id < 0:
        return bytes(encode(records))
    return bytes(
        encode(
            records,
            producer_id=producer_id,
            producer_epoch=epoch,
            sequence=sequence,
            transactional=transactional,
        )
    )


def in_transaction(log: PartitionLog, producer_id: int, epoch: int = 0, sequence: int = 0) -> int:
    data = batch(producer_id, epoch, sequence, transactional=True)
    error, base = log.append(data, verified=True)
    assert error is Error.NONE
    return base


@pytest.fixture
def log() -> PartitionLog:
    return PartitionLog(lambda: 0)


@pytest.fixture
def replicated() -> PartitionLog:
    return PartitionLog(lambda: 0, replicas=3)


def test_five_batches_are_recognised_when_they_come_again_the_sixth_is_not(
    log: PartitionLog,
) -> None:
    for number in range(6):
        assert log.append(batch(7, 0, number)) == Appended(Error.NONE, number)
    assert log.append(batch(7, 0, 1)) == Appended(Error.NONE, 1)
    assert log.append(batch(7, 0, 0)) == Appended(Error.OUT_OF_ORDER_SEQUENCE_NUMBER)
    assert log.end == 6


def test_sequences_wrap_around(log: PartitionLog) -> None:
    last = (1 << 31) - 1
    assert log.append(batch(7, 0, last - 1, count=3)) == Appended(Error.NONE, 0)
    assert log.append(batch(7, 0, 1)) == Appended(Error.NONE, 3)
    assert log.append(batch(7, 0, last - 1, count=3)) == Appended(Error.NONE, 0)


def test_an_unknown_producer_begins_anywhere_but_not_in_a_transaction_of_version_2(
    log: PartitionLog,
) -> None:
    assert log.append(batch(7, 0, 40)) == Appended(Error.NONE, 0)
    log.producers.verify(8, 40, 0, epoch_bumps=True)
    refused = log.append(batch(8, 0, 40, transactional=True), verified=True)
    assert refused.error is Error.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_new_epoch_begins_with_0_and_an_old_one_is_refused(log: PartitionLog) -> None:
    log.append(batch(7, 3, 0))
    assert log.append(batch(7, 4, 1)).error is Error.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert log.append(batch(7, 4, 0)).error is Error.NONE
    assert log.append(batch(7, 3, 1)).error is Error.INVALID_PRODUCER_EPOCH


def test_readers_get_nothing_behind_the_high_watermark(replicated: PartitionLog) -> None:
    replicated.append(batch(count=2))
    replicated.append(batch(count=3))
    replicated.replicate(2)
    found = replicated.read(0, 1 << 20, committed=False)
    assert [len(decode(each)) for each in split(memoryview(found.records))] == [2]
    assert replicated.read(4, 1, committed=False).records == b""
    assert replicated.read(6, 1, committed=False).error is Error.OFFSET_OUT_OF_RANGE
    assert find_offset(replicated, LATEST, committed=False).offset == 2
    assert replicated.delete_records(3) is Error.OFFSET_OUT_OF_RANGE


def test_a_transaction_is_stable_when_its_marker_is_replicated(replicated: PartitionLog) -> None:
    replicated.append(batch())
    in_transaction(replicated, 7)
    replicated.replicate(2)
    assert replicated.last_stable == 1
    assert replicated.end_transaction((7, 1), commit=True) is Error.NONE
    assert replicated.last_stable == 1
    replicated.replicate(3)
    assert replicated.last_stable == 3


def test_an_aborted_transaction_is_named_to_readers_of_committed_records(log: PartitionLog) -> None:
    log.append(batch())
    in_transaction(log, 7)
    log.end_transaction((7, 1), commit=False)
    assert log.read(0, 1 << 20, committed=True).aborted == ((7, 1),)
    assert log.read(0, 1 << 20, committed=False).aborted is None
    assert log.read(3, 1 << 20, committed=True).aborted == ()


def test_a_marker_of_version_2_needs_a_higher_epoch_while_the_transaction_is_open(
    log: PartitionLog,
) -> None:
    in_transaction(log, 7)
    assert log.end_transaction((7, 0), commit=True) is Error.INVALID_PRODUCER_EPOCH
    assert log.end_transaction((7, 1), commit=True) is Error.NONE
    assert log.end_transaction((7, 1), commit=True) is Error.NONE
    assert log.end_transaction((7, 0), commit=True, transaction_version=1) is (
        Error.INVALID_PRODUCER_EPOCH
    )


def test_a_marker_of_an_older_coordinator_is_refused(log: PartitionLog) -> None:
    in_transaction(log, 7)
    log.end_transaction((7, 1), commit=True, coordinator_epoch=5)
    error = log.end_transaction((7, 2), commit=True, coordinator_epoch=4)
    assert error is Error.NOT_COORDINATOR


def test_an_unclean_election_leaves_producers_as_the_remaining_log_has_them(
    replicated: PartitionLog,
) -> None:
    for number in range(3):
        replicated.append(batch(7, 0, number))
    in_transaction(replicated, 8)
    replicated.replicate(3)
    lost = replicated.elect_unclean(1, lost_from=2)
    assert [each.base for each in lost] == [2, 3]
    assert (replicated.end, replicated.high_watermark, replicated.last_stable) == (2, 2, 2)
    assert replicated.producers.entry(8) == UNKNOWN
    assert replicated.append(batch(7, 0, 3)).error is Error.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert replicated.append(batch(7, 0, 0)) == Appended(Error.NONE, 0)
    assert replicated.append(batch(7, 0, 2)) == Appended(Error.NONE, 2)


def test_epochs_end_where_the_next_one_begins(log: PartitionLog) -> None:
    log.append(batch(count=6))
    log.elect(1)
    log.elect(2)  # epoch 1 has written nothing
    log.append(batch(count=2))
    ends = {epoch: log.epochs.end_offset(epoch, log.end) for epoch in (-1, 0, 1, 2, 3)}
    assert ends == {-1: (-1, -1), 0: (0, 6), 1: (0, 6), 2: (2, 8), 3: (-1, -1)}
    assert log.check_leader_epoch(1) is Error.FENCED_LEADER_EPOCH
    assert log.check_leader_epoch(3) is Error.UNKNOWN_LEADER_EPOCH
    log.delete_records(7)
    assert list(log.epochs) == [(2, 7)]


def test_producers_expire_by_the_time_of_their_records() -> None:
    now = 10 * DAY_MS
    log = PartitionLog(lambda: now)
    log.append(batch(7, 0, 0, timestamp=now - DAY_MS))
    log.append(batch(8, 0, 0, timestamp=now - DAY_MS + 1))
    log.producers.expire(now)
    assert list(log.producers.entries) == [8]


def test_a_restarted_broker_remembers_one_batch_of_each_producer(log: PartitionLog) -> None:
    for number in range(3):
        log.append(batch(7, 0, number))
    log.restart(1, clean=True)
    assert log.append(batch(7, 0, 2)) == Appended(Error.NONE, 2)
    assert log.append(batch(7, 0, 1)).error is Error.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_restarted_broker_knows_no_producers_of_an_empty_log(log: PartitionLog) -> None:
    log.append(batch(7, 0, 0))
    log.delete_records(-1)
    assert log.append(batch(7, 0, 5)).error is Error.OUT_OF_ORDER_SEQUENCE_NUMBER
    log.restart(1, clean=False)
    assert log.append(batch(7, 0, 5)).error is Error.NONE


def test_retention_removes_batches_and_keeps_producers(log: PartitionLog) -> None:
    log.append(batch(7, 0, 0, count=2))
    log.append(batch(7, 0, 2))
    log.delete_segments_before(2)
    assert (log.start, [each.base for each in log.batches]) == (2, [2])
    assert log.append(batch(7, 0, 0, count=2)) == Appended(Error.NONE, 0)


def test_compaction_keeps_the_newest_of_a_key_offsets_and_the_last_batch_of_a_producer(
    log: PartitionLog,
) -> None:
    log.append(batch(7, 0, 0, count=2, key=b"a"))
    log.append(batch(7, 0, 2, count=2, key=b"a"))
    log.append(batch(8, 0, 0, key=b"b"))
    log.append(batch(key=b"b"))
    compact(log, dirty_end=5)
    kept = [(each.base, each.last, [r.offset for r in each.records]) for each in log.batches]
    assert kept == [(2, 3, [3]), (4, 4, [4]), (5, 5, [5])]
    log.append(batch(key=b"b"))
    compact(log, dirty_end=7)
    kept = [(each.base, each.last, [r.offset for r in each.records]) for each in log.batches]
    assert kept == [(2, 3, [3]), (4, 4, []), (6, 6, [6])]


def test_offsets_are_found_by_time(log: PartitionLog) -> None:
    log.append(batch(timestamp=10))
    log.append(batch(timestamp=30))
    log.append(batch(timestamp=20))
    assert find_offset(log, 15, committed=False).offset == 1
    assert find_offset(log, 31, committed=False).offset == -1
    assert find_offset(log, MAX_TIMESTAMP, committed=False).offset == 1
    log.delete_records(2)
    assert find_offset(log, EARLIEST, committed=False).offset == 2
    assert find_offset(log, 0, committed=False).offset == 2
