"""Translation by offset syncs: the numbers of MM2's own tests, and laws over random syncs."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heliograph.mm2.offset_sync import OffsetSync
from heliograph.mm2.sync_store import OffsetSyncStore
from heliograph.model import TopicPartition

TP = TopicPartition("topic1", 2)
I64 = 1 << 64
MAX = 2**63 - 1


def store(*, must_read_to_end: bool = True, started: bool = True) -> OffsetSyncStore:
    store = OffsetSyncStore(must_read_to_end=must_read_to_end)
    if started:
        store.reached_end()
    return store


def sync(store: OffsetSyncStore, upstream: int, downstream: int) -> None:
    store.apply(OffsetSync(TP.topic, TP.partition, upstream, downstream))


def feed(store: OffsetSyncStore, offsets: Iterable[int]) -> None:
    for offset in offsets:
        sync(store, offset, offset)
        assert_invariants(store)


def assert_stored(store: OffsetSyncStore, *offsets: int, first: int | None = -1) -> None:
    """Each offset translates to itself, what lies between two of them to the lower one plus 1."""
    for before, offset in pairwise((None, *offsets)):
        assert offset is not None
        assert store.translate(TP, offset - 1) == (first if before is None else before + 1)
        assert store.translate(TP, offset) == offset
        assert store.translate(TP, offset + 1) == offset + 1
        assert store.translate(TP, offset + 2) == offset + 1


def assert_invariants(store: OffsetSyncStore) -> None:
    """B and C as MM2's tests state them; distinct syncs only."""
    upstream = [sync[0] for sync in store.syncs(TP)]
    distinct = [slot for slot in range(63) if upstream[slot] != upstream[slot + 1]] + [63]
    for n, i in enumerate(distinct):
        for j in distinct[n + 1 :]:
            assert upstream[i] >= upstream[j] + 2 ** max(i - 2, 0), f"C({i}, {j})"
            assert upstream[i] <= upstream[j] + 2**j - 2**i, f"B({i}, {j})"


def test_a_sync_translates_itself_and_what_follows_it() -> None:
    """OffsetSyncStoreTest.testOffsetTranslation"""
    syncs = store()
    sync(syncs, 100, 200)
    assert syncs.translate(TP, 150) == 201

    sync(syncs, 150, 251)
    assert syncs.translate(TP, 150) == 251
    assert syncs.translate(TP, 5) == -1

    sync(syncs, 200, 10)  # downstream reset
    assert syncs.translate(TP, 200) == 10

    sync(syncs, 20, 20)  # upstream reset
    assert syncs.translate(TP, 20) == 20


def test_nothing_is_translated_before_the_topic_was_read_to_its_end() -> None:
    """OffsetSyncStoreTest.testNoTranslationIfStoreNotStarted"""
    syncs = store(started=False)
    assert [syncs.translate(TP, offset) for offset in (0, 100, 200)] == [None] * 3

    sync(syncs, 100, 200)
    assert [syncs.translate(TP, offset) for offset in (0, 100, 200)] == [None] * 3

    syncs.reached_end()
    assert [syncs.translate(TP, offset) for offset in (0, 100, 200)] == [-1, 200, 201]


def test_nothing_is_translated_without_a_sync() -> None:
    """OffsetSyncStoreTest.testNoTranslationIfNoOffsetSync"""
    syncs = store()
    sync(syncs, 1, 1)

    assert syncs.translate(TopicPartition("topic1", 3), 1) is None


def test_syncs_of_the_past_are_kept_the_sparser_the_older() -> None:
    """OffsetSyncStoreTest.testPastOffsetTranslation"""
    syncs = store(started=False)
    feed(syncs, range(0, 1001, 10))
    syncs.reached_end()
    assert_stored(syncs, 1000)

    feed(syncs, range(1010, 10001, 10))
    assert_stored(syncs, 1000, 4840, 6760, 8680, 9160, 9640, 9880, 9940, 9970, 9990, 10000)
    assert_rewind_clears(syncs)


def test_a_store_that_need_not_read_to_the_end_keeps_syncs_of_the_start() -> None:
    """OffsetSyncStoreTest.testPastOffsetTranslationWithoutInitializationReadToEnd"""
    syncs = store(must_read_to_end=False, started=False)
    feed(syncs, range(0, 1001, 10))
    syncs.reached_end()
    translated = {offset: syncs.translate(TP, offset) for offset in (479, 480, 719, 720, 999, 1000)}
    assert translated == {479: 1, 480: 480, 719: 481, 720: 720, 999: 991, 1000: 1000}

    feed(syncs, range(1010, 10001, 10))
    # Before offset 0 there is nothing: -1 is no offset of a group.
    assert_stored(syncs, 0, 3840, 7680, 8640, 9120, 9600, 9840, 9900, 9960, 9990, 10000)
    assert_rewind_clears(syncs)


def assert_rewind_clears(syncs: OffsetSyncStore) -> None:
    sync(syncs, 1500, 11000)
    assert_invariants(syncs)
    assert [syncs.translate(TP, offset) for offset in (1499, 1500, 2000)] == [-1, 11000, 11001]


@pytest.mark.parametrize(
    ("offsets", "translated"),
    [
        ((100, 200, 300), {250: 201}),
        ((175, 275, 375, 475), {250: 176, 370: 176, 400: 376}),
    ],
)
def test_a_restart_may_know_less_than_before_it(
    offsets: Sequence[int], translated: dict[int, int]
) -> None:
    """MirrorCheckpointTaskTest.testCheckpointsTaskRestartUsesExistingCheckpoints"""
    syncs = store(must_read_to_end=False, started=False)
    feed(syncs, offsets)
    syncs.reached_end()

    assert {offset: syncs.translate(TP, offset) for offset in translated} == translated


def assert_bounded_expirations(first: int, steps: Iterable[int], most: int) -> None:
    """Each new sync is kept, the first one too, and at most `most` are lost for it."""
    syncs = store()
    sync(syncs, first, first)
    offset, kept = first, 1
    for step in steps:
        offset += step
        sync(syncs, offset, offset)
        slots = syncs.syncs(TP)
        assert slots[0][0] == offset
        assert slots[63][0] == first
        now = len(set(map(id, slots)))
        assert kept + 1 - now <= most, f"at {offset}"
        kept = now


def test_evenly_spaced_syncs_cost_at_most_one_each() -> None:
    """OffsetSyncStoreTest.testConsistentlySpacedSyncs, which takes each first offset from 0 to 29: only
    differences count, so a few do."""
    step = 1
    while step < MAX // 100:
        for first in (0, 1, 29):
            assert_bounded_expirations(first, [step] * 100, 1)
        step = 2 * step + 1


def test_randomly_spaced_syncs_cost_a_bounded_number() -> None:
    """OffsetSyncStoreTest.testRandomlySpacedSyncs"""
    chance = random.Random(0)
    for bits in range(
        1, 64 - 10, 4
    ):  # Java's test takes each; a step of 4 is quick enough in Python
        for least in (0, 1 << 16):
            steps = [least + chance.randrange(1 << bits) for _ in range(1 << 10)]
            assert_bounded_expirations(0, steps, bits + 2)


def test_dropped_syncs_cost_at_most_two() -> None:
    """OffsetSyncStoreTest.testDroppedSyncsSpacing"""
    chance = random.Random(0)
    assert_bounded_expirations(0, [chance.choice((100, 200)) for _ in range(10_000)], 2)


# ── laws ─────────────────────────────────────────────────────────────────────────────────────


STEPS = st.lists(
    st.tuples(st.integers(0, 62), st.integers(0, 3)).map(lambda step: (1 << step[0]) - 1 + step[1])
    | st.integers(0, 300),
    max_size=60,
)


@given(STEPS, STEPS)
def test_a_translation_is_never_ahead_of_the_truth(
    upstream_steps: list[int], more_steps: list[int]
) -> None:
    """Truth: records land in order, some upstream offsets hold none."""
    syncs = store()
    truth: list[tuple[int, int]] = []
    upstream = downstream = 0
    for gap, run in zip(upstream_steps, more_steps, strict=False):
        if upstream + gap > MAX:
            break
        upstream, downstream = upstream + gap, downstream + min(gap, run)
        truth.append((upstream, downstream))
        sync(syncs, upstream, downstream)
    for upstream, _ in truth:
        for asked in (upstream - 1, upstream, upstream + 1):
            translated = syncs.translate(TP, asked)
            assert translated is not None
            passed = [d for u, d in truth if u <= asked]
            # Every record mirrored at or before `asked` may be read again, none after it is skipped.
            assert translated <= (passed[-1] + 1 if passed else -1)


@given(STEPS)
def test_the_invariants_hold_after_every_sync(steps: list[int]) -> None:
    syncs = store()
    offset = 0
    for step in steps:
        if offset + step > MAX:
            break
        offset += step
        sync(syncs, offset, offset)
        slots = syncs.syncs(TP)
        assert slots[0] == (offset, offset)  # A
        if offset - steps[0] <= 2**62:  # 64 slots reach no further
            assert slots[63][0] == steps[0]  # D
        assert_invariants(syncs)


OFFSETS = st.integers(-(2**63), MAX) | st.integers(0, 1000) | st.integers(MAX - 1000, MAX)


@settings(max_examples=100)
@given(st.lists(OFFSETS, max_size=40), st.booleans())
def test_slots_are_those_of_java_whatever_wraps_around(offsets: list[int], ascending: bool) -> None:
    syncs = store()
    expected: list[tuple[int, int]] | None = None
    for n, offset in enumerate(sorted(offsets) if ascending else offsets):
        new = (offset, n)
        sync(syncs, offset, n)
        first = expected is None or offset < expected[0][0]
        expected = [new] * 64 if first or expected is None else java_update(expected, new)
        assert syncs.syncs(TP) == expected


Slot = tuple[int, int]


def java_update(old: list[Slot], new: Slot) -> list[Slot]:
    """OffsetSyncStore.updateSyncArray, step by step and with the arithmetic of Java's long."""
    slots = list(old)
    slots[0] = new
    replacement, index = new, 0
    for current in range(1, 64):
        previous = current - 1
        while True:
            candidate = old[index]
            recent = b_holds(slots[previous], candidate, previous, current)
            apart = c_holds(slots[previous], candidate, previous)
            apart_next = current == 63 or c_holds(candidate, slots[current + 1], current)
            duplicate = index < 63 and candidate is old[index + 1]
            if recent and apart and apart_next:
                replacement = candidate
            skip = duplicate or not apart
            if (recent and apart and apart_next) or skip:
                index += 1
            if not (index < current and skip):
                break
        if b_holds(slots[previous], slots[current], previous, current):
            break
        slots[current] = replacement
    return slots


def java_long(value: int) -> int:
    return (value + 2**63) % I64 - 2**63


def b_holds(x: Slot, y: Slot, i: int, j: int) -> bool:
    bound = java_long(y[0] + 2**j - 2**i)
    return x is y or bound < 0 or x[0] <= bound


def c_holds(x: Slot, y: Slot, i: int) -> bool:
    bound = java_long(y[0] + 2 ** max(i - 2, 0))
    return x is y or (bound >= 0 and x[0] >= bound)
