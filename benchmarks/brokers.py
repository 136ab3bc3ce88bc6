"""The two clusters that every system mirrors between, and an ordinary client's view of them.

The harness talks to brokers with confluent-kafka only: what measures shares no code with what is
measured.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping

import psutil
from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    OffsetSpec,
)

from benchmarks.errors import BenchmarkError
from heliograph.embedded import PRODUCTION_JVM, Cluster, start_all, stop_all

_SETTINGS = {
    # Topics of a finished run must be off the disk before the next one starts.
    "log.segment.delete.delay.ms": "1000",
    # Kafka's default; embedded clusters have a smaller one, for small heaps.
    "log.cleaner.dedupe.buffer.size": str(128 * 1024 * 1024),
    "log.cleaner.backoff.ms": "1000",
}
#: librdkafka writes to stderr what is no news here, such as connections that brokers close.
QUIET = {"log_level": 2}

# Of a topic just made: its metadata is there before its leaders are.
_NOT_YET = (
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
)
# Of a topic made again under its old name: the client remembers the leader of the one before.
_OUTDATED = (KafkaError.UNKNOWN_LEADER_EPOCH, KafkaError.FENCED_LEADER_EPOCH)
_TIMEOUT_SECONDS = 30.0
_RETRY_SECONDS = 0.2
_SETTLE_SECONDS = 3.0


class Side:
    """One of the two clusters."""

    def __init__(self, name: str) -> None:
        self.cluster = Cluster(name, heap="1g", jvm_args=PRODUCTION_JVM, settings=_SETTINGS)
        self._admin: AdminClient | None = None

    @property
    def bootstrap(self) -> str:
        return self.cluster.bootstrap_servers

    @property
    def admin(self) -> AdminClient:
        if self._admin is None:
            self._admin = AdminClient({"bootstrap.servers": self.bootstrap, **QUIET})
        return self._admin

    def forget_admin(self) -> None:
        """Before the brokers go: librdkafka would complain of every lost connection."""
        self._admin = None

    def create(self, topic: str, partitions: int, configs: Mapping[str, str] | None = None) -> None:
        new = NewTopic(topic, partitions, replication_factor=1, config=dict(configs or {}))
        self.admin.create_topics([new])[topic].result(_TIMEOUT_SECONDS)

    def configure(self, topic: str, configs: Mapping[str, str | None]) -> None:
        """Sets settings of a topic; None takes a setting back to the broker's default."""
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
        self.admin.incremental_alter_configs([resource])[resource].result(_TIMEOUT_SECONDS)

    def partitions(self, topic: str) -> int:
        """0 for a topic that does not exist."""
        found = self.admin.list_topics(topic, timeout=_TIMEOUT_SECONDS).topics.get(topic)
        return 0 if found is None or found.error is not None else len(found.partitions)

    def delete_all_but(self, keep: Iterable[str]) -> None:
        """Deletes every topic that is neither in `keep` nor the brokers' own."""
        kept = set(keep)
        topics = self.admin.list_topics(timeout=_TIMEOUT_SECONDS).topics
        doomed = [name for name in topics if name not in kept and not name.startswith("__")]
        if doomed:
            for future in self.admin.delete_topics(doomed).values():
                future.result(_TIMEOUT_SECONDS)

    def delete_groups(self) -> None:
        """All consumer groups; brokers would keep those without topics for minutes."""
        listed = self.admin.list_consumer_groups().result(_TIMEOUT_SECONDS)
        groups = [group.group_id for group in listed.valid]
        if groups:
            for future in self.admin.delete_consumer_groups(groups).values():
                future.result(_TIMEOUT_SECONDS)

    def cpu_seconds(self) -> float:
        """What the brokers have used so far."""
        times = [psutil.Process(pid).cpu_times() for pid in self.cluster.pids.values()]
        return sum(each.user + each.system for each in times)


class LogEnds:
    """The log end offsets of one topic, asked in one request and added up.

    `committed`: only what readers of committed records see; the markers between them count.
    """

    def __init__(self, side: Side, topic: str, *, committed: bool = False) -> None:
        self._side = side
        self._topic = topic
        self._isolation = (
            IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
        )
        self._partitions: list[TopicPartition] = []

    def total(self) -> int:
        """Of a topic that nobody has deleted records from, the number of its records. 0 before it exists."""
        if not self._partitions:
            count = self._side.partitions(self._topic)
            self._partitions = [TopicPartition(self._topic, number) for number in range(count)]
        return self._sum(OffsetSpec.latest()) if self._partitions else 0

    def _sum(self, spec: OffsetSpec) -> int:
        deadline = time.monotonic() + _TIMEOUT_SECONDS
        while True:
            futures = self._side.admin.list_offsets(
                dict.fromkeys(self._partitions, spec), isolation_level=self._isolation
            )
            try:
                return sum(future.result(_TIMEOUT_SECONDS).offset for future in futures.values())
            except KafkaException as e:
                code = e.args[0].code()
                if code in _NOT_YET:
                    return 0
                if code not in _OUTDATED or time.monotonic() > deadline:
                    raise BenchmarkError(f"{self._topic}: offsets cannot be listed: {e}") from e
            self._side.forget_admin()
            time.sleep(_RETRY_SECONDS)


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
        """Leaves the source's topics in `keep`, nothing on the target, and no write-back to come.

        Without the sync, the kernel would write one system's records while the next one runs.
        """
        self.source.delete_all_but(keep)
        self.target.delete_all_but(())
        time.sleep(_SETTLE_SECONDS)
        os.sync()
