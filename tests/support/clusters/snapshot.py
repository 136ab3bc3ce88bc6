"""Everything a command could change on a cluster, as an independent client sees it."""

from __future__ import annotations

from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import (
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ConfigResource,
    OffsetSpec,
    ResourcePatternType,
    ResourceType,
)

from heliograph.embedded import Cluster
from support.clusters.writing import admin
from support.waiting import PATIENCE_SECONDS

_SET_ON_THE_TOPIC = 1


def snapshot(cluster: Cluster) -> dict[str, Any]:
    """Topics, their settings and log ends, ACLs, groups and their offsets."""
    client = admin(cluster)
    topics = {
        name: len(topic.partitions)
        for name, topic in client.list_topics(timeout=PATIENCE_SECONDS).topics.items()
    }
    return {
        "topics": topics,
        "configs": _configs(client, list(topics)),
        "ends": _ends(client, topics),
        "acls": _acls(client),
        "groups": _groups(client),
    }


def _configs(client: AdminClient, topics: list[str]) -> dict[str, dict[str, str]]:
    asked = client.describe_configs([ConfigResource(ResourceType.TOPIC, name) for name in topics])
    return {
        resource.name: {
            name: entry.value
            for name, entry in answer.result(PATIENCE_SECONDS).items()
            if entry.source == _SET_ON_THE_TOPIC
        }
        for resource, answer in asked.items()
    }


def _ends(client: AdminClient, topics: dict[str, int]) -> dict[tuple[str, int], int]:
    wanted = {
        TopicPartition(name, number): OffsetSpec.latest()
        for name, count in topics.items()
        for number in range(count)
        if name != "__consumer_offsets"  # brokers write there on their own
    }
    return {
        (partition.topic, partition.partition): answer.result(PATIENCE_SECONDS).offset
        for partition, answer in client.list_offsets(wanted).items()
    }


def _acls(client: AdminClient) -> set[str]:
    everything = AclBindingFilter(
        *(ResourceType.ANY, None, ResourcePatternType.ANY, None, None),
        *(AclOperation.ANY, AclPermissionType.ANY),
    )
    try:
        return {str(acl) for acl in client.describe_acls(everything).result(PATIENCE_SECONDS)}
    except KafkaException:  # no authorizer, no ACLs
        return set()


def _groups(client: AdminClient) -> dict[str, dict[tuple[str, int], int]]:
    listed = client.list_consumer_groups().result(PATIENCE_SECONDS).valid
    found = {}
    for group in (each.group_id for each in listed):
        asked = client.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])
        offsets = asked[group].result(PATIENCE_SECONDS).topic_partitions
        found[group] = {(p.topic, p.partition): p.offset for p in offsets}
    return found
