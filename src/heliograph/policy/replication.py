"""Which topics a flow mirrors: filter, internal topics, and cycles.

Mirrors `MirrorSourceConnector.shouldReplicateTopic` and `isCycle` of Kafka 4.3, with one refusal more.
A cycle that MM2 4.3 sees is one whose names are given consistently: `eu.orders` never goes back to eu.
If two mirrors call the same cluster by different names, or different clusters by the same one, 4.3
prefixes on and on (`A.A.A.heartbeats`, KAFKA-9914). Kafka 4.4 ended that by refusing every topic that
starts with the flow's own source alias, and with it topics that were merely named so. Here a topic is
refused when it holds the alias twice: every lap through a flow adds the alias of its source, so no
loop of any shape grows past that, and `eu.orders` on eu is mirrored as it was with 4.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from heliograph.policy.naming import ReplicationPolicy
from heliograph.policy.topic_filter import TopicFilter


class Hop(NamedTuple):
    """A cluster that a topic came from, and whether its name shows that (Identity's does not)."""

    source: str
    shown: bool


def hops(policy: ReplicationPolicy, topic: str) -> Iterator[Hop]:
    """The clusters that a topic's name says it came through, the nearest first."""
    while (source := policy.topic_source(topic)) is not None:
        upstream = policy.upstream_topic(topic)
        shown = upstream is not None and topic.count(source) > upstream.count(source)
        yield Hop(source, shown)
        if upstream is None or len(upstream) >= len(topic):
            return  # an unchanged name says nothing about the hops before this one
        topic = upstream


def is_cycle(
    policy: ReplicationPolicy, topic: str, target_alias: str, *, source_alias: str | None = None
) -> bool:
    """True if `topic` has been on the target before, by the rule of Kafka 4.3.

    With `source_alias`, by the rule of 4.4 (KAFKA-9914): what shows the flow's own source in its name
    is a cycle, too.
    """
    return any(
        hop.source == target_alias or (hop.shown and hop.source == source_alias)
        for hop in hops(policy, topic)
    )


def is_endless(policy: ReplicationPolicy, topic: str, source_alias: str) -> bool:
    """True if `topic` has twice been through a flow from `source_alias`."""
    return sum(hop == (source_alias, True) for hop in hops(policy, topic)) > 1


def why_endless(policy: ReplicationPolicy, topic: str, source_alias: str) -> str | None:
    """What to tell a user whose clusters mirror each other in a loop that aliases do not show."""
    if not is_endless(policy, topic, source_alias):
        return None
    return (
        f"it has been through a flow from {source_alias} twice, so mirrors run in a loop that would "
        f"lengthen its name for ever; give every cluster one alias in all mirrors, "
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
    """Why `topic` is not mirrored, or None if it is. Heartbeats pass the filter (KIP-1089)."""
    if policy.is_internal_topic(topic):
        return "an internal topic"
    if is_cycle(policy, topic, target_alias):
        return f"it came from {target_alias}; mirroring it back would make a cycle"
    if own_alias_is_cycle and is_cycle(policy, topic, target_alias, source_alias=source_alias):
        return f"it seems to come from {source_alias} itself, a cycle by the rule of Kafka 4.4"
    heartbeats = heartbeats_replication and policy.is_heartbeats_topic(topic)
    if not heartbeats and (reason := topic_filter.why_not(topic)) is not None:
        return reason
    return why_endless(policy, topic, source_alias)
