"""Which groups are followed and what is checkpointed, by the cases of MM2's own tests."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from heliograph.mm2.checkpoint import Checkpoint
from heliograph.mm2.offset_sync import OffsetSync
from heliograph.mm2.sync_store import OffsetSyncStore
from heliograph.model import CommittedOffset, GroupListing, TopicPartition
from heliograph.plan.checkpoints import (
    PlannedCheckpoints,
    changed,
    checkpoint_topic,
    no_longer_true,
    plan_checkpoints,
    why_not_followed,
    why_nothing_to_follow,
)
from heliograph.policy.group_filter import DefaultGroupFilter
from heliograph.policy.naming import DefaultReplicationPolicy

POLICY = DefaultReplicationPolicy()
EVERY_GROUP = DefaultGroupFilter.of((".*",), ())
Previous = dict[TopicPartition, Checkpoint]


def name(topic: str) -> str:
    return checkpoint_topic(POLICY, "source1", "target2", topic)


def store(
    *syncs: tuple[str, int, int, int],
    before_start: Iterable[OffsetSync] = (),
    must_read_to_end: bool = True,
) -> OffsetSyncStore:
    made = OffsetSyncStore(must_read_to_end=must_read_to_end)
    for sync in before_start:
        made.apply(sync)
    made.reached_end()
    for each in syncs:
        made.apply(OffsetSync(*each))
    return made


def plan(
    group: str,
    topic: str,
    partition: int,
    offset: int,
    syncs: OffsetSyncStore,
    previous: Previous | None = None,
) -> PlannedCheckpoints:
    offsets = {TopicPartition(topic, partition): CommittedOffset(offset)}
    return plan_checkpoints(group, offsets, previous or {}, syncs, name)


def by_partition(checkpoints: Iterable[Checkpoint]) -> Previous:
    return {checkpoint.topic_partition: checkpoint for checkpoint in checkpoints}


# ── which groups ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("type_", "protocol"),
    [("classic", ""), ("classic", "consumer"), ("Consumer", "consumer"), ("", "consumer")],
)
def test_groups_of_consumers_are_followed(type_: str, protocol: str) -> None:
    """MirrorCheckpointConnectorTest.testFindConsumerGroups"""
    listing = GroupListing("g1", type_, protocol, "")

    assert why_not_followed(listing, EVERY_GROUP) is None
    assert why_nothing_to_follow({TopicPartition("t1", 0): CommittedOffset(0)}, name) is None
    assert why_nothing_to_follow({TopicPartition("t1", 0): CommittedOffset(0)}, lambda _: None)


@pytest.mark.parametrize(
    ("type_", "protocol", "reason"),
    [
        ("Share", "share", "share group"),
        ("Streams", "streams", "streams group"),
        ("classic", "connect", "'connect'"),
    ],
)
def test_groups_that_read_otherwise_are_passed_over_with_a_reason(
    type_: str, protocol: str, reason: str
) -> None:
    why = why_not_followed(GroupListing("g1", type_, protocol, "Stable"), EVERY_GROUP)

    assert why is not None
    assert reason in why


def test_the_group_filter_and_the_topics_of_a_group_both_count() -> None:
    """MirrorCheckpointConnectorTest.testFindConsumerGroupsInCommonScenarios"""
    offsets = {
        "g1": ("t1", "t2"),
        "g2": ("t2", "t3"),
        "g3": ("t3",),
        "g4": ("t2",),
        "g5": (),
    }
    group_filter = DefaultGroupFilter.of(("g.*",), ("g4",))

    def only_t2(topic: str) -> str | None:
        return topic if topic == "t2" else None

    reasons = {
        group: why_not_followed(GroupListing(group, "classic", "consumer", ""), group_filter)
        or why_nothing_to_follow(
            {TopicPartition(topic, 0): CommittedOffset(0) for topic in topics}, only_t2
        )
        for group, topics in offsets.items()
    }

    assert reasons["g1"] is None
    assert reasons["g2"] is None
    assert "topics.exclude" in str(reasons["g3"])
    assert "groups.exclude matches: g4" in str(reasons["g4"])
    assert reasons["g5"] == "has no committed offsets"


# ── checkpoints ─────────────────────────────────────────────────────────────────────────────


def test_topics_are_named_as_on_the_target() -> None:
    """MirrorCheckpointTaskTest.testDownstreamTopicRenaming"""
    assert name("topic3") == "source1.topic3"
    assert name("target2.topic3") == "topic3"
    assert name("source6.topic7") == "source1.source6.topic7"


def test_committed_offsets_are_translated() -> None:
    """MirrorCheckpointTaskTest.testCheckpoint"""
    syncs = store(("topic1", 2, 3, 4), ("target2.topic5", 6, 7, 8))

    assert plan("group9", "topic1", 2, 10, syncs).emit == [
        Checkpoint("group9", "source1.topic1", 2, 10, 5)
    ]
    assert plan("group11", "target2.topic5", 6, 12, syncs).emit == [
        Checkpoint("group11", "topic5", 6, 12, 9)
    ]
    assert plan("group13", "target2.topic5", 6, 7, syncs).emit == [
        Checkpoint("group13", "topic5", 6, 7, 8)
    ]


def test_metadata_travels_with_the_offset() -> None:
    offsets = {TopicPartition("t", 0): CommittedOffset(3, "noted")}

    planned = plan_checkpoints("g", offsets, {}, store(("t", 0, 3, 3)), name)

    assert planned.emit == [Checkpoint("g", "source1.t", 0, 3, 3, "noted")]


def test_a_partition_without_syncs_has_no_checkpoint() -> None:
    """MirrorCheckpointTaskTest.testNoCheckpointForTopicWithoutOffsetSyncs"""
    syncs = store(("topic1", 0, 3, 4))

    without = plan("group9", "topic1", 1, 10, syncs)

    assert not without.emit
    assert without.untranslated == {TopicPartition("topic1", 1): "no mirrored offsets are known"}
    assert plan("group9", "topic1", 0, 10, syncs).emit


def test_an_offset_reset_to_none_has_no_checkpoint() -> None:
    """MirrorCheckpointTaskTest.testNoCheckpointForTopicWithNullOffsetAndMetadata"""
    planned = plan("g1", "topic1", 0, -1, store(("topic1", 0, 1, 3)))

    assert not planned.emit
    assert planned.untranslated == {TopicPartition("topic1", 0): "was reset to no offset"}


def test_an_offset_older_than_all_syncs_has_no_checkpoint_and_says_so() -> None:
    planned = plan("g1", "topic1", 0, 5, store(("topic1", 0, 100, 200)))

    assert not planned.emit
    assert "offset 5 is older" in planned.untranslated[TopicPartition("topic1", 0)]


def test_topics_that_the_filter_keeps_out_are_left_out() -> None:
    offsets = {TopicPartition("t", 0): CommittedOffset(3)}

    planned = plan_checkpoints("g", offsets, {}, store(("t", 0, 3, 3)), lambda _: None)

    assert planned == ([], [], {})


def test_checkpoints_stay_monotonic_when_the_store_forgets() -> None:
    """MirrorCheckpointTaskTest.testCheckpointRecordsMonotonicIfStoreRewinds"""
    syncs = store(("topic1", 0, 11, 4), ("topic1", 0, 12, 5))
    first = plan("g1", "topic1", 0, 13, syncs)
    previous = by_partition(first.emit)
    for upstream in range(13, 18):
        syncs.apply(OffsetSync("topic1", 0, upstream, upstream - 7))
    assert syncs.translate(TopicPartition("topic1", 0), 13) != 6

    again = plan("g1", "topic1", 0, 13, syncs, previous)
    rewound = plan("g1", "topic1", 0, 12, syncs, previous)

    assert first.emit == [Checkpoint("g1", "source1.topic1", 0, 13, 6)]
    assert not again.emit
    assert [c.group for c in again.held_back] == ["g1"]
    assert len(rewound.emit) == 1  # the group went back itself


def test_checkpoints_of_before_the_restart_hold() -> None:
    """MirrorCheckpointTaskTest.testCheckpointsTaskRestartUsesExistingCheckpoints"""
    before = store(
        before_start=[OffsetSync("t1", 0, at, at) for at in (100, 200, 300)], must_read_to_end=False
    )
    previous = by_partition(plan("group1", "t1", 0, 250, before).emit)
    after = store(
        before_start=[OffsetSync("t1", 0, at, at) for at in (175, 275, 375, 475)],
        must_read_to_end=False,
    )

    assert previous == by_partition([Checkpoint("group1", "source1.t1", 0, 250, 201)])
    assert after.translate(TopicPartition("t1", 0), 250) == 176
    assert not plan("group1", "t1", 0, 250, after, previous).emit
    assert not plan("group1", "t1", 0, 370, after, previous).emit
    assert plan("group1", "t1", 0, 400, after, previous).emit == [
        Checkpoint("group1", "source1.t1", 0, 400, 376)
    ]


def test_the_same_checkpoint_is_not_written_twice() -> None:
    syncs = store(("t1", 0, 5, 5))
    previous = by_partition(plan("g", "t1", 0, 5, syncs).emit)

    assert plan("g", "t1", 0, 5, syncs, previous) == ([], [], {})


def test_only_what_moved_or_is_better_known_is_looked_at_again() -> None:
    first, second = TopicPartition("t", 0), TopicPartition("t", 1)
    offsets = {first: CommittedOffset(5), second: CommittedOffset(6)}
    versions = {first: 3}

    assert changed(offsets, {}, versions) == offsets
    assert changed(offsets, {first: (5, 3), second: (6, 0)}, versions) == {}
    assert changed(offsets, {first: (4, 3), second: (6, 0)}, versions).keys() == {first}
    assert changed(offsets, {first: (5, 2), second: (6, 0)}, versions).keys() == {first}


def test_a_checkpoint_past_the_log_end_gives_way_to_one_that_is_true() -> None:
    partition = TopicPartition("source1.t", 0)
    previous = {partition: Checkpoint("g", "source1.t", 0, 1000, 1000)}
    held_back = [Checkpoint("g", "source1.t", 0, 1005, 3)]

    assert no_longer_true(held_back, previous, {partition: 1000}) == []
    assert no_longer_true(held_back, previous, {partition: 10}) == held_back
    assert no_longer_true(held_back, previous, {}) == []
