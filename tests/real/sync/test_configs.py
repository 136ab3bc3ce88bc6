from __future__ import annotations

from heliograph.config.mirror_config import FlowConfig
from heliograph.sync.configs import ConfigChanges, sync_configs
from heliograph.sync.topics import sync_topics
from heliograph.wire.topic_configs import ConfigChange
from support.clusters.writing import (
    set_topic_config,
    topic_config,
    unset_topic_config,
    wait_for_config,
)
from support.flows.sides import Sides

# With eligible leader replicas (KIP-966) min.insync.replicas is a dynamic setting of the cluster.
EXCLUDE = r"delete\.retention\..*, min\.insync\.replicas"


def sync(sides: Sides, flow: FlowConfig, *topics: str) -> ConfigChanges:
    names = {topic: sides.remote(topic) for topic in topics}
    return sync_configs(flow, names, sides.source, sides.target)


def test_settings_follow_the_source_and_defaults_are_the_targets(sides: Sides) -> None:
    """What I9 testSyncTopicConfigs and I11 testReplicateTargetDefault ask for, in one round each."""
    flow = sides.flow(config_properties_exclude=EXCLUDE)
    topic = sides.topic("orders", configs={"retention.bytes": "1000", "delete.retention.ms": "1"})
    remote = sides.remote(topic)
    sync_topics(flow, flow.topic_filter(), sides.source, sides.target)
    set_topic_config(sides.target_cluster, remote, "retention.bytes", "2000")
    set_topic_config(sides.target_cluster, remote, "delete.retention.ms", "2")
    set_topic_config(sides.target_cluster, remote, "segment.bytes", "2000000")
    own = {"retention.bytes": "2000", "delete.retention.ms": "2", "segment.bytes": "2000000"}
    wait_for_config(sides.target_cluster, remote, own)

    first = sync(sides, flow, topic)

    assert first == ConfigChanges(
        applied={
            remote: [ConfigChange("retention.bytes", "1000"), ConfigChange("segment.bytes", None)]
        },
        problems={},
    )
    wait_for_config(
        sides.target_cluster, remote, {"retention.bytes": "1000", "segment.bytes": None}
    )
    assert topic_config(sides.target_cluster, remote) == {
        "retention.bytes": "1000",
        "delete.retention.ms": "2",
    }
    assert sync(sides, flow, topic) == ConfigChanges(applied={}, problems={})

    unset_topic_config(sides.source_cluster, topic, "retention.bytes")
    wait_for_config(sides.source_cluster, topic, {"retention.bytes": None})
    assert sync(sides, flow, topic).applied == {remote: [ConfigChange("retention.bytes", None)]}
    wait_for_config(sides.target_cluster, remote, {"retention.bytes": None})
    assert topic_config(sides.target_cluster, remote) == {"delete.retention.ms": "2"}


def test_the_sources_defaults_are_set_where_that_is_asked_for(sides: Sides) -> None:
    """What I10 testReplicateSourceDefault asks for, in one round."""
    flow = sides.flow(config_properties_exclude=EXCLUDE, use_defaults_from="source")
    topic = sides.topic("orders")
    remote = sides.remote(topic)
    sync_topics(flow, flow.topic_filter(), sides.source, sides.target)
    set_topic_config(sides.target_cluster, remote, "retention.bytes", "2000")
    set_topic_config(sides.target_cluster, remote, "delete.retention.ms", "2")
    own = {"retention.bytes": "2000", "delete.retention.ms": "2"}
    wait_for_config(sides.target_cluster, remote, own)

    changes = sync(sides, flow, topic)

    assert changes == ConfigChanges(
        applied={remote: [ConfigChange("retention.bytes", "-1")]}, problems={}
    )
    synced = {"retention.bytes": "-1", "delete.retention.ms": "2"}
    wait_for_config(sides.target_cluster, remote, synced)
    assert sync(sides, flow, topic).applied == {}


def test_a_topic_that_is_gone_is_no_problem_and_the_others_are_synced(sides: Sides) -> None:
    flow, topic = sides.flow(), sides.topic("orders")
    sync_topics(flow, flow.topic_filter(), sides.source, sides.target)
    set_topic_config(sides.source_cluster, topic, "retention.bytes", "1000")
    wait_for_config(sides.source_cluster, topic, {"retention.bytes": "1000"})

    changes = sync(sides, flow, topic, "gone")

    assert changes.applied.keys() == {sides.remote(topic)}
    assert changes.problems == {}
