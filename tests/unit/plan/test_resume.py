"""Where a copy resumes after a stop or a crash, and when that cannot be determined."""

from __future__ import annotations

import pytest

from heliograph.mm2.state_records import ProducerSnapshotRecord
from heliograph.model import (
    IsolationLevel,
    LastBatch,
    LeaderEpochMark,
    ProducerIdentity,
    ProducerSnapshot,
    TopicPartition,
)
from heliograph.plan.resume import (
    Landed,
    Resumption,
    TargetLost,
    Undetermined,
    landed_since,
    resumption,
)

OURS = ProducerIdentity(4000, 0)
COMMITTED, UNCOMMITTED = IsolationLevel.READ_COMMITTED, IsolationLevel.READ_UNCOMMITTED
SNAPSHOT = ProducerSnapshot(100, 40, 30, OURS, (80, 100), COMMITTED, LeaderEpochMark(120, 3))
RECORD = ProducerSnapshotRecord(
    topic_partition=TopicPartition("orders", 0), remote_topic="us.orders", snapshot=SNAPSHOT
)


@pytest.mark.parametrize("stored", [80, 100])
def test_a_snapshot_is_newer_than_the_offset_that_its_writer_stored(stored: int) -> None:
    assert resumption(stored, RECORD, "us.orders") == Resumption(100, SNAPSHOT)


@pytest.mark.parametrize("stored", [0, 99, 500])
def test_an_offset_that_somebody_else_has_stored_is_obeyed(stored: int) -> None:
    assert resumption(stored, RECORD, "us.orders") == Resumption(stored, by_stored=True)


def test_offsets_that_were_reset_stay_reset_and_that_is_logged() -> None:
    """Records are copied again from where auto.offset.reset says (simulation: everything 2270)."""
    assert resumption(None, RECORD, "us.orders") == Resumption(None, by_stored=True)
    assert resumption(None, None, "us.orders") == Resumption(None)


def test_before_the_first_offset_is_stored_the_snapshot_is_all_there_is() -> None:
    snapshot = SNAPSHOT._replace(stored=(-1, 100))
    record = ProducerSnapshotRecord(
        topic_partition=RECORD.topic_partition, remote_topic="us.orders", snapshot=snapshot
    )

    assert resumption(None, record, "us.orders") == Resumption(100, snapshot)


def test_the_snapshot_of_another_remote_topic_says_nothing() -> None:
    assert resumption(80, RECORD, "us-orders") == Resumption(80, by_stored=True)


def test_without_a_snapshot_the_stored_offset_counts() -> None:
    assert resumption(80, None, "us.orders") == Resumption(80, by_stored=True)
    assert resumption(None, None, "us.orders") == Resumption(None)


def test_nothing_has_landed_since() -> None:
    assert landed_since(SNAPSHOT, 40, None, COMMITTED) == Landed(0, 0)


def test_the_last_batch_counts_what_has_landed() -> None:
    assert landed_since(SNAPSHOT, 47, LastBatch(OURS, 37), COMMITTED) == Landed(7, 0)


def test_records_of_others_are_told_from_ours() -> None:
    assert landed_since(SNAPSHOT, 60, LastBatch(OURS, 37), COMMITTED) == Landed(7, 13)
    assert landed_since(SNAPSHOT, 60, None, COMMITTED) == Landed(0, 20)


def test_numbers_wrap() -> None:
    snapshot = SNAPSHOT._replace(sequence=2**31 - 3)

    assert landed_since(snapshot, 50, LastBatch(OURS, 7), COMMITTED) == Landed(10, 0)


def test_without_an_offset_on_the_target_the_numbers_tell() -> None:
    snapshot = SNAPSHOT._replace(downstream=-1)

    assert landed_since(snapshot, 1000, LastBatch(OURS, 37), COMMITTED) == Landed(7, 0)


@pytest.mark.parametrize(
    ("end", "last", "lost_from"),
    [
        (39, None, 39),
        (45, LastBatch(OURS, 25, next_offset=36), 36),  # and others have written since
    ],
)
def test_a_target_that_lost_what_it_had_acknowledged(
    end: int, last: LastBatch | None, lost_from: int
) -> None:
    assert landed_since(SNAPSHOT, end, last, COMMITTED) == TargetLost(lost_from)


@pytest.mark.parametrize(
    ("end", "last", "lost_from"),
    [
        (
            36,
            LastBatch(OURS, 33, next_offset=36),
            33,
        ),  # 33 to 39 are lost, and three numbers follow
        (40, LastBatch(OURS, 31, next_offset=40), 39),  # as long as it was
        (45, LastBatch(OURS, 37, next_offset=45), 38),
        (45, LastBatch(OURS._replace(epoch=1), 8, next_offset=45), 37),
    ],
)
def test_numbers_after_the_snapshot_that_stand_before_its_offset_took_the_place_of_lost_records(
    end: int, last: LastBatch, lost_from: int
) -> None:
    """They were sent when the target had lost records, by a mirror that was killed before it had looked
    (simulation: everything 207)."""
    assert landed_since(SNAPSHOT, end, last, COMMITTED) == TargetLost(lost_from, copied_since=True)


def test_records_of_a_later_epoch_leave_a_fallback() -> None:
    """Its snapshot is written before its first record, and is lost."""
    later = LastBatch(OURS._replace(epoch=1), 7)

    assert isinstance(landed_since(SNAPSHOT, 47, later, COMMITTED), Undetermined)


def test_numbers_that_do_not_fit_the_log_leave_a_fallback() -> None:
    landed = landed_since(SNAPSHOT, 45, LastBatch(OURS, 37), COMMITTED)

    assert isinstance(landed, Undetermined)
    assert "has 5 more records, but its writer's sequence has advanced by 7" in landed.reason


def test_what_landed_under_another_isolation_level_cannot_be_counted_off() -> None:
    """Aborted records may be among them, or were left out."""
    snapshot = SNAPSHOT._replace(isolation=UNCOMMITTED)

    landed = landed_since(snapshot, 47, LastBatch(OURS, 37), COMMITTED)

    assert isinstance(landed, Undetermined)
    assert "read_committed" in landed.reason
    assert landed_since(snapshot, 40, None, COMMITTED) == Landed(0, 0)


def test_what_landed_under_an_unrecorded_isolation_level_is_counted_and_has_to_be_proven() -> None:
    """By a snapshot of d137458; the proof is in `copy/prepare_batches.py`."""
    snapshot = SNAPSHOT._replace(isolation=None)

    assert landed_since(snapshot, 47, LastBatch(OURS, 37), COMMITTED) == Landed(7, 0)
