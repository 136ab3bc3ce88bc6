"""Two clusters and the flows between them, as upstream's integration tests have them, and their groups."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaError,
    TopicPartition,
)
from confluent_kafka.admin import ConfigResource, ResourceType

from heliograph.config.mirror_config import MirrorConfig
from heliograph.embedded import Cluster
from heliograph.mm2.checkpoint import Checkpoint, read_checkpoint
from heliograph.spark.session import LocalSpark
from support.clusters.reading import ends, offsets, read_all, topics_of
from support.clusters.writing import admin, create_topics, numbered, write
from support.flows.mirroring import FEW_PARTITIONS, Running, load_properties, running
from support.waiting import PATIENCE_SECONDS, eventually

PARTITIONS = 10
RECORDS_PER_PARTITION = 10
_INTERVALS = (
    "emit.checkpoints",
    "emit.heartbeats",
    "refresh.topics",
    "refresh.groups",
    "sync.topic.configs",
    "sync.group.offsets",
)
_FACTORS = (
    "offset.storage",
    "config.storage",
    "status.storage",
    "offset-syncs.topic",
    "checkpoints.topic",
    "heartbeats.topic",
)


class Pair:
    """`primary` and `backup` with aliases of this test's own, `p<n>` and `b<n>`."""

    def __init__(
        self, mark: str, primary: Cluster, backup: Cluster, spark: LocalSpark, folder: Path
    ) -> None:
        self.mark = mark
        self.primary = primary
        self.backup = backup
        self.primary_alias = f"p{mark}"
        self.backup_alias = f"b{mark}"
        self.spark = spark
        self.folder = folder

    @property
    def forth(self) -> str:
        return f"{self.primary_alias}->{self.backup_alias}"

    @property
    def back(self) -> str:
        return f"{self.backup_alias}->{self.primary_alias}"

    def topic(self, name: str = "test-topic-1") -> str:
        return f"t{self.mark}-{name}"

    def group(self, name: str = "consumer-group") -> str:
        return f"g{self.mark}-{name}"

    def remote(self, topic: str, alias: str | None = None) -> str:
        return f"{alias or self.primary_alias}.{topic}"

    def create(self, name: str = "test-topic-1", partitions: int = PARTITIONS) -> str:
        topic = self.topic(name)
        create_topics(self.primary, {topic: partitions})
        return topic

    def properties(self, extra: Mapping[str, str] | None = None, *, both: bool) -> dict[str, str]:
        """`extra` wins; heartbeats are off unless it says otherwise, since tests share the clusters."""
        written = {
            "clusters": f"{self.primary_alias}, {self.backup_alias}",
            f"{self.primary_alias}.bootstrap.servers": self.primary.bootstrap_servers,
            f"{self.backup_alias}.bootstrap.servers": self.backup.bootstrap_servers,
            f"{self.forth}.enabled": "true",
            f"{self.back}.enabled": str(both).lower(),
            "topics": rf"t{self.mark}-.*, [pb]{self.mark}\.t{self.mark}-.*",
            "groups": f"g{self.mark}-.*",
            "tasks.max": "4",
            "replication.factor": "1",
            "emit.heartbeats.enabled": "false",
            "sync.topic.acls.enabled": "false",
            f"{self.primary_alias}.offset.flush.interval.ms": "1000",
            f"{self.backup_alias}.offset.flush.interval.ms": "1000",
            "config.properties.exclude": r"delete\.retention\..*",
        }
        written |= {f"{name}.interval.seconds": "1" for name in _INTERVALS}
        written |= {f"{name}.replication.factor": "1" for name in _FACTORS}
        return written | FEW_PARTITIONS | dict(extra or {})

    def config(self, extra: Mapping[str, str] | None = None, *, both: bool = False) -> MirrorConfig:
        return load_properties(self.folder, self.properties(extra, both=both))

    @contextmanager
    def running(
        self, extra: Mapping[str, str] | None = None, *, both: bool = False
    ) -> Iterator[Running]:
        with running(self.spark, self.config(extra, both=both)) as mirror:
            yield mirror

    @contextmanager
    def running_as_written(self, properties: Mapping[str, str]) -> Iterator[Running]:
        with running(self.spark, load_properties(self.folder, properties)) as mirror:
            yield mirror

    # ── records, topics, configurations ──────────────────────────────────────────────────────

    def produce(self, topic: str, *, cluster: Cluster | None = None, first: int = 0) -> None:
        """10 records into each of 10 partitions."""
        numbers = range(first, first + RECORDS_PER_PARTITION)
        records = [r for p in range(PARTITIONS) for r in numbered(numbers, partition=p)]
        write(cluster or self.primary, topic, records)

    def wait_for_copies(self, topic: str, per_partition: int, *, on: Cluster | None = None) -> None:
        """Until each partition of a remote topic has so many records."""
        where = on or self.backup
        self.wait_for_topic(topic, on=where)
        eventually(
            lambda: ends(where, topic),
            lambda found: bool(found) and all(end >= per_partition for end in found.values()),
        )

    def wait_for_copies_of(self, topic: str, wanted: Mapping[int, int]) -> None:
        remote = self.remote(topic)
        self.wait_for_topic(remote)
        eventually(
            lambda: {p: end for p, end in ends(self.backup, remote).items() if p in wanted},
            lambda found: found == dict(wanted),
        )

    def wait_until_read(self, topic: str) -> None:
        """Until the mirror's stored offsets are at the end of every partition of the source."""
        wanted = {
            f'"partition":{p},"topic":"{topic}"': end - 1
            for p, end in ends(self.primary, topic).items()
        }
        offsets_topic = f"mm2-offsets.{self.primary_alias}.internal"
        self.wait_for_topic(offsets_topic)

        def stored() -> dict[str, int]:
            records = [r for rs in read_all(self.backup, offsets_topic).values() for r in rs]
            return {
                mark: json.loads(r.value)["offset"]
                for r in records
                for mark in wanted
                if r.key and r.value and mark in r.key.decode()
            }

        eventually(stored, lambda found: found == wanted)

    def end(self, topic: str, partition: int) -> int:
        return offsets(self.primary, topic, partition)[1]

    def wait_for_topic(self, topic: str, *, on: Cluster | None = None) -> None:
        where = on or self.backup
        eventually(lambda: topics_of(where), lambda found: topic in found)

    # ── groups and checkpoints ───────────────────────────────────────────────────────────────

    def checkpoints(
        self, *, on: Cluster | None = None, source: str | None = None
    ) -> list[Checkpoint]:
        """All checkpoints ever written, in order (the topic is young: nothing is compacted yet)."""
        topic = f"{source or self.primary_alias}.checkpoints.internal"
        where = on or self.backup
        if topic not in topics_of(where):
            return []
        records = read_all(where, topic)[0]
        found = [read_checkpoint(record.key, record.value) for record in records]
        assert all(isinstance(each, Checkpoint) for each in found), found
        return [each for each in found if isinstance(each, Checkpoint)]

    def wait_for_checkpoints(
        self,
        group: str,
        topic: str,
        partitions: int = PARTITIONS,
        *,
        above: int = -1,
        on: Cluster | None = None,
        source: str | None = None,
    ) -> dict[int, Checkpoint]:
        """Until every partition has one, with a downstream offset above the given one."""

        def newest() -> dict[int, Checkpoint]:
            return {
                c.partition: c
                for c in self.checkpoints(on=on, source=source)
                if (c.group, c.topic) == (group, topic) and c.downstream > above
            }

        return eventually(newest, lambda found: len(found) == partitions)

    def wait_for_group(
        self, cluster: Cluster, group: str, topic: str, wanted: Mapping[int, int]
    ) -> None:
        eventually(
            lambda: {p: o for p, o in committed(cluster, group, topic).items() if p in wanted},
            lambda found: found == dict(wanted),
        )


def committed(cluster: Cluster, group: str, topic: str) -> dict[int, int]:
    """What a group has committed for a topic, by partition."""
    request = [ConsumerGroupTopicPartitions(group)]
    client = admin(cluster)
    answer = client.list_consumer_group_offsets(request)[group].result(PATIENCE_SECONDS)
    return {
        each.partition: each.offset
        for each in answer.topic_partitions
        if each.topic == topic and each.offset >= 0
    }


def commit(cluster: Cluster, group: str, topic: str, wanted: Mapping[int, int]) -> None:
    """Set a group's offsets as `kafka-consumer-groups.sh --reset-offsets` does."""
    client = admin(cluster)

    def attempt() -> list[KafkaError]:
        partitions = [TopicPartition(topic, number, offset) for number, offset in wanted.items()]
        request = [ConsumerGroupTopicPartitions(group, partitions)]
        answer = client.alter_consumer_group_offsets(request)[group].result(PATIENCE_SECONDS)
        return [partition.error for partition in answer.topic_partitions if partition.error]

    # The first commit of all finds a coordinator that is just taking office.
    eventually(attempt, lambda errors: not errors)


def consume(cluster: Cluster, group: str, topic: str, count: int) -> list[tuple[int, int]]:
    """(partition, offset) of what a real member of the group reads before it commits and leaves."""
    consumer = member(cluster, group)
    try:
        consumer.subscribe([topic])
        found: list[tuple[int, int]] = []

        def read() -> list[tuple[int, int]]:
            for message in consumer.consume(1000, timeout=0.2):
                assert message.error() is None, message.error()
                found.append((message.partition(), message.offset()))
            return found

        eventually(read, lambda seen: len(seen) >= count)
        consumer.commit(asynchronous=False)
        return found
    finally:
        consumer.close()


def member(cluster: Cluster, group: str) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )


def topic_config(cluster: Cluster, topic: str) -> dict[str, str]:
    client = admin(cluster)
    resource = ConfigResource(ResourceType.TOPIC, topic)
    entries = client.describe_configs([resource])[resource].result(PATIENCE_SECONDS)
    return {name: entry.value for name, entry in entries.items()}


def assert_monotonic(checkpoints: list[Checkpoint]) -> None:
    """Downstream offsets of a group's partition never go back, in the order in which they were written."""
    newest: dict[tuple[str, str, int], Checkpoint] = {}
    for checkpoint in checkpoints:
        key = (checkpoint.group, checkpoint.topic, checkpoint.partition)
        before = newest.get(key)
        assert before is None or before.downstream <= checkpoint.downstream, (before, checkpoint)
        newest[key] = checkpoint
