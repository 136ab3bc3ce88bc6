"""The model itself: a seed decides everything, and logs keep Kafka's rules."""

from __future__ import annotations

import time

from heliograph.copy import loop
from heliograph.records.decode import Record
from heliograph.records.encode import encode
from simulation import scenarios
from simulation.simulate import simulate
from simulation.source_log import SourceLog
from simulation.target_log import INVALID_PRODUCER_EPOCH, OUT_OF_ORDER_SEQUENCE_NUMBER, TargetLog


def batch(producer_id: int, epoch: int, sequence: int, count: int = 1) -> bytes:
    records = [Record(timestamp=5, key=None, value=b"1")] * count
    return bytes(encode(records, producer_id=producer_id, producer_epoch=epoch, sequence=sequence))


def test_a_seed_decides_everything_and_nothing_of_a_run_is_left_behind() -> None:
    first = simulate(3, scenarios.RESTARTS)
    assert first == simulate(3, scenarios.RESTARTS)
    assert first.history != simulate(4, scenarios.RESTARTS).history
    assert vars(loop)["time"] is time


def test_a_batch_that_comes_again_is_recognised_for_as_long_as_five_batches_are_remembered() -> (
    None
):
    log = TargetLog()
    for number in range(6):
        assert log.append(batch(7, 0, number), now=0) == (0, number)
    assert log.append(batch(7, 0, 1), now=0) == (0, 1)
    assert log.append(batch(7, 0, 0), now=0) == (OUT_OF_ORDER_SEQUENCE_NUMBER, -1)
    assert log.append(batch(7, 0, 7), now=0) == (OUT_OF_ORDER_SEQUENCE_NUMBER, -1)
    assert log.end == 6


def test_an_unknown_producer_begins_with_any_number_and_a_higher_epoch_with_0() -> None:
    log = TargetLog()
    assert log.append(batch(7, 0, 40), now=0) == (0, 0)
    assert log.append(batch(7, 1, 41), now=0) == (OUT_OF_ORDER_SEQUENCE_NUMBER, -1)
    assert log.append(batch(7, 1, 0), now=0) == (0, 1)
    assert log.append(batch(7, 0, 41), now=0) == (INVALID_PRODUCER_EPOCH, -1)


def test_a_log_that_has_lost_its_tail_knows_producers_by_what_is_left() -> None:
    log = TargetLog()
    for number in range(3):
        log.append(batch(7, 0, number), now=0)
    log.lose_last()
    assert log.append(batch(7, 0, 3), now=0) == (OUT_OF_ORDER_SEQUENCE_NUMBER, -1)
    assert log.append(batch(7, 0, 2), now=0) == (0, 2)


def test_an_idle_producer_expires() -> None:
    log = TargetLog()
    log.append(batch(7, 0, 0), now=1.0)
    log.append(batch(8, 0, 0), now=3.0)
    log.expire_producers(idle_since=2.0)
    assert log.append(batch(7, 0, 30), now=4.0) == (0, 2)
    assert log.append(batch(8, 0, 30), now=4.0) == (OUT_OF_ORDER_SEQUENCE_NUMBER, -1)


def test_epochs_end_where_the_next_one_begins() -> None:
    log = SourceLog()
    log.append([0] * 3)
    log.append([0] * 3)
    log.elect(lost_batches=1)
    log.append([0] * 5)
    assert (log.epoch_end(0), log.epoch_end(1)) == ((0, 3), (1, 8))
    log.delete_before(5)
    assert log.epoch_end(0) == (0, 5)


def test_an_open_transaction_holds_back_readers_of_committed_records_and_an_aborted_one_is_told() -> (
    None
):
    log = SourceLog()
    log.append([0])
    log.append([0, 0], producer_id=1)
    log.append([0])
    assert (log.last_stable, log.fetch(2, 1000, committed=True).records) == (1, b"")
    log.end_transaction(1, commit=False)
    found = log.fetch(0, 1000, committed=True)
    assert found.aborted == ((1, 1),)
    assert list(log.committed()) == [0, 3]
    assert log.fetch(0, 1000, committed=False).aborted is None
