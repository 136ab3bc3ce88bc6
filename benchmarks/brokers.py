"""The two clusters that every system mirrors between."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping

import psutil
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic

from harness.cluster_side import TIMEOUT_SECONDS, ClusterSide
from heliograph.embedded import PRODUCTION_JVM, Cluster, start_all, stop_all

_SETTINGS = {
    # Topics of a finished run must be off the disk before the next run starts.
    "log.segment.delete.delay.ms": "1000",
    # Kafka's default; embedded clusters have a smaller one, for small heaps.
    "log.cleaner.dedupe.buffer.size": str(128 * 1024 * 1024),
    "log.cleaner.backoff.ms": "1000",
}
_SETTLE_SECONDS = 3.0


class Side(ClusterSide):
    """One of the two clusters."""

    def __init__(self, name: str) -> None:
        self.cluster = Cluster(name, heap="1g", jvm_args=PRODUCTION_JVM, settings=_SETTINGS)
        super().__init__(lambda: self.bootstrap)

    @property
    def bootstrap(self) -> str:
        return self.cluster.bootstrap_servers

    def create(self, topic: str, partitions: int, configs: Mapping[str, str] | None = None) -> None:
        new = NewTopic(topic, partitions, replication_factor=1, config=dict(configs or {}))
        self.create_topics([new])

    def configure(self, topic: str, configs: Mapping[str, str | None]) -> None:
        """Sets settings of a topic; None restores the broker's default."""
        entries = [
            ConfigEntry(
                name,
                value,
                incremental_operation=AlterConfigOpType.DELETE
                if value is None
                else AlterConfigOpType.SET,
            )
            for name, value in configs.items()
        ]
        resource = ConfigResource("topic", topic, incremental_configs=entries)
        self.admin.incremental_alter_configs([resource])[resource].result(TIMEOUT_SECONDS)

    def delete_groups(self) -> None:
        """Deletes all consumer groups; brokers would keep those without topics for minutes."""
        listed = self.admin.list_consumer_groups().result(TIMEOUT_SECONDS)
        groups = [group.group_id for group in listed.valid]
        if groups:
            for future in self.admin.delete_consumer_groups(groups).values():
                future.result(TIMEOUT_SECONDS)

    def cpu_seconds(self) -> float:
        """CPU seconds of the brokers so far."""
        times = [psutil.Process(pid).cpu_times() for pid in self.cluster.pids.values()]
        return sum(each.user + each.system for each in times)


class Brokers:
    """Source and target, one node each, with the JVM flags of Kafka's own start script."""

    def __init__(self) -> None:
        self.source = Side("source")
        self.target = Side("target")

    def __enter__(self) -> Brokers:
        start_all([self.source.cluster, self.target.cluster])
        return self

    def __exit__(self, *_: object) -> None:
        self.source.forget_admin()
        self.target.forget_admin()
        stop_all([self.source.cluster, self.target.cluster])

    def cpu_seconds(self) -> float:
        return self.source.cpu_seconds() + self.target.cpu_seconds()

    def clean(self, keep: Iterable[str]) -> None:
        """Deletes all topics but the source's `keep`, and syncs the disk.

        Without the sync, the kernel would write one system's records back while the next one runs.
        """
        self.source.delete_all_but(keep)
        self.target.delete_all_but(())
        time.sleep(_SETTLE_SECONDS)
        os.sync()
