"""Plans the commits that move the target's groups to their checkpoints (KIP-545).

A group that is in use on the target is not changed. No group is moved past the log end, and none backwards,
unless it was moved in a log that does not exist any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from heliograph.mm2.checkpoint import Checkpoint
from heliograph.model import (
    CommittedOffset,
    GroupListing,
    GroupOffsets,
    TopicIdPair,
    TopicPartition,
)

_IDLE_STATES = frozenset({"Empty", "Dead"})
_TYPES = frozenset({"", "classic", "consumer"})

Checkpoints = Mapping[str, Mapping[TopicPartition, Checkpoint]]


class OffsetDecision(NamedTuple):
    """The decision on a group's offset on the target; `offset` None: not changed.

    `partition` None: the whole group.
    """

    group: str
    partition: TopicPartition | None
    offset: CommittedOffset | None
    reason: str


def why_left_alone(listing: GroupListing | None) -> str | None:
    """Why a group must not be changed on the target; None if it is idle or does not exist."""
    if listing is None:
        return None
    if listing.type.lower() not in _TYPES:
        return f"a {listing.type.lower()} group has that name on the target"
    if listing.state not in _IDLE_STATES:
        return f"in use on the target ({listing.state or 'state unknown'})"
    return None


def plan_group_offsets(checkpoints: Checkpoints, on_target: GroupOffsets) -> list[OffsetDecision]:
    """For idle and missing groups. A group that is not in `on_target` could not be read, and is skipped."""
    return [
        _decide(group, partition, checkpoint, on_target[group].get(partition))
        for group, its in checkpoints.items()
        if group in on_target
        for partition, checkpoint in its.items()
    ]


def _decide(
    group: str, partition: TopicPartition, checkpoint: Checkpoint, there: CommittedOffset | None
) -> OffsetDecision:
    # The most common case first.
    if there is not None and there.offset >= max(checkpoint.downstream, 0):
        reason = f"the target's {there.offset} is not behind {checkpoint.downstream}"
        return OffsetDecision(group, partition, None, reason)
    wanted = CommittedOffset(checkpoint.downstream, checkpoint.metadata)
    if there is None:
        return OffsetDecision(group, partition, wanted, "has no offset on the target yet")
    if there.offset < 0:  # Sarama can reset to -1, for example
        return OffsetDecision(group, partition, wanted, "was reset to no offset on the target")
    return OffsetDecision(group, partition, wanted, f"the target's {there.offset} is behind")


def plan_taking_back(
    void: Checkpoints, corrected: Checkpoints, on_target: GroupOffsets
) -> list[OffsetDecision]:
    """For idle groups whose checkpoints in `void` belong to a log that does not exist any more: an offset
    equal to such a checkpoint was committed by a mirror, and is set back to the corrected one. Brokers
    delete the offsets of a deleted topic, so this happens only if it was committed at that moment."""
    return [
        OffsetDecision(
            group,
            partition,
            CommittedOffset(right.downstream, right.metadata),
            f"the target's {stale.downstream} belongs to the topic that was deleted",
        )
        for group, its in void.items()
        for partition, stale in its.items()
        if (right := corrected.get(group, {}).get(partition)) is not None
        and (there := on_target.get(group, {}).get(partition)) is not None
        and there.offset == stale.downstream > right.downstream
    ]


def of_known_topics(
    decisions: Iterable[OffsetDecision],
    known: Mapping[str, str | None],
    found: Callable[[str], str | None],
) -> list[OffsetDecision]:
    """Drop commits for topics whose id is not the one that the checkpoints belong to."""

    def checked(decision: OffsetDecision) -> OffsetDecision:
        if decision.offset is None or decision.partition is None:
            return decision
        topic = decision.partition.topic
        if not TopicIdPair(target=known.get(topic)).differs(TopicIdPair(target=found(topic))):
            return decision
        reason = "the remote topic was created again; its checkpoints are corrected first"
        return decision._replace(offset=None, reason=reason)

    return [checked(decision) for decision in decisions]


def within_log_ends(
    decisions: Iterable[OffsetDecision], ends: Mapping[TopicPartition, int]
) -> list[OffsetDecision]:
    """Drop commits past the target's log end: consumers would have a negative lag, and reset their offset.

    That happens when a target topic was created again. `ends` lacks partitions that do not exist.
    """
    return [
        decision if decision.offset is None else _bounded(decision, ends) for decision in decisions
    ]


def _bounded(decision: OffsetDecision, ends: Mapping[TopicPartition, int]) -> OffsetDecision:
    if decision.offset is None or decision.partition is None:
        return decision
    end = ends.get(decision.partition)
    if end is None:
        return decision._replace(offset=None, reason="the target has no such partition")
    if decision.offset.offset > end:
        return decision._replace(
            offset=None, reason=f"{decision.offset.offset} is past the target's log end {end}"
        )
    return decision
