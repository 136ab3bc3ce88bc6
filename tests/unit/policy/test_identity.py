from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from heliograph.policy.identity import IdentityReplicationPolicy

POLICY = IdentityReplicationPolicy(source_alias="primary")


def test_topics_keep_their_name_and_heartbeats_are_prefixed() -> None:
    """MirrorClientTest.testIdentityReplicationTopicSource"""
    assert POLICY.format_remote_topic("primary", "topic1") == "topic1"
    assert POLICY.topic_source("topic1") == "primary"
    assert POLICY.format_remote_topic("backup", "heartbeats") == "backup.heartbeats"
    assert POLICY.topic_source("backup.heartbeats") == "backup"


def test_every_topic_is_remote_but_the_heartbeats_of_this_cluster() -> None:
    """MirrorClientTest.testIdentityReplicationRemoteTopics"""
    topics = ["topic1", "topic2", "topic3", "heartbeats", "backup.heartbeats"]

    remote = [topic for topic in topics if POLICY.topic_source(topic) is not None]

    assert remote == ["topic1", "topic2", "topic3", "backup.heartbeats"]


def test_heartbeats_are_told_over_several_hops() -> None:
    assert POLICY.original_topic("eu.us.heartbeats") == "heartbeats"
    assert POLICY.is_heartbeats_topic("eu.us.heartbeats")
    assert POLICY.upstream_topic("eu.us.heartbeats") == "us.heartbeats"


def test_what_only_ends_in_heartbeats_is_prefixed_too_as_in_mm2() -> None:
    assert POLICY.format_remote_topic("us", "my-heartbeats") == "us.my-heartbeats"
    assert not POLICY.is_heartbeats_topic("my-heartbeats")


def test_internal_topics_carry_the_alias_as_ever() -> None:
    assert POLICY.checkpoints_topic("us") == "us.checkpoints.internal"
    assert POLICY.offset_syncs_topic("eu") == "mm2-offset-syncs.eu.internal"
    assert POLICY.is_internal_topic("us.checkpoints.internal")


def test_without_an_alias_no_source_is_known() -> None:
    assert IdentityReplicationPolicy().topic_source("topic1") is None


@given(st.text(alphabet="ab.", min_size=1))
def test_the_original_topic_is_the_topic_itself(topic: str) -> None:
    assert POLICY.original_topic(topic) == topic
