"""Exact where ranges are known, by MM2's syncs elsewhere, ahead of the truth nowhere."""

from __future__ import annotations

from bisect import bisect_left

from hypothesis import given
from hypothesis import strategies as st

from heliograph.mm2.offset_map import LOST, OffsetMap, OffsetRange
from heliograph.mm2.offset_sync import OffsetSync
from heliograph.mm2.sync_store import OffsetSyncStore
from heliograph.mm2.translation import Translation
from heliograph.model import TopicPartition

P = TopicPartition("t", 0)


def translation(
    *syncs: tuple[int, int], ranges: tuple[tuple[int, int, int], ...] = ()
) -> Translation:
    store = OffsetSyncStore(must_read_to_end=False)
    for upstream, downstream in syncs:
        store.apply(OffsetSync(*P, upstream, downstream))
    store.reached_end()
    known = {P: OffsetMap(OffsetRange(*each) for each in ranges)} if ranges else {}
    return Translation(store, known)


def test_a_known_range_gives_the_very_record() -> None:
    exact = translation((0, 0), (1000, 1000), ranges=((0, 0, 1001),))

    assert exact.translate(P, 500) == 500  # by syncs alone it would be 1


def test_a_group_at_the_end_of_all_that_is_copied_stands_at_the_targets_end() -> None:
    """The source ends with a transaction marker at 100, which is not copied."""
    exact = translation((0, 0), ranges=((0, 0, 100),))

    assert exact.translate(P, 100) == 100
    assert exact.translate(P, 101) == 100


def test_a_group_ahead_of_the_copy_stands_at_the_end_of_the_copy() -> None:
    exact = translation((0, 0), (80, 80), ranges=((0, 0, 100),))

    assert exact.translate(P, 5000) == 100


def test_syncs_that_tell_of_more_than_the_ranges_count() -> None:
    """Java's MM2 has taken over for a while, or a sync was heard of before its range."""
    exact = translation((0, 0), (200, 200), ranges=((0, 0, 100),))

    assert exact.translate(P, 50) == 50
    assert exact.translate(P, 150) == 100
    assert exact.translate(P, 250) == 201


def test_lost_history_and_what_was_before_falls_back_on_syncs() -> None:
    exact = translation((0, 0), (60, 60), ranges=((100, 100, 10), (110, LOST, 10), (120, 120, 5)))

    assert exact.translate(P, 70) == 61
    assert exact.translate(P, 115) == 61
    assert exact.translate(P, 122) == 122


def test_nothing_known_and_too_old_are_told_apart() -> None:
    assert translation().translate(P, 5) is None
    assert translation((100, 100)).translate(P, 5) == -1
    assert translation((100, 100), ranges=((100, 100, 1),)).translate(P, 5) == -1
    assert translation(ranges=((100, 100, 1),)).translate(P, 5) is None


@given(
    gaps=st.lists(st.integers(1, 5), min_size=1, max_size=60),
    synced=st.sets(st.integers(0, 59)),
    told=st.integers(0, 60),
    upstream=st.integers(0, 400),
)
def test_no_translation_is_ahead_of_the_truth(
    gaps: list[int], synced: set[int], told: int, upstream: int
) -> None:
    """Record i is at `offsets[i]` upstream and at i downstream; ranges tell of the first `told`."""
    offsets = [sum(gaps[: i + 1]) for i in range(len(gaps))]
    made = translation(
        *((offsets[i], i) for i in sorted(synced) if i < len(offsets)),
        ranges=tuple((offsets[i], i, 1) for i in range(min(told, len(offsets)))),
    )

    found = made.translate(P, upstream)

    truth = bisect_left(offsets, upstream)
    assert found is None or found <= truth
    if told >= len(offsets) and upstream >= offsets[0]:
        assert found == truth


def test_an_exact_translation_is_not_behind() -> None:
    exact = translation((0, 0), (1000, 1000), ranges=((0, 0, 1001),))

    assert [exact.behind(P, upstream) for upstream in (0, 500, 1000, 1001)] == [0, 0, 0, 0]


def test_a_translation_by_syncs_is_behind_by_the_records_since_the_sync_at_most() -> None:
    """At 500 it gives 1, the record after the sync: 499 records are read again."""
    by_syncs = translation((0, 0), (1000, 1000))

    assert [by_syncs.behind(P, upstream) for upstream in (0, 1, 500, 1000)] == [0, 0, 499, 0]


def test_a_group_ahead_of_the_copy_reads_again_what_is_not_copied_yet() -> None:
    exact = translation((0, 0), (80, 80), ranges=((0, 0, 100),))

    assert exact.behind(P, 130) == 30


def test_what_is_not_translated_is_not_behind() -> None:
    assert translation().behind(P, 5) == 0
    assert translation((10, 10)).behind(P, 5) == 0


@given(
    st.sets(st.integers(0, 200), min_size=1, max_size=20).map(sorted),
    st.integers(0, 250),
)
def test_the_truth_is_at_most_that_far_ahead(synced: list[int], upstream: int) -> None:
    """Offsets are the same on both clusters here, so that the truth is `upstream`."""
    by_syncs = translation(*((each, each) for each in synced))
    found = by_syncs.translate(P, upstream)

    if found is not None and found >= 0:
        assert found <= upstream <= found + by_syncs.behind(P, upstream)
