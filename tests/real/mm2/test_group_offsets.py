"""Checkpoints and group offsets through a running mirror (mm2.md I2, I3, I6 to I8)."""

from __future__ import annotations

import pytest

from support.clusters.reading import offsets, topics_of
from support.clusters.writing import Writer, numbered, write
from support.flows.pair import (
    PARTITIONS,
    RECORDS_PER_PARTITION,
    Pair,
    assert_monotonic,
    commit,
    committed,
    consume,
    member,
)
from support.waiting import eventually

SYNC = {"sync.group.offsets.enabled": "true"}


def test_a_group_at_the_start_of_an_empty_partition_is_there_too(pair: Pair) -> None:
    """I2 testReplicationWithEmptyPartition"""
    topic, group = pair.create(), pair.group()
    others = range(1, PARTITIONS)
    write(pair.primary, topic, [r for p in others for r in numbered(range(10), partition=p)])
    with pair.running(SYNC):
        consume(pair.primary, group, topic, 90)
        commit(pair.primary, group, topic, {0: 0})
        pair.wait_for_copies_of(topic, dict.fromkeys(range(1, PARTITIONS), 10))
        # once a record has come by, the offset 0 before it can be translated
        write(pair.primary, topic, numbered(range(1), partition=0))
        wanted = {0: 0} | dict.fromkeys(range(1, PARTITIONS), 10)
        pair.wait_for_group(pair.backup, group, pair.remote(topic), wanted)


@pytest.mark.parametrize(("lag_max", "translation"), [(10, "syncs"), (0, "syncs"), (10, "exact")])
def test_one_way_replication_with_group_offset_sync(
    pair: Pair, lag_max: int, translation: str
) -> None:
    """I3 testOneWayReplicationWithAutoOffsetSync, …WithFrequentOffsetSyncs"""
    topic, group = pair.create(), pair.group()
    pair.produce(topic)
    settings = SYNC | {"offset.lag.max": str(lag_max), "offset.translation": translation}
    with pair.running(settings):
        consume(pair.primary, group, topic, 100)
        _assert_synced(pair, group, topic, lag_max)
        # a topic that is added later, consumed by the same group
        second = pair.create("test-topic-2")
        pair.produce(second)
        consume(pair.primary, group, second, 100)
        _assert_synced(pair, group, second, lag_max)
        _assert_few_are_read_again(pair, group, topic, lag_max)
    assert_monotonic(pair.checkpoints())
    assert pair.remote(topic, pair.backup_alias) not in topics_of(pair.primary)


def _assert_synced(pair: Pair, group: str, topic: str, lag_max: int) -> None:
    """Within `lag_max` of the end, and never past it."""
    remote = pair.remote(topic)
    found = eventually(
        lambda: committed(pair.backup, group, remote),
        lambda offsets: (
            len(offsets) == PARTITIONS
            and all(RECORDS_PER_PARTITION - lag_max <= o for o in offsets.values())
        ),
    )
    ends = {p: offsets(pair.backup, remote, p)[1] for p in found}
    assert all(found[p] <= ends[p] for p in found), (found, ends)


def _assert_few_are_read_again(pair: Pair, group: str, topic: str, lag_max: int) -> None:
    """A consumer of the target goes on where the group was on the source."""
    remote = pair.remote(topic)
    starts = committed(pair.backup, group, remote)
    pair.produce(topic, first=10)
    pair.wait_for_copies(remote, 20)
    fresh = 20 * PARTITIONS - sum(starts.values())
    read = consume(pair.backup, group, remote, fresh)
    assert len(read) - 10 * PARTITIONS <= lag_max * PARTITIONS


def test_there_is_no_checkpoint_before_a_record_is_mirrored(pair: Pair) -> None:
    """I6 testNoCheckpointsIfNoRecordsAreMirrored"""
    topic, group = pair.create(partitions=1), pair.group()
    other = pair.create("test-topic-2", 1)
    write(pair.primary, other, numbered(range(10)))
    commit(pair.primary, group, topic, {0: 0})
    commit(pair.primary, group, other, {0: 10})
    with pair.running():
        pair.wait_for_checkpoints(group, pair.remote(other), 1)
        assert not [c for c in pair.checkpoints() if c.topic == pair.remote(topic)]
        write(pair.primary, topic, numbered(range(10)))
        commit(pair.primary, group, topic, {0: 10})
        pair.wait_for_checkpoints(group, pair.remote(topic), 1)


def test_after_a_restart_checkpoints_go_on_and_stay_monotonic(pair: Pair) -> None:
    """I7 testRestartReplication"""
    topic, group = pair.create(), pair.group()
    pair.produce(topic)
    consume(pair.primary, group, topic, 100)
    with pair.running(SYNC):
        pair.wait_for_group(
            pair.backup, group, pair.remote(topic), dict.fromkeys(range(PARTITIONS), 10)
        )
    pair.produce(topic, first=10)
    with pair.running(SYNC):
        consume(pair.primary, group, topic, 100)
        pair.wait_for_group(
            pair.backup, group, pair.remote(topic), dict.fromkeys(range(PARTITIONS), 20)
        )
    assert_monotonic(pair.checkpoints())


@pytest.mark.parametrize("translation", ["syncs", "exact"])
def test_a_group_far_behind_is_translated_and_may_rewind(pair: Pair, translation: str) -> None:
    """I8 testOffsetTranslationBehindReplicationFlow"""
    topic, group = pair.create(partitions=1), pair.group()
    remote = pair.remote(topic)
    settings = {"offset.lag.max": "10", "offset.translation": translation}
    with pair.running(settings):
        pair.wait_for_topic(remote)
        for start in range(0, 1000, 100):
            write(pair.primary, topic, numbered(range(start, start + 100)))
        pair.wait_for_copies(remote, 1000)
        before = -1
        for offset in (500, 900):  # closer ones may be the same to a reader that keeps few syncs
            commit(pair.primary, group, topic, {0: offset})
            newest = pair.wait_for_checkpoints(group, remote, 1, above=before)
            before = newest[0].downstream
            assert before <= offset
        assert_monotonic(pair.checkpoints())
        commit(pair.primary, group, topic, {0: 100})
        eventually(
            lambda: pair.checkpoints()[-1],
            lambda last: last.upstream == 100 and last.downstream <= 100,
        )


def test_a_group_in_use_on_the_target_is_left_alone(pair: Pair) -> None:
    """KIP-545; upstream leaves it to the broker's refusal"""
    topic, group = pair.create(partitions=1), pair.group()
    other = pair.group("other")
    write(pair.primary, topic, numbered(range(10)))
    commit(pair.primary, group, topic, {0: 10})
    with pair.running(SYNC) as mirror:
        pair.wait_for_copies(pair.remote(topic), 10)
        pair.wait_for_group(pair.backup, group, pair.remote(topic), {0: 10})
        consumer = member(pair.backup, group)
        try:
            consumer.subscribe([pair.remote(topic)])
            consumer.poll(5)
            write(pair.primary, topic, numbered(range(10, 20)))
            commit(pair.primary, group, topic, {0: 20})
            commit(pair.primary, other, topic, {0: 20})
            pair.wait_for_group(pair.backup, other, pair.remote(topic), {0: 20})
            assert committed(pair.backup, group, pair.remote(topic)) == {0: 10}
        finally:
            consumer.close()
        pair.wait_for_group(pair.backup, group, pair.remote(topic), {0: 20})
        assert mirror.failure is None


def test_a_transactional_source_leaves_no_negative_lag(pair: Pair) -> None:
    """MirrorConnectorsIntegrationTransactionsTest: markers take offsets that the target does not have"""
    topic, group = pair.create(partitions=1), pair.group()
    writer = Writer(pair.primary, topic, transactional=f"tx-{pair.mark}")
    for number in range(20):
        writer.begin()
        writer.queue(topic, numbered(range(number * 3, number * 3 + 3)))
        writer.flush()
        if number % 4 == 3:
            writer.abort()
        else:
            writer.commit()
    settings = SYNC | {f"{pair.primary_alias}.consumer.isolation.level": "read_committed"}
    with pair.running(settings):
        end = offsets(pair.primary, topic)[1]
        commit(pair.primary, group, topic, {0: end})
        pair.wait_for_group(pair.backup, group, pair.remote(topic), {0: 45})
        assert offsets(pair.backup, pair.remote(topic))[1] == 45
