"""The cases of Kafka's MirrorClientTest, by name."""

from __future__ import annotations

import pytest

from heliograph.policy.identity import IdentityReplicationPolicy
from heliograph.policy.naming import DefaultReplicationPolicy
from heliograph.policy.remote_topics import (
    checkpoint_topics,
    count_hops,
    heartbeat_topics,
    remote_topics,
    replication_hops,
    upstream_clusters,
)

POLICY = DefaultReplicationPolicy()


def test_heartbeats_are_recognised_whatever_clusters_they_came_through() -> None:
    """MirrorClientTest.testIsHeartbeatTopic, heartbeatTopicsTest"""
    topics = {"heartbeats", "source1.heartbeats", "source2.source1.heartbeats"}
    others = {"heartbeats!", "!heartbeats", "source1heartbeats", "source1-heartbeats", "topic1"}

    assert heartbeat_topics(POLICY, topics | others) == topics


def test_checkpoints_are_recognised_by_their_ending() -> None:
    """MirrorClientTest.testIsCheckpointTopic, checkpointsTopicsTest"""
    topics = {"source1.checkpoints.internal", "source2.source1.checkpoints.internal"}
    others = {
        *("checkpoints.internal", "checkpoints-internal", "checkpoints.internal!"),
        *("!checkpoints.internal", "source1checkpointsinternal", "topic1"),
    }

    assert checkpoint_topics(POLICY, topics | others) == topics


@pytest.mark.parametrize(
    ("topic", "alias", "hops"),
    [
        ("topic", "source", -1),
        ("source", "source", -1),
        ("sourcetopic", "source", -1),
        ("source1.topic", "source2", -1),
        ("source1.topic", "source1", 1),
        ("source2.source1.topic", "source2", 1),
        ("source2.source1.topic", "source1", 2),
        ("source3.source2.source1.topic", "source1", 3),
        ("source3.source2.source1.topic", "source4", -1),
        ("a.b.a.c.topic", "c", -1),  # a has come round: whatever follows is not counted
    ],
)
def test_hops_are_counted_from_the_topic_name(topic: str, alias: str, hops: int) -> None:
    """MirrorClientTest.countHopsForTopicTest"""
    assert count_hops(POLICY, topic, alias) == hops


def test_the_shortest_way_counts() -> None:
    """MirrorClientTest.replicationHopsTest"""
    topics = [
        *("topic1", "heartbeats", "source1.heartbeats", "source1.source2.heartbeats"),
        *("source3.heartbeats", "source4.source3.heartbeats"),
    ]

    hops = {n: replication_hops(POLICY, topics, f"source{n}") for n in range(1, 6)}

    assert hops == {1: 1, 2: 2, 3: 1, 4: 1, 5: -1}


def test_all_clusters_on_the_way_of_heartbeats_are_upstream() -> None:
    """MirrorClientTest.upstreamClustersTest"""
    topics = [
        *("topic1", "sourceX.topic2", "heartbeats", "source1.heartbeats"),
        *("source1.source2.heartbeats", "source3.source4.source5.heartbeats"),
    ]

    assert upstream_clusters(POLICY, topics) == {f"source{n}" for n in range(1, 6)}


@pytest.mark.parametrize("separator", [".", "__"])
def test_remote_topics_have_a_source_in_their_name(separator: str) -> None:
    """MirrorClientTest.remoteTopicsTest, remoteTopicsSeparatorTest"""
    policy = DefaultReplicationPolicy(separator=separator)
    local = {"topic1", "topic2", "topic3", f"source1{separator}checkpoints{separator}internal"}
    remote = {
        separator.join(parts)
        for parts in (
            ("source1", "topic4"),
            ("source1", "source2", "topic5"),
            ("source3", "source4", "source5", "topic6"),
        )
    }

    assert remote_topics(policy, local | remote) == remote
    assert len(remote_topics(policy, local | remote, "source1")) == 2
    assert remote_topics(policy, local | remote, "source2") == set()


def test_names_that_are_kept_tell_nothing_but_those_of_heartbeats() -> None:
    """MirrorClientTest.testIdentityReplicationUpstreamClusters, testIdentityReplicationRemoteTopics"""
    policy = IdentityReplicationPolicy(source_alias="source")
    plain = {"topic1", "topic2", "topic3"}
    heartbeats = {"source1.heartbeats", "source1.source2.heartbeats", "a.b.c.heartbeats"}
    topics = {*plain, "heartbeats", *heartbeats}

    assert upstream_clusters(policy, topics) == {"source1", "source2", "a", "b", "c"}
    assert remote_topics(policy, topics) == plain | heartbeats
    assert count_hops(policy, "topic1", "source") == 1
    assert count_hops(policy, "topic1", "elsewhere") == -1
