"""What a partition's copy may tell its successor."""

from __future__ import annotations

from heliograph.copy.partition import Partition
from heliograph.mm2.offset_map import OffsetMap
from heliograph.mm2.offset_map_builder import OffsetMapBuilder
from heliograph.model import (
    IsolationLevel,
    LeaderEpochMark,
    Lease,
    ProducerIdentity,
    ProducerSnapshot,
)

ME = ProducerIdentity(7, 0)
TRAIL = ProducerSnapshot(
    100, 90, 90, ME, (80,), IsolationLevel.READ_UNCOMMITTED, LeaderEpochMark(120, 2)
)


def copy_from(trail: ProducerSnapshot) -> Partition:
    lease = Lease(
        flow="a->b", topic="orders", partition=0, target_topic="a.orders", start=100, trail=trail
    )
    return Partition(lease, position=100, acked=100, stored=80)


def test_no_offset_is_stored_before_the_target_was_looked_at_and_what_is_there_is_skipped() -> None:
    """Its trail would not know of it, and a successor take it for a user's."""
    copy = copy_from(TRAIL)
    assert (copy.to_store, copy.trail) == (False, TRAIL)

    copy.identity, copy.skip, copy.skipped_to = ME, 5, 90
    copy.skipped(103, 3)
    assert (copy.to_store, copy.trail) == (False, TRAIL)

    copy.skipped(105, 2)
    assert copy.to_store
    assert copy.trail is not None
    assert copy.trail.upstream == 105


def test_records_on_the_target_that_the_source_has_deleted_are_not_taken_for_unmirrored() -> None:
    """A group that stands among them must not be put behind them on the target."""
    copy = copy_from(TRAIL)
    copy.identity, copy.skip, copy.skipped_to, copy.landing = ME, 8, 90, OffsetMapBuilder(100)
    copy.skip_deleted(105)
    copy.landing.land(105, 95, 3)
    assert [copy.position, copy.skip, copy.skipped_to] == [105, 3, 95]
    assert OffsetMap(copy.landing.fresh(108)).translate(102) is None

    copy = copy_from(TRAIL)
    copy.identity, copy.skip, copy.landing = ME, 8, OffsetMapBuilder(100)
    copy.renumber(120)
    copy.landing.land(120, 98, 1)
    assert OffsetMap(copy.landing.fresh(121)).translate(102) is None


def test_what_is_stored_already_is_not_stored_again() -> None:
    copy = copy_from(TRAIL)
    copy.base, copy.stored = None, 100

    assert not copy.to_store


def test_what_stands_between_two_batches_is_more_than_our_own_marker() -> None:
    copy = copy_from(TRAIL)
    copy.downstream = 90

    assert not copy.landed(90, 10)
    copy.pass_marker()
    assert not copy.landed(101, 10)
    copy.markers = 0
    copy.pass_marker()
    assert copy.landed(115, 10) == range(111, 115)


def test_a_takeover_knows_of_no_offset_but_the_one_that_is_stored() -> None:
    """If it is deleted later, that is a user's word, not what was there before."""
    lease = Lease(
        flow="a->b",
        topic="orders",
        partition=0,
        target_topic="a.orders",
        start=100,
        stored_offset=100,
    )
    copy = Partition(lease, 100, 100, 100)
    copy.identity = ME

    assert copy.trail is not None
    assert copy.trail.stored == (100,)


def test_a_copy_that_goes_on_elsewhere_leaves_its_numbers_behind() -> None:
    copy = copy_from(TRAIL)
    copy.adopt(ME, 95)
    copy.base = None

    copy.renumber(130)

    assert (copy.position, copy.acked, copy.identity, copy.retired) == (130, 130, None, ME)
    assert copy.trail is None, "a trail would give the old numbers to other records"
    assert not copy.to_store or copy.recovering is False


def test_what_was_sent_and_not_acknowledged_is_to_be_looked_for() -> None:
    copy = copy_from(TRAIL)
    copy.adopt(ME, 95)
    copy.base, copy.position, copy.outstanding, copy.numbered_to = None, 150, 3, -1

    copy.unsettle()

    assert copy.base is not None
    assert copy.base[:4] == (100, -1, 95, ME)
    assert (copy.position, copy.outstanding, copy.numbered_to) == (100, 0, 150)
