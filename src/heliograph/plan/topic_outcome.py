"""Determines which topics are mirrored after the target has refused some actions of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from heliograph.counted import counted
from heliograph.errors import BrokerError
from heliograph.model import TopicIdPair
from heliograph.plan.topics import AddPartitions, CreateTopic, TopicAction, TopicPlan
from heliograph.wire.error_codes import ErrorCode

_AUTHORIZATION = frozenset(
    {ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.CLUSTER_AUTHORIZATION_FAILED}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicIds:
    """Ids of all topics found on the source and on the target, and of those `created` on the target since;
    None: not known."""

    source: Mapping[str, str | None] = field(default_factory=dict)
    target: Mapping[str, str | None] = field(default_factory=dict)
    created: Mapping[str, str | None] = field(default_factory=dict)

    def origin(self, topic: str, remote_topic: str) -> TopicIdPair:
        found = self.target.get(remote_topic)
        return TopicIdPair(self.source.get(topic), found or self.created.get(remote_topic))


@dataclass(frozen=True, slots=True, kw_only=True)
class MirroredTopics:
    """Source topics that have a remote topic, with the number of partitions that both have, and the problems
    of the others by source topic."""

    partitions: dict[str, int]
    problems: dict[str, str]
    ids: TopicIds = field(default_factory=TopicIds)


def outcome(
    plan: TopicPlan, source: Mapping[str, int], failed: Mapping[str, BrokerError]
) -> MirroredTopics:
    """`source` maps topics to partition counts, `failed` remote topics to errors.

    A topic that could not be created is not mirrored; one with fewer partitions than the source is mirrored
    for those that it has. A topic that was deleted meanwhile is no problem.
    """
    partitions = {topic: source[topic] for topic in plan.mirrored}
    problems = dict(plan.problems)
    for action in plan.actions:
        error = failed.get(action.topic)
        if error is None:
            continue
        if isinstance(action, AddPartitions):
            partitions[action.source_topic] = action.partitions_now
        else:
            del partitions[action.source_topic]
        if error.code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            problems[action.source_topic] = explain(action, error)
    return MirroredTopics(partitions=partitions, problems=problems)


def explain(action: TopicAction, error: BrokerError) -> str:
    """What is not mirrored, the broker's error, and the remedy."""
    if isinstance(action, AddPartitions):
        return (
            f"{action.source_topic}: {action.topic} has {counted(action.partitions_now, 'partition')} and "
            f"cannot get the source's {action.partitions}, so partitions from {action.partitions_now} on are "
            f"not mirrored ({error}); {_growth_remedy(action, error)}"
        )
    return f"{action.source_topic}: not mirrored: {error}; {_creation_remedy(action, error)}"


def _growth_remedy(action: AddPartitions, error: BrokerError) -> str:
    if error.code in _AUTHORIZATION:
        return f"grant ALTER on {action.topic}, or add the partitions yourself"
    return "add the partitions yourself"


def _creation_remedy(action: CreateTopic, error: BrokerError) -> str:
    by_hand = f"create {action.topic} with {counted(action.partitions, 'partition')} yourself"
    if error.code in _AUTHORIZATION:
        return (
            f"grant DESCRIBE_CONFIGS on {action.source_topic} and CREATE on {action.topic}, "
            f"or {by_hand}"
        )
    if error.code == ErrorCode.INVALID_REPLICATION_FACTOR:
        return (
            f"set replication.factor (now {action.replication_factor}) to what the target's brokers "
            "allow, or to -1 for their default"
        )
    if error.code == ErrorCode.INVALID_CONFIG:
        return f"keep the setting out with config.properties.exclude, or {by_hand}"
    if error.code == ErrorCode.POLICY_VIOLATION:
        return f"change what the target's policy objects to, or {by_hand}"
    if error.code == ErrorCode.INVALID_TOPIC_EXCEPTION:
        return "exclude it, or rename it with RenameReplicationPolicy"
    return by_hand
