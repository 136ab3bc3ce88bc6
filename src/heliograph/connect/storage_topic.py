"""Creates the config and status topics of a Connect cluster."""

from __future__ import annotations

from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import InternalTopic
from heliograph.errors import ClientError
from heliograph.plan.internal_topics import PlacedTopic
from heliograph.sync.internal_topics import ensure_internal_topic


def ensure_storage_topic(cluster: ClusterClient, topic: InternalTopic, option: str) -> int:
    """Creates the topic if it is missing; returns the number of its partitions. Raises ClientError.

    `option` sets its replication factor, and is named if the brokers refuse it."""
    placed = PlacedTopic(topic=topic, alias=cluster.config.alias, option=option)
    problem = ensure_internal_topic(cluster, placed)
    if problem is not None:
        raise ClientError(problem)
    return cluster.metadata.partitions[topic.name]
