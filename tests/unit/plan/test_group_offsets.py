"""When a group of the target is moved, by the cases of MM2's own tests and some that it lacks."""

from __future__ import annotations

import pytest

from heliograph.mm2.checkpoint import Checkpoint
from heliograph.model import CommittedOffset, GroupListing, GroupOffsets, TopicPartition
from heliograph.plan.group_offsets import (
    OffsetDecision,
    of_known_topics,
    plan_group_offsets,
    plan_taking_back,
    why_left_alone,
    within_log_ends,
)

T1 = TopicPartition("topic1", 0)
T2 = TopicPartition("topic2", 0)


def checkpoints(
    *made: tuple[str, TopicPartition, int, int],
) -> dict[str, dict[TopicPartition, Checkpoint]]:
    found: dict[str, dict[TopicPartition, Checkpoint]] = {}
    for group, partition, upstream, downstream in made:
        checkpoint = Checkpoint(group, *partition, upstream, downstream, "metadata")
        found.setdefault(group, {})[partition] = checkpoint
    return found


def commits(decisions: list[OffsetDecision]) -> GroupOffsets:
    found: GroupOffsets = {}
    for group, partition, offset, _ in decisions:
        if partition is not None and offset is not None:
            found.setdefault(group, {})[partition] = offset
    return found


def test_an_idle_group_that_is_behind_is_moved_on() -> None:
    """MirrorCheckpointTaskTest.testSyncOffset"""
    decisions = plan_group_offsets(
        checkpoints(("consumer1", T1, 200, 101), ("consumer2", T2, 100, 51)),
        {"consumer1": {T1: CommittedOffset(100)}, "consumer2": {T2: CommittedOffset(50)}},
    )

    assert commits(decisions) == {
        "consumer1": {T1: CommittedOffset(101, "metadata")},
        "consumer2": {T2: CommittedOffset(51, "metadata")},
    }
    assert decisions[0].reason == "the target's 100 is behind"


def test_an_offset_that_was_reset_to_none_is_set() -> None:
    """MirrorCheckpointTaskTest.testSyncOffsetForTargetGroupWithNullOffsetAndMetadata"""
    decisions = plan_group_offsets(
        checkpoints(("consumer", T1, 200, 101)), {"consumer": {T1: CommittedOffset(-1)}}
    )

    assert commits(decisions) == {"consumer": {T1: CommittedOffset(101, "metadata")}}
    assert decisions[0].reason == "was reset to no offset on the target"


def test_a_group_or_partition_that_the_target_lacks_is_made() -> None:
    decisions = plan_group_offsets(
        checkpoints(("new", T1, 5, 5), ("old", T1, 5, 5), ("old", T2, 6, 6)),
        {"new": {}, "old": {T1: CommittedOffset(5)}},
    )

    assert commits(decisions) == {
        "new": {T1: CommittedOffset(5, "metadata")},
        "old": {T2: CommittedOffset(6, "metadata")},
    }


@pytest.mark.parametrize("there", [101, 102, 5000])
def test_no_group_is_ever_moved_back(there: int) -> None:
    decisions = plan_group_offsets(
        checkpoints(("g", T1, 200, 101)), {"g": {T1: CommittedOffset(there)}}
    )

    assert commits(decisions) == {}
    assert decisions == [OffsetDecision("g", T1, None, f"the target's {there} is not behind 101")]


def test_a_group_whose_offsets_could_not_be_read_is_not_guessed_at() -> None:
    assert plan_group_offsets(checkpoints(("g", T1, 200, 101)), {}) == []


@pytest.mark.parametrize("state", ["Stable", "PreparingRebalance", "Assigning", "Reconciling", ""])
def test_a_group_in_use_is_left_alone(state: str) -> None:
    why = why_left_alone(GroupListing("g", "classic", "consumer", state))

    assert why is not None
    assert why.startswith("in use on the target")


@pytest.mark.parametrize("state", ["Empty", "Dead"])
def test_an_idle_group_and_one_that_is_not_there_may_be_moved(state: str) -> None:
    assert why_left_alone(GroupListing("g", "Consumer", "consumer", state)) is None
    assert why_left_alone(None) is None


def test_another_kind_of_group_of_that_name_is_left_alone() -> None:
    why = why_left_alone(GroupListing("g", "Share", "share", "Empty"))

    assert why == "a share group has that name on the target"


def test_nothing_is_committed_past_the_log_end() -> None:
    decisions = plan_group_offsets(checkpoints(("g", T1, 200, 101), ("g", T2, 10, 10)), {"g": {}})

    bounded = within_log_ends(decisions, {T1: 100, T2: 10})

    assert commits(bounded) == {"g": {T2: CommittedOffset(10, "metadata")}}
    assert bounded[0].reason == "101 is past the target's log end 100"


def test_nothing_is_committed_for_a_partition_that_is_not_there() -> None:
    decisions = plan_group_offsets(checkpoints(("g", T1, 200, 101)), {"g": {}})

    bounded = within_log_ends(decisions, {})

    assert commits(bounded) == {}
    assert bounded[0].reason == "the target has no such partition"


def test_a_group_that_was_moved_into_a_log_that_is_gone_goes_back_and_no_other() -> None:
    void = checkpoints(("moved", T1, 500, 500), ("read-on", T1, 500, 500), ("absent", T1, 500, 500))
    corrected = checkpoints(("moved", T1, 500, 0), ("read-on", T1, 500, 0), ("absent", T1, 500, 0))
    on_target: GroupOffsets = {
        "moved": {T1: CommittedOffset(500)},
        "read-on": {T1: CommittedOffset(40)},  # by its own consumers
        "absent": {},
    }

    decisions = plan_taking_back(void, corrected, on_target)

    assert commits(decisions) == {"moved": {T1: CommittedOffset(0, "metadata")}}


def test_nothing_is_committed_for_a_topic_that_the_checkpoints_are_not_about() -> None:
    planned = plan_group_offsets(checkpoints(("g", T1, 200, 101), ("g", T2, 100, 51)), {"g": {}})

    found = of_known_topics(planned, {"topic1": "old", "topic2": "same"}, {"topic1": "new"}.get)

    assert commits(found) == {"g": {T2: CommittedOffset(51, "metadata")}}
    assert "created again" in found[0].reason
