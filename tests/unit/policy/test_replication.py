"""`MirrorSourceConnectorTest` asks a connector with source `source` and target `target`."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from heliograph.policy.identity import IdentityReplicationPolicy
from heliograph.policy.naming import DefaultReplicationPolicy, ReplicationPolicy
from heliograph.policy.rename import RenameReplicationPolicy, read_rename_rules
from heliograph.policy.replication import is_cycle, why_not_replicated
from heliograph.policy.topic_filter import DefaultTopicFilter

DEFAULT = DefaultReplicationPolicy()
IDENTITY = IdentityReplicationPolicy(source_alias="source")
EVERYTHING = DefaultTopicFilter.of([".*"], [])
NOTHING = DefaultTopicFilter.of([], [])


def replicated(
    topic: str,
    *,
    policy: ReplicationPolicy = DEFAULT,
    topic_filter: DefaultTopicFilter = EVERYTHING,
    heartbeats: bool = True,
    own_alias_is_cycle: bool = False,
) -> bool:
    reason = why_not_replicated(
        topic,
        topic_filter=topic_filter,
        policy=policy,
        source_alias="source",
        target_alias="target",
        heartbeats_replication=heartbeats,
        own_alias_is_cycle=own_alias_is_cycle,
    )
    return reason is None


def why_not(topic: str, topic_filter: DefaultTopicFilter = EVERYTHING) -> str | None:
    return why_not_replicated(
        topic,
        topic_filter=topic_filter,
        policy=DEFAULT,
        source_alias="source",
        target_alias="target",
    )


def test_heartbeats_are_replicated_by_default() -> None:
    """MirrorSourceConnectorTest.testReplicatesHeartbeatsByDefault"""
    assert replicated("heartbeats", topic_filter=DefaultTopicFilter.of())
    assert replicated("us-west.heartbeats", topic_filter=DefaultTopicFilter.of())


def test_heartbeats_are_replicated_despite_the_filter() -> None:
    """MirrorSourceConnectorTest.testReplicatesHeartbeatsDespiteFilter"""
    assert replicated("heartbeats", topic_filter=NOTHING)
    assert replicated("us-west.heartbeats", topic_filter=NOTHING)

    underscore = DefaultReplicationPolicy(separator="_")
    assert replicated("heartbeats", policy=underscore, topic_filter=NOTHING)
    assert not replicated("us-west.heartbeats", policy=underscore, topic_filter=NOTHING)


def test_heartbeats_are_not_replicated_when_disabled() -> None:
    """MirrorSourceConnectorTest.testDoesNotReplicateHeartbeatsWhenDisabled

    Upstream's unconfigured DefaultTopicFilter includes nothing.
    """
    assert not replicated("heartbeats", topic_filter=NOTHING, heartbeats=False)
    assert not replicated("us-west.heartbeats", topic_filter=NOTHING, heartbeats=False)


def test_heartbeats_are_replicated_when_disabled_but_the_filter_allows_them() -> None:
    """MirrorSourceConnectorTest.testReplicatesHeartbeatsWhenDisabledButFilterAllows"""
    assert replicated("heartbeats", heartbeats=False)
    assert replicated("us-west.heartbeats", heartbeats=False)


CYCLES = [
    "target.topic1",
    "target.source.topic1",
    "source.target.topic1",
    "target.source.target.topic1",
    "source.target.source.topic1",
]


def test_what_was_on_the_target_before_is_not_mirrored() -> None:
    """MirrorSourceConnectorTest.testNoCycles (4.3)"""
    assert not any(map(replicated, CYCLES))
    for topic in ["topic1", "source.topic1", "othersource.topic1", "other.another.topic1"]:
        assert replicated(topic)


def test_by_the_rule_of_4_4_what_came_from_the_source_is_a_cycle_too() -> None:
    """MirrorSourceConnectorTest.testNoCycles (4.4, KAFKA-9914)"""

    def cycle(topic: str, policy: ReplicationPolicy = DEFAULT) -> bool:
        return is_cycle(policy, topic, "target", source_alias="source")

    assert all(map(cycle, ["source.topic1", *CYCLES]))
    for topic in ["topic1", "othersource.topic1", "othertarget.topic1", "other.another.topic1"]:
        assert not cycle(topic)
    for topic in ["source.topic1", *CYCLES, "topic1", "othersource.topic1"]:
        assert not cycle(topic, IDENTITY)
    assert not replicated("source.topic1", own_alias_is_cycle=True)
    assert replicated("othersource.topic1", own_alias_is_cycle=True)


def test_identity_lets_topics_go_in_circles_but_not_heartbeats() -> None:
    """MirrorSourceConnectorTest.testIdentityReplication"""
    for topic in [*CYCLES, "topic1", "othersource.topic1", "heartbeats", "othersource.heartbeats"]:
        assert replicated(topic, policy=IDENTITY)
    for topic in CYCLES:
        heartbeats = topic.replace("topic1", "heartbeats")
        assert not replicated(heartbeats, policy=IDENTITY)


def test_a_policy_that_does_not_know_the_upstream_topic_finds_no_cycle() -> None:
    """MirrorSourceConnectorTest.testIsCycleWithNullUpstreamTopic"""

    @dataclass(frozen=True)
    class NullUpstream(DefaultReplicationPolicy):
        def upstream_topic(self, topic: str) -> str | None:
            return None

    assert not is_cycle(NullUpstream(), ".b", "target")
    assert is_cycle(NullUpstream(), "target.b", "target")


def test_a_name_that_grows_with_every_lap_is_stopped_at_the_second() -> None:
    """Two mirrors that both call their source `source` and their target `target` (KAFKA-9914)."""
    topic, names = "heartbeats", []
    while replicated(topic):
        topic = DEFAULT.format_remote_topic("source", topic)
        names.append(topic)

    assert names == ["source.heartbeats", "source.source.heartbeats"]
    assert (why_not(topic) or "").startswith("it has passed through a flow from source twice")


def test_a_longer_loop_with_foreign_aliases_is_stopped_too() -> None:
    assert replicated("c.b.source.orders")
    assert not replicated("c.b.source.c.b.source.orders")


@pytest.mark.parametrize("topic", ["com.acme.com.orders", "a.a.a.orders", "source.orders.eu"])
def test_dots_in_a_name_are_no_loop(topic: str) -> None:
    assert replicated(topic)


def test_a_policy_that_only_renames_sees_no_loop_in_names() -> None:
    renaming = RenameReplicationPolicy(
        source_alias="source", rules=read_rename_rules("(.*) => x.$1")
    )
    shortening = RenameReplicationPolicy(
        source_alias="source", rules=read_rename_rules("(.*)x => $1")
    )

    assert replicated("x.x.x.orders", policy=renaming)
    assert replicated("orders", policy=shortening)


def test_a_topic_that_is_not_mirrored_has_a_reason() -> None:
    orders = DefaultTopicFilter.of(["orders"])

    assert why_not("orders", orders) is None
    assert why_not("products", orders) == "topics does not match: orders"
    assert why_not("__consumer_offsets", orders) == "an internal topic"
    assert why_not("target.orders") == "it came from target; mirroring it back would form a cycle"
