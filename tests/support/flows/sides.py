"""One flow's configuration and clients of its clusters; no Spark, nothing runs by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import FlowConfig
from heliograph.embedded import Cluster
from heliograph.model import ClusterConfig
from support.clusters.writing import admin, create_topics
from support.flows.mirroring import load_properties, new_alias
from support.waiting import PATIENCE_SECONDS


@dataclass
class Sides:
    """`alias` is the source's; the target is `b`."""

    alias: str
    source_cluster: Cluster
    target_cluster: Cluster
    source: ClusterClient
    target: ClusterClient
    folder: Path

    def flow(self, **settings: str) -> FlowConfig:
        """Mirrors topics named after the alias. Dots in `settings` are written as underscores."""
        name = f"{self.alias}->b"
        properties = {
            "clusters": f"{self.alias}, b",
            f"{self.alias}.bootstrap.servers": self.source_cluster.bootstrap_servers,
            "b.bootstrap.servers": self.target_cluster.bootstrap_servers,
            f"{name}.enabled": "true",
            f"{name}.topics": f"{self.alias}-.*",
            "replication.factor": "1",
            **{f"{name}.{key.replace('_', '.')}": value for key, value in settings.items()},
        }
        return load_properties(self.folder, properties).flow(name)

    def topic(
        self, name: str, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> str:
        """A topic on the source; its full name."""
        topic = f"{self.alias}-{name}"
        create_topics(self.source_cluster, {topic: partitions}, configs=configs)
        return topic

    def remote(self, topic: str) -> str:
        return f"{self.alias}.{topic}"

    def partitions(self, remote_topic: str) -> int:
        """On the target, as an independent client counts them."""
        topics = (
            admin(self.target_cluster).list_topics(remote_topic, timeout=PATIENCE_SECONDS).topics
        )
        return len(topics[remote_topic].partitions)


@contextmanager
def open_sides(test: str, source: Cluster, target: Cluster, folder: Path) -> Iterator[Sides]:
    alias = new_alias(test)
    source_client, target_client = (
        ClusterClient(
            ClusterConfig(alias=name, bootstrap_servers=(cluster.bootstrap_servers,)),
            client_id="test",
        )
        for name, cluster in ((alias, source), ("b", target))
    )
    try:
        yield Sides(alias, source, target, source_client, target_client, folder)
    finally:
        source_client.close()
        target_client.close()
