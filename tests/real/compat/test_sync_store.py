"""Translation by offset syncs, question by question the same as the real OffsetSyncStore."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator

import pytest

from heliograph.mm2.offset_sync import OffsetSync
from heliograph.mm2.sync_store import OffsetSyncStore
from heliograph.model import TopicPartition
from support.java.oracle import Oracle

Step = tuple[str, str, int, int] | tuple[str, str, int, int, int]
_STEPS = 1500
_MAX = 2**63 - 1


def steady() -> Iterator[int]:
    return itertools.repeat(10)


def bursts() -> Iterator[int]:
    chance = random.Random(1)
    while True:
        yield chance.choice([0, 1, 1, 2, 100, 5_000])


def wide() -> Iterator[int]:
    chance = random.Random(2)
    while True:
        yield chance.getrandbits(chance.randint(1, 44))


def doubling() -> Iterator[int]:
    """OffsetSyncStoreTest.testDroppedSyncsSpacing's own, over and over"""
    while True:
        step = 1
        while step < _MAX // 100:
            yield step
            step = step * 2 + 1


def steps(chance: random.Random, gaps: Iterator[int], count: int) -> Iterator[Step]:
    """Syncs of three partitions that move on by `gaps`, at times back, and lookups all over their past."""
    ends = {("orders", 0): (0, 0), ("orders", 1): (7, 1000), ("größe", 0): (2**40, 3)}
    for _ in range(count):
        key = chance.choice(list(ends))
        upstream, downstream = ends[key]
        if chance.random() < 0.01:
            upstream = chance.randint(
                0, upstream
            )  # the source was truncated, or its topic made anew
        if chance.random() < 0.01:
            downstream = chance.randint(0, downstream)
        upstream = min(upstream + next(gaps), _MAX - 1)
        downstream = min(downstream + next(gaps), _MAX - 1)
        ends[key] = upstream, downstream
        yield ("sync", *key, upstream, downstream)
        distance = chance.getrandbits(chance.randint(0, max(upstream.bit_length(), 1)))
        for asked in (upstream - distance, upstream + chance.choice([0, 1, 50])):
            yield ("translate", *key, max(asked, 0))
    yield ("translate", "never seen", 0, 1)


def take(store: OffsetSyncStore, steps: list[Step]) -> list[int | None]:
    found = []
    for step in steps:
        match step:
            case ("sync", str(topic), partition, upstream, int(downstream)):
                store.apply(OffsetSync(topic, partition, upstream, downstream))
            case (_, str(topic), partition, upstream, *_):
                found.append(store.translate(TopicPartition(topic, partition), upstream))
    return found


@pytest.mark.parametrize("must_read_to_end", [True, False])
@pytest.mark.parametrize("spacing", [steady, bursts, wide, doubling])
def test_every_translation_is_javas(
    oracle: Oracle, spacing: Callable[[], Iterator[int]], must_read_to_end: bool
) -> None:
    chance, gaps = random.Random(3), spacing()
    start, then = list(steps(chance, gaps, _STEPS // 5)), list(steps(chance, gaps, _STEPS))

    theirs = oracle.ask("translate", start=start, then=then, must_read_to_end=must_read_to_end)

    store = OffsetSyncStore(must_read_to_end=must_read_to_end)
    ours = take(store, start)
    store.reached_end()
    ours += take(store, then)
    wrong = [i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b]
    assert not wrong, f"{len(wrong)} of {len(ours)} differ, the first at {wrong[0]}"
    assert len({answer for answer in ours if answer is not None}) > 100
