"""A partition's copy: what each event leads to, and the snapshot for a successor."""

from __future__ import annotations

import pytest

from heliograph.copy.partition import Partition
from heliograph.copy.prepare_batches import Prepared
from heliograph.copy.state.phases import Command, Phase
from heliograph.errors import CorruptRecords
from heliograph.mm2.offset_map import OffsetMap
from heliograph.model import (
    AckedOffsets,
    IsolationLevel,
    LastBatch,
    Lineage,
    PartitionState,
)
from heliograph.plan.resume import Landed, TargetLost, Undetermined
from support.flows.partitions import ME, SNAPSHOT, batch, copying, fetch, lease, read, resuming

# ── recovery ─────────────────────────────────────────────────────────────────────────────────


def test_nothing_is_fetched_before_the_target_was_looked_at() -> None:
    copy = Partition(lease())
    assert (copy.phase, copy.command) == (Phase.RECOVERING, Command.RECOVER)

    copy.compare_target(0, None, None)
    copy.introduce(ME)
    assert copy.command is Command.RECOVER
    copy.recovered()

    assert (copy.phase, copy.command, copy.position) == (Phase.COPYING, Command.FETCH, 100)


def test_no_offset_is_stored_before_what_is_on_the_target_is_skipped() -> None:
    """Its snapshot would not know of it, and a successor take it for a user's."""
    copy = Partition(lease(SNAPSHOT, stored=False))
    assert (copy.to_store, copy.snapshot) == (False, SNAPSHOT)

    copy.resume_behind(Landed(5, 0), None)
    copy.recovered()
    read(copy, 100, 3)
    assert (copy.to_store, copy.snapshot) == (False, SNAPSHOT)

    read(copy, 103, 2)
    assert copy.to_store
    assert copy.snapshot is not None
    assert (copy.snapshot.upstream, copy.snapshot.sequence) == (105, 95)


def test_what_is_stored_already_is_not_stored_again() -> None:
    assert not copying().to_store


@pytest.mark.parametrize(
    ("end", "unreadable", "expected"),
    [
        (95, None, Landed(5, 0)),
        (95, "a batch is damaged", Undetermined("a batch is damaged")),
        (85, None, TargetLost(85)),
    ],
)
def test_the_target_tells_what_landed_what_is_lost_or_nothing(
    end: int, unreadable: str | None, expected: object
) -> None:
    copy = Partition(lease(SNAPSHOT))
    last = LastBatch(ME, next_sequence=95, next_offset=95)

    assert copy.compare_target(end, last, unreadable) == expected


def test_a_log_shorter_than_it_once_was_has_lost_records() -> None:
    lineage = Lineage(acked_offsets=AckedOffsets(100, 70))
    copy = Partition(lease(lineage=lineage))

    assert copy.compare_target(60, None, None) == TargetLost(60)
    copy.settle_loss(60)
    assert copy.compare_target(60, None, None) == Landed(0, 0)


def test_a_log_shorter_than_it_once_was_but_not_than_at_the_snapshot_is_counted() -> None:
    """All that it lost was copied after the snapshot, and is copied again behind what is left. Going back to
    the snapshot instead copied what is left twice, without a log line (simulation: everything 20)."""
    lineage = Lineage(acked_offsets=AckedOffsets(115, 105))
    copy = Partition(lease(SNAPSHOT, lineage=lineage))
    last = LastBatch(ME, next_sequence=95, next_offset=95)

    assert copy.compare_target(95, last, None) == Landed(5, 0)


def test_a_loss_before_numbers_begin_anew_is_found() -> None:
    """The log was as long as what this task itself has seen acknowledged (simulation: everything 6)."""
    copy = copying()
    fetch(copy, batch(100))
    copy.acknowledged(batch(100), 0, 0.0)
    copy.renumber(105)

    assert copy.compare_target(3, None, None) == TargetLost(3)
    assert copy.compare_target(3, None, None) == TargetLost(3), "until it is settled"


def test_an_epoch_that_ends_before_a_loss_is_settled_hands_on_what_shows_it() -> None:
    """The next task would take the batch that landed in the place of lost records for the end of all that
    was copied, and neither report them nor copy them again (simulation: everything 510)."""
    copy = copying()
    fetch(copy, batch(100), batch(105))
    copy.acknowledged(batch(100), 0, 0.0)
    before = copy.snapshot
    assert before is not None
    copy.acknowledged(batch(105, sequence=5), 2, 0.0)

    assert copy.snapshot == before._replace(downstream=10), "with both batches, and nothing lost"
    assert copy.phase is Phase.RECOVERING


def test_a_batch_that_showed_a_loss_and_is_not_copied_again_stands_at_an_unknown_place() -> None:
    """Without it the offset map took its records for unmirrored (simulation: everything 315)."""
    copy = copying()
    copy.map_offsets()
    fetch(copy, batch(100), batch(105))
    copy.acknowledged(batch(100), 0, 0.0)
    copy.acknowledged(batch(105, sequence=5), 2, 0.0)

    assert copy.remote.landing is not None
    assert OffsetMap(copy.remote.landing.fresh(110)).translate(107) is None


def test_under_another_isolation_level_records_get_numbers_of_their_own() -> None:
    copy = Partition(lease(SNAPSHOT), IsolationLevel.READ_COMMITTED)
    copy.resume_behind(Landed(0, 0), None)

    assert (copy.numbers.identity, copy.numbers.retired) == (None, ME)


def test_a_recovery_that_waits_is_tried_again_at_its_time() -> None:
    copy = Partition(lease())
    copy.delay_recovery("the topic is away", now=10.0)
    assert (copy.state, copy.error) == (PartitionState.RETRYING, "the topic is away")
    assert not copy.may_recover(10.0)
    assert copy.may_recover(11.0)

    copy.recovered()

    assert (copy.state, copy.error, copy.health.retry_at) == (PartitionState.RUNNING, None, None)


def test_a_fall_back_counts_a_fallback_and_leaves_the_numbers_behind() -> None:
    copy = resuming(5)
    assert copy.fall_back(None) == 100
    assert (copy.fallbacks, copy.numbers.retired, copy.numbers.skip) == (1, ME, 0)

    fenced = resuming(5)
    assert fenced.fall_back(130, fenced=True) == 130
    assert fenced.numbers.retired is None, "its next epoch is another task's"


def test_a_copy_that_goes_on_elsewhere_leaves_its_numbers_behind() -> None:
    copy = copying()
    copy.renumber(130)

    assert (copy.position, copy.acked, copy.numbers.identity) == (130, 130, None)
    assert copy.numbers.retired == ME
    assert copy.snapshot is None, "a snapshot would give the old numbers to other records"
    assert not copy.to_store


def test_a_takeover_knows_of_no_offset_but_the_one_that_is_stored() -> None:
    """If it is deleted later, that is a user's word, not what was there before."""
    copy = Partition(lease(stored_offset=100))
    copy.introduce(ME)

    assert copy.snapshot is not None
    assert copy.snapshot.stored == (100,)


# ── fetched and acknowledged ─────────────────────────────────────────────────────────────────


def test_what_is_acknowledged_follows_what_is_fetched() -> None:
    copy = copying()
    first, second = batch(100), batch(105, sequence=5)
    fetch(copy, first, second)
    assert (copy.position, copy.acked, copy.outstanding) == (110, 100, 2)

    copy.acknowledged(first, 0, wall=1.0)
    assert (copy.acked, copy.numbers.sequence) == (105, 5)
    copy.acknowledged(second, 5, wall=2.0)

    assert (copy.acked, copy.tally.records, copy.tally.bytes, copy.remote.downstream) == (
        110,
        10,
        100,
        10,
    )


def test_what_was_dropped_behind_the_last_batch_is_done_with_it() -> None:
    copy = copying()
    copy.fetched(Prepared([first := batch(100)], 112))
    copy.acknowledged(first, 0, wall=1.0)

    assert copy.acked == 112


def test_the_end_of_a_lease_is_not_read_beyond() -> None:
    copy = Partition(lease(end=105))
    copy.introduce(ME)
    copy.recovered()
    fetch(copy, first := batch(100))
    assert copy.command is Command.WAIT
    assert not copy.done

    copy.acknowledged(first, 0, wall=1.0)

    assert copy.done


def test_new_numbers_begin_at_the_barrier_once_nothing_is_under_way() -> None:
    copy = copying()
    fetch(copy, first := batch(100))
    copy.renumber_from(105)
    assert copy.command is Command.WAIT

    copy.acknowledged(first, 0, wall=1.0)

    assert (copy.phase, copy.position, copy.barrier) == (Phase.RECOVERING, 105, None)
    assert copy.numbers.retired == ME


def test_what_stands_between_two_batches_is_more_than_our_own_marker() -> None:
    copy = copying()
    fetch(copy, *(batches := [batch(100), batch(105), batch(110)]))
    assert copy.acknowledged(batches[0], 0, wall=1.0) is None
    copy.pass_marker()
    assert copy.acknowledged(batches[1], 6, wall=1.0) is None
    copy.pass_marker()

    foreign = copy.acknowledged(batches[2], 15, wall=1.0)

    assert foreign is not None
    assert (foreign.gap, foreign.markers) == (range(11, 15), 1)


def test_a_batch_that_lands_before_what_was_acknowledged_shows_a_loss() -> None:
    copy = copying()
    fetch(copy, *(batches := [batch(100), batch(105)]))
    copy.acknowledged(batches[0], 0, wall=1.0)

    copy.acknowledged(batches[1], 2, wall=1.0)

    assert copy.phase is Phase.RECOVERING
    assert (copy.remote.lost_from, copy.remote.copied_since) == (2, True)


def test_a_successor_finds_a_loss_that_a_batch_of_ours_has_made_up_for() -> None:
    """The log is as long as it was before the loss."""
    copy = copying()
    fetch(copy, *(batches := [batch(100), batch(105)]))
    copy.acknowledged(batches[0], 0, wall=1.0)
    copy.acknowledged(batches[1], 0, wall=1.0)

    successor = Partition(lease(copy.snapshot))

    assert isinstance(successor.compare_target(5, None, None), TargetLost)


def test_what_was_sent_and_not_acknowledged_is_to_be_looked_for() -> None:
    copy = resuming()
    copy.recovered()
    fetch(copy, batch(100), batch(105))

    copy.refused()

    assert copy.phase is Phase.RECOVERING
    assert copy.numbers.base is not None
    assert copy.numbers.base[:4] == (100, 90, 90, ME)
    assert (copy.position, copy.outstanding) == (100, 0)


def test_an_aborted_transaction_goes_back_to_what_is_committed() -> None:
    copy = Partition(lease(), transactional=True)
    copy.confirm_target(0)
    copy.recovered()
    fetch(copy, batch(100))
    copy.stall("no leader")

    copy.aborted()

    assert (copy.position, copy.outstanding, copy.command) == (100, 0, Command.FETCH)


def test_batches_that_were_released_are_read_again_after_a_while() -> None:
    copy = copying()
    fetch(copy, *(batches := [batch(100), batch(105)]))
    copy.stall("no leader")
    copy.released(batches, retry_at=9.0)

    assert (copy.phase, copy.position) == (Phase.WAITING, 100)
    assert copy.may_retry(9.0)
    copy.retried()
    assert (copy.phase, copy.command) == (Phase.COPYING, Command.FETCH)


def test_records_on_the_target_that_the_source_has_deleted_are_not_taken_for_unmirrored() -> None:
    """A group that stands among them must not be put behind them on the target."""
    copy = Partition(lease(SNAPSHOT))
    copy.map_offsets()
    copy.resume_behind(Landed(8, 0), None)
    copy.skip_deleted(105)
    assert [copy.position, copy.numbers.skip, copy.numbers.skipped_to] == [105, 3, 95]
    read(copy, 105, 3)
    assert copy.remote.landing is not None
    assert OffsetMap(copy.remote.landing.fresh(108)).translate(102) is None

    copy = Partition(lease(SNAPSHOT))
    copy.map_offsets()
    copy.resume_behind(Landed(8, 0), None)
    copy.renumber(120)
    copy.remote.note_place(batch(120, 1), 98)
    assert copy.remote.landing is not None
    assert OffsetMap(copy.remote.landing.fresh(121)).translate(102) is None


# ── the source is checked ────────────────────────────────────────────────────────────────────


def test_nothing_is_fetched_while_the_source_is_in_fallback() -> None:
    copy = copying()
    copy.suspect_source("out of range")
    assert (copy.phase, copy.command) == (Phase.CHECKING, Command.CHECK)
    assert (copy.state, copy.error) == (PartitionState.RETRYING, "out of range")

    copy.confirm_source()

    assert (copy.phase, copy.state) == (Phase.COPYING, PartitionState.RUNNING)


def test_a_source_that_is_another_is_read_elsewhere_under_new_numbers() -> None:
    copy = copying()
    copy.suspect_source()
    copy.confirm_source(150)

    assert (copy.phase, copy.position, copy.numbers.retired) == (Phase.RECOVERING, 150, ME)


def test_recovery_comes_before_the_check() -> None:
    copy = Partition(lease())
    copy.suspect_source("out of range")

    assert (copy.phase, copy.needs_check) == (Phase.RECOVERING, False)


# ── trouble ──────────────────────────────────────────────────────────────────────────────────


def test_a_failure_waits_for_its_time_and_goes_back_to_what_is_acknowledged() -> None:
    copy = copying()
    damaged = CorruptRecords("a batch is damaged")
    copy.fetched(Prepared([first := batch(100)], 105, failure=damaged))
    copy.failed(str(damaged), now=10.0)
    assert (copy.phase, copy.state) == (Phase.WAITING, PartitionState.FAILED)
    assert not copy.may_retry(12.0), "a batch is under way"

    copy.acknowledged(first, 0, wall=1.0)
    assert copy.state is PartitionState.FAILED
    assert copy.may_retry(12.0)
    copy.retried()

    assert (copy.phase, copy.state, copy.position) == (Phase.COPYING, PartitionState.RETRYING, 105)
    copy.answered(200)
    assert (copy.state, copy.error, copy.source_end) == (PartitionState.RUNNING, None, 200)


def test_a_target_that_takes_nothing_is_not_read_for() -> None:
    copy = copying()
    fetch(copy, first := batch(100))
    copy.stall("no leader")
    assert copy.command is Command.WAIT

    copy.acknowledged(first, 0, wall=1.0)

    assert (copy.command, copy.state) == (Command.FETCH, PartitionState.RUNNING)


def test_numbers_out_of_order_are_looked_at_later_each_time() -> None:
    copy = copying()
    copy.refused()
    copy.refuse_sequence("out of order", now=10.0, fenced_seconds=None)
    assert (copy.sequence_errors, copy.state) == (1, PartitionState.RETRYING)
    assert not copy.may_recover(10.0)

    copy.refuse_sequence("fenced", now=10.0, fenced_seconds=7.0)
    assert copy.health.retry_at == 17.0


def test_a_halted_partition_waits_for_the_driver_whatever_happens() -> None:
    copy = copying()
    fetch(copy, batch(100))
    copy.replaced("orders was created again")
    copy.refused()
    copy.suspect_source("out of range")

    assert (copy.phase, copy.command, copy.recheck) == (Phase.HALTED, Command.WAIT, True)
    assert (copy.state, copy.error) == (PartitionState.FAILED, "orders was created again")
    assert not copy.may_recover(1e9)
    assert not copy.to_store
