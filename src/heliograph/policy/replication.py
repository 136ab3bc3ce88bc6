"""Decides which topics a flow mirrors: filter, internal topics, and cycles.

As `MirrorSourceConnector.shouldReplicateTopic` and `isCycle` of Kafka 4.3, with one additional check. MM2
4.3 recognises a cycle if all mirrors use the same aliases: `eu.orders` is never mirrored back to eu. If two
mirrors use different aliases for one cluster, or one alias for different clusters, 4.3 adds prefixes without
end (`A.A.A.heartbeats`, KAFKA-9914). Kafka 4.4 fixed that by refusing every topic that starts with the
flow's own source alias, also topics that only happen to be named so. Here a topic is refused if it contains
that alias twice: each pass through a flow adds the alias of its source, so every loop ends there, and
`eu.orders` on eu is mirrored as with 4.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from heliograph.policy.naming import ReplicationPolicy
from heliograph.policy.topic_filter import TopicFilter


class Hop(NamedTuple):
    """A cluster that a topic came from, and whether the name shows it (not with Identity)."""

    source: str
    shown: bool


def hops(policy: ReplicationPolicy, topic: str) -> Iterator[Hop]:
    """The clusters in a topic's name, nearest first."""
    while (source := policy.topic_source(topic)) is not None:
        upstream = policy.upstream_topic(topic)
        shown = upstream is not None and topic.count(source) > upstream.count(source)
        yield Hop(source, shown)
        if upstream is None or len(upstream) >= len(topic):
            return  # an unchanged name does not show earlier hops
        topic = upstream


def is_cycle(
    policy: ReplicationPolicy, topic: str, target_alias: str, *, source_alias: str | None = None
) -> bool:
    """True if `topic` has been on the target before, by the rule of Kafka 4.3.

    With `source_alias`, by the rule of 4.4 (KAFKA-9914): a topic with the flow's own source in its name is a
    cycle, too.
    """
    return any(
        hop.source == target_alias or (hop.shown and hop.source == source_alias)
        for hop in hops(policy, topic)
    )


def is_endless(policy: ReplicationPolicy, topic: str, source_alias: str) -> bool:
    """True if the name of `topic` shows two passes through flows from `source_alias`."""
    return sum(hop == (source_alias, True) for hop in hops(policy, topic)) > 1


def why_endless(policy: ReplicationPolicy, topic: str, source_alias: str) -> str | None:
    """The problem of a topic in a loop that aliases do not show; None: there is none."""
    if not is_endless(policy, topic, source_alias):
        return None
    return (
        f"it has passed through a flow from {source_alias} twice, so mirrors form a loop that would "
        f"lengthen its name without end; use one alias per cluster in all mirrors, "
        f"or exclude the topic with topics.exclude"
    )


def why_not_replicated(
    topic: str,
    *,
    topic_filter: TopicFilter,
    policy: ReplicationPolicy,
    source_alias: str,
    target_alias: str,
    heartbeats_replication: bool = True,
    own_alias_is_cycle: bool = False,
) -> str | None:
    """Why `topic` is not mirrored; None: it is. Heartbeats bypass the filter (KIP-1089)."""
    if policy.is_internal_topic(topic):
        return "an internal topic"
    if is_cycle(policy, topic, target_alias):
        return f"it came from {target_alias}; mirroring it back would form a cycle"
    if own_alias_is_cycle and is_cycle(policy, topic, target_alias, source_alias=source_alias):
        return f"it seems to come from {source_alias} itself, a cycle by the rule of Kafka 4.4"
    heartbeats = heartbeats_replication and policy.is_heartbeats_topic(topic)
    if not heartbeats and (reason := topic_filter.why_not(topic)) is not None:
        return reason
    return why_endless(policy, topic, source_alias)
