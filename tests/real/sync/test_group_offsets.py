"""Groups on the target follow those of the source, unless somebody uses them."""

from __future__ import annotations

import pytest
from confluent_kafka import TopicPartition as Position

from heliograph.mm2.checkpoint import Checkpoint
from heliograph.model import TopicPartition
from heliograph.sync.group_offsets import GroupSync, sync_group_offsets
from support.clusters.grouping import commit, committed, member
from support.flows.handmade import HandMade
from support.waiting import eventually


def synced(made: HandMade, *checkpoints: tuple[str, int, int]) -> GroupSync:
    """As if these (group, partition, downstream offset) had been emitted."""
    by_group: dict[str, dict[TopicPartition, Checkpoint]] = {}
    for group, number, downstream in checkpoints:
        checkpoint = Checkpoint(group, made.remote, number, 1000, downstream, "noted")
        by_group.setdefault(group, {})[checkpoint.topic_partition] = checkpoint
    return sync_group_offsets(made.target_client, by_group)


def test_an_absent_group_is_made_and_an_idle_one_moved_on_but_never_back(made: HandMade) -> None:
    """MirrorCheckpointTaskTest.testSyncOffset"""
    made.copy(20)
    made.copy(20, partition=1)
    commit(made.flow.target, made.group("idle"), {(made.remote, 0): 5, (made.remote, 1): 9})

    done = synced(
        made, (made.group("new"), 0, 7), (made.group("idle"), 0, 8), (made.group("idle"), 1, 8)
    )
    again = synced(made, (made.group("new"), 0, 7))

    assert (done.committed, done.problems) == (2, {})
    assert committed(made.flow.target, made.group("new"), made.remote) == [7]
    assert committed(made.flow.target, made.group("idle"), made.remote, 0, 1) == [8, 9]
    assert {d.reason for d in done.decisions} == {
        "has no offset on the target yet",
        "the target's 5 is behind",
        "the target's 9 is not behind 8",
    }
    assert again.committed == 0


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_group_in_use_is_left_alone_until_its_consumers_have_gone(
    made: HandMade, protocol: str
) -> None:
    made.copy(20)
    group = made.group(protocol)
    with member(made.flow.target, group, made.remote, protocol=protocol) as consumer:
        consumer.commit(asynchronous=False, offsets=[Position(made.remote, 0, 2)])
        during = synced(made, (group, 0, 10))
        while_used = committed(made.flow.target, group, made.remote)
    after = eventually(lambda: synced(made, (group, 0, 10)), lambda done: done.committed == 1)

    assert while_used == [2]
    assert (during.committed, during.problems) == (0, {})
    assert during.decisions[0].reason.startswith("in use on the target")
    assert after.decisions[0].reason == "the target's 2 is behind"
    assert committed(made.flow.target, group, made.remote) == [10]


def test_nothing_is_committed_past_the_log_end_or_where_there_is_no_partition(
    made: HandMade,
) -> None:
    made.copy(5)

    done = synced(made, (made.group(), 0, 6), (made.group(), 7, 0), (made.group("at-end"), 0, 5))

    assert done.committed == 1
    assert committed(made.flow.target, made.group("at-end"), made.remote) == [5]
    assert committed(made.flow.target, made.group(), made.remote)[0] < 0
    assert {d.reason for d in done.decisions if d.offset is None} == {
        "6 is past the target's log end 5",
        "the target has no such partition",
    }
