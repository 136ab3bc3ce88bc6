from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.policy.naming import DefaultReplicationPolicy

POLICY = DefaultReplicationPolicy()
NAMES = st.text(alphabet="ab-._", min_size=1, max_size=12)


def java_topic_source(topic: str, separator: str) -> str | None:
    """`topic.split(Pattern.quote(separator))` with its rule for empty parts at the end."""
    parts = re.split(re.escape(separator), topic)
    while parts and not parts[-1]:
        parts.pop()
    return parts[0] if len(parts) >= 2 else None


@pytest.mark.parametrize(
    ("topic", "source", "upstream"),
    [
        ("us.orders", "us", "orders"),
        ("eu.us.orders", "eu", "us.orders"),
        ("orders", None, None),
        ("orders.", None, None),
        (".orders", "", "orders"),
        ("..", None, None),
    ],
)
def test_source_and_upstream_of_a_topic(
    topic: str, source: str | None, upstream: str | None
) -> None:
    assert POLICY.topic_source(topic) == source
    assert POLICY.upstream_topic(topic) == upstream


@given(NAMES, st.sampled_from([".", "_", "__", "-"]))
def test_the_source_is_what_javas_split_makes_of_it(topic: str, separator: str) -> None:
    policy = DefaultReplicationPolicy(separator=separator)

    assert policy.topic_source(topic) == java_topic_source(topic, separator)


@given(st.text(alphabet="xyz", min_size=1), st.text(alphabet="abc", min_size=1))
def test_a_remote_topic_can_be_taken_apart_again(alias: str, topic: str) -> None:
    remote = POLICY.format_remote_topic(alias, topic)

    assert (POLICY.topic_source(remote), POLICY.upstream_topic(remote)) == (alias, topic)


def test_the_original_topic_is_found_over_several_hops() -> None:
    assert POLICY.original_topic("eu.us.orders") == "orders"
    assert POLICY.is_heartbeats_topic("eu.us.heartbeats")
    assert not POLICY.is_heartbeats_topic("heartbeats.eu")


def test_heartbeats_topics_by_their_original_topic() -> None:
    """MirrorClientTest.testIsHeartbeatTopic"""
    for topic in ["heartbeats", "source1.heartbeats", "source2.source1.heartbeats"]:
        assert POLICY.is_heartbeats_topic(topic)
    for topic in ["heartbeats!", "!heartbeats", "source1heartbeats", "source1-heartbeats"]:
        assert not POLICY.is_heartbeats_topic(topic)


def test_checkpoints_topics_by_their_suffix() -> None:
    """MirrorClientTest.testIsCheckpointTopic"""
    assert POLICY.is_checkpoints_topic("source1.checkpoints.internal")
    for topic in [
        "checkpoints.internal",
        "checkpoints-internal",
        "checkpoints.internal!",
        "!checkpoints.internal",
        "source1checkpointsinternal",
    ]:
        assert not POLICY.is_checkpoints_topic(topic)


def test_internal_topics_by_the_rules_of_4_0() -> None:
    """ReplicationPolicyTest.testInternalTopic"""
    internal = [
        "mm2-offsets.us.internal",
        "mm2-offset-syncs.eu.internal",
        "us.checkpoints.internal",
        "__consumer_offsets",
        ".hidden",
    ]

    assert all(map(POLICY.is_internal_topic, internal))
    assert not POLICY.is_internal_topic("billing.internal")
    assert not POLICY.is_internal_topic("billing-internal")
    assert not POLICY.is_internal_topic("mm2-offsets_us_internal")


def test_internal_topics_follow_the_separator_only_if_told_so() -> None:
    """ReplicationPolicyTest.offsetSyncsTopic_shouldBeEffectedByInternalTopicSeparatorEnabled,
    checkpointsTopic_…, heartbeatsTopic_shouldNotBeEffectedByInternalTopicSeparatorConfig"""
    follows = DefaultReplicationPolicy(separator="_")
    stays = DefaultReplicationPolicy(separator="_", internal_topic_separator_enabled=False)

    assert follows.offset_syncs_topic("eu") == "mm2-offset-syncs_eu_internal"
    assert follows.checkpoints_topic("us") == "us_checkpoints_internal"
    assert stays.offset_syncs_topic("eu") == "mm2-offset-syncs.eu.internal"
    assert stays.is_checkpoints_topic("us.checkpoints.internal")
    assert stays.format_remote_topic("us", "orders") == "us_orders"
    assert follows.heartbeats_topic() == stays.heartbeats_topic() == "heartbeats"
