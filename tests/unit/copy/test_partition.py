"""What a partition's copy may tell its successor."""

from __future__ import annotations

from heliograph.copy.partition import PartitionCopy
from heliograph.model import Lease, ProducerIdentity, Trail

ME = ProducerIdentity(7, 0)
TRAIL = Trail(100, 90, 90, ME, (80,))


def copy_from(trail: Trail) -> PartitionCopy:
    lease = Lease(
        flow="a->b", topic="orders", partition=0, target_topic="a.orders", start=100, trail=trail
    )
    return PartitionCopy(lease, position=100, acked=100, stored=80)


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
