"""Derives upstream clusters and hops from the topic names of a cluster (as MM2's `MirrorClient`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from heliograph.policy.naming import ReplicationPolicy


def sources(policy: ReplicationPolicy, topic: str) -> Iterator[str]:
    """The aliases that `topic` came through, nearest first.

    Ends at the first repeated alias: a policy that keeps names does not show where a topic began.
    """
    seen: set[str] = set()
    while (source := policy.topic_source(topic)) is not None and source not in seen:
        yield source
        seen.add(source)
        upstream = policy.upstream_topic(topic)
        if upstream is None:
            return
        topic = upstream


def count_hops(policy: ReplicationPolicy, topic: str, alias: str) -> int:
    """1 if `topic` was mirrored from the cluster `alias`, 2 if through another cluster; -1 if not at all."""
    return next((hops for hops, s in enumerate(sources(policy, topic), 1) if s == alias), -1)


def replication_hops(policy: ReplicationPolicy, topics: Iterable[str], alias: str) -> int:
    """The hops on the shortest path of heartbeats from the cluster `alias`; -1 if none arrive."""
    hops = [count_hops(policy, topic, alias) for topic in heartbeat_topics(policy, topics)]
    return min((count for count in hops if count != -1), default=-1)


def upstream_clusters(policy: ReplicationPolicy, topics: Iterable[str]) -> set[str]:
    """Every cluster whose heartbeats arrive, at any number of hops."""
    return {s for topic in heartbeat_topics(policy, topics) for s in sources(policy, topic)}


def heartbeat_topics(policy: ReplicationPolicy, topics: Iterable[str]) -> set[str]:
    return {topic for topic in topics if policy.is_heartbeats_topic(topic)}


def checkpoint_topics(policy: ReplicationPolicy, topics: Iterable[str]) -> set[str]:
    return {topic for topic in topics if policy.is_checkpoints_topic(topic)}


def remote_topics(
    policy: ReplicationPolicy, topics: Iterable[str], source: str | None = None
) -> set[str]:
    """Mirrored topics without internal ones; with `source`, those that came directly from it."""
    found = {
        topic: policy.topic_source(topic) for topic in topics if not policy.is_internal_topic(topic)
    }
    return {
        topic
        for topic, alias in found.items()
        if alias is not None and (source is None or alias == source)
    }
