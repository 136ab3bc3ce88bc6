"""Topic configurations follow the source (mm2.md I9 to I11)."""

from __future__ import annotations

from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from heliograph.embedded import Cluster
from support.clusters.writing import admin, set_topic_config
from support.flows.pair import Pair, topic_config
from support.waiting import PATIENCE_SECONDS, eventually


def wait_for_config(cluster: Cluster, topic: str, wanted: dict[str, str]) -> None:
    eventually(
        lambda: {key: topic_config(cluster, topic)[key] for key in wanted},
        lambda found: found == wanted,
    )


def test_an_included_setting_goes_back_to_the_sources_an_excluded_one_stays(pair: Pair) -> None:
    """I9 testSyncTopicConfigs"""
    topic = pair.create(partitions=1)
    remote = pair.remote(topic)
    set_topic_config(pair.primary, topic, "delete.retention.ms", "1000")  # excluded
    set_topic_config(pair.primary, topic, "retention.bytes", "1000")
    with pair.running():
        pair.wait_for_topic(remote)
        set_topic_config(pair.backup, remote, "delete.retention.ms", "2000")
        set_topic_config(pair.backup, remote, "retention.bytes", "2000")
        wait_for_config(
            pair.backup, remote, {"retention.bytes": "1000", "delete.retention.ms": "2000"}
        )


def test_a_target_setting_returns_to_the_sources_default_where_that_is_asked_for(
    pair: Pair,
) -> None:
    """I10 testReplicateSourceDefault"""
    topic = pair.create(partitions=1)
    remote = pair.remote(topic)
    default = topic_config(pair.primary, topic)["retention.bytes"]
    with pair.running({f"{pair.forth}.use.defaults.from": "source"}):
        pair.wait_for_topic(remote)
        set_topic_config(pair.backup, remote, "delete.retention.ms", "2000")
        set_topic_config(pair.backup, remote, "retention.bytes", "2000")
        wait_for_config(
            pair.backup, remote, {"retention.bytes": default, "delete.retention.ms": "2000"}
        )


def test_an_override_that_the_source_loses_is_deleted_on_the_target(pair: Pair) -> None:
    """I11 testReplicateTargetDefault"""
    topic = pair.create(partitions=1)
    remote = pair.remote(topic)
    set_topic_config(pair.primary, topic, "retention.bytes", "1000")
    with pair.running():
        pair.wait_for_topic(remote)
        wait_for_config(pair.backup, remote, {"retention.bytes": "1000"})
        _delete_topic_config(pair.primary, topic, "retention.bytes")
        wait_for_config(pair.backup, remote, {"retention.bytes": "-1"})


def _delete_topic_config(cluster: Cluster, topic: str, key: str) -> None:
    entry = ConfigEntry(key, None, incremental_operation=AlterConfigOpType.DELETE)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    client = admin(cluster)
    for done in client.incremental_alter_configs([resource]).values():
        done.result(PATIENCE_SECONDS)
