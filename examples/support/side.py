"""One cluster of a story, seen by an administrator and by a client that shares no code with Heliograph."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewTopic,
    OffsetSpec,
    ResourcePatternType,
    ResourceType,
)

from examples.support.protocol import PATIENCE_SECONDS, StoryFailed
from harness.cluster_side import QUIET, ClusterSide
from heliograph.embedded import Cluster

#: Of a client that mirrors into topics that exist; creating them is another right.
USER_RIGHTS = {
    ResourceType.TOPIC: ("READ", "WRITE", "DESCRIBE", "DESCRIBE_CONFIGS"),
    ResourceType.GROUP: ("READ", "DESCRIBE"),
    ResourceType.BROKER: ("DESCRIBE",),
}
CREATE_RIGHTS = {
    ResourceType.TOPIC: ("CREATE", "ALTER", "ALTER_CONFIGS"),
    ResourceType.BROKER: ("CREATE", "ALTER"),  # ALTER: to copy ACLs
}
#: The answers of brokers about a topic that has just been created.
_ELECTING = (
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
)
_KAFKAS_OWN = {"__consumer_offsets", "__transaction_state", "__share_group_state"}


class Record(NamedTuple):
    """As a consumer sees it."""

    partition: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


class Topic(NamedTuple):
    partitions: int
    replicas: int


class Side(ClusterSide):
    def __init__(self, cluster: Cluster) -> None:
        super().__init__(lambda: cluster.bootstrap_servers)
        self.cluster = cluster

    def bootstrap(self, listener: str = "CLIENT") -> str:
        return self.cluster.bootstrap(listener)

    def client_settings(self) -> dict[str, object]:
        return {"bootstrap.servers": self.cluster.bootstrap_servers, **QUIET}

    def topics(self) -> dict[str, Topic]:
        """All but those that Kafka itself has."""
        found = self.admin.list_topics(timeout=PATIENCE_SECONDS).topics
        return {
            name: Topic(len(each.partitions), len(each.partitions[0].replicas))
            for name, each in sorted(found.items())
            if name not in _KAFKAS_OWN and each.partitions
        }

    def partitions(self, topic: str, timeout: float = PATIENCE_SECONDS) -> int:
        """By the list of all topics: a request for one topic may create it."""
        found = self.admin.list_topics(timeout=timeout).topics.get(topic)
        return 0 if found is None else len(found.partitions)

    def create(
        self,
        name: str,
        partitions: int = 1,
        replicas: int = -1,
        config: Mapping[str, str] | None = None,
    ) -> None:
        """Returns when a broker shows it."""
        self.create_topics([NewTopic(name, partitions, replicas, config=dict(config or {}))])
        while self.partitions(name) != partitions:
            time.sleep(0.05)

    def delete(self, topic: str) -> None:
        """Returns when no broker shows it."""
        self.admin.delete_topics([topic])[topic].result(PATIENCE_SECONDS)
        while self.partitions(topic):
            time.sleep(0.05)

    def config(self, topic: str) -> dict[str, str]:
        """The settings of the topic itself."""
        resource = ConfigResource(ResourceType.TOPIC, topic)
        found = self.admin.describe_configs([resource])[resource].result(PATIENCE_SECONDS)
        own = ConfigSource.DYNAMIC_TOPIC_CONFIG.value
        return {name: each.value for name, each in found.items() if each.source == own}

    def set_config(self, topic: str, name: str, value: str) -> None:
        entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
        self.admin.incremental_alter_configs([resource])[resource].result(PATIENCE_SECONDS)

    def produce(
        self,
        topic: str,
        values: Sequence[bytes],
        *,
        partition: int = -1,
        headers: Sequence[tuple[str, bytes | None]] = (),
    ) -> None:
        producer = Producer({**self.client_settings(), "linger.ms": 5})
        for value in values:
            producer.produce(topic, value, partition=partition, headers=list(headers) or None)
        if producer.flush(PATIENCE_SECONDS):
            raise StoryFailed(f"topic {topic}: records could not be written")

    def count(self, topic: str) -> int:
        """Records by log ends; 0 before the topic exists and has leaders."""
        partitions = [TopicPartition(topic, number) for number in range(self.partitions(topic))]
        if not partitions:
            return 0
        try:
            ends, starts = (
                sum(done.result(PATIENCE_SECONDS).offset for done in asked.values())
                for asked in (
                    self.admin.list_offsets(dict.fromkeys(partitions, spec()))
                    for spec in (OffsetSpec.latest, OffsetSpec.earliest)
                )
            )
        except KafkaException as e:
            if e.args[0].code() not in _ELECTING:
                raise
            return 0
        return int(ends - starts)

    def records(self, topic: str) -> list[Record]:
        """All of them, by partition."""
        consumer = Consumer(
            {
                **self.client_settings(),
                "group.id": "reader",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
            }
        )
        waiting = set(range(self.partitions(topic)))
        found: list[Record] = []
        try:
            consumer.assign([TopicPartition(topic, each, OFFSET_BEGINNING) for each in waiting])
            deadline = time.monotonic() + PATIENCE_SECONDS
            while waiting and time.monotonic() < deadline:
                for message in consumer.consume(1000, timeout=0.1):
                    if message.error() is None:
                        found.append(_record(message))
                    elif message.error().code() == KafkaError._PARTITION_EOF:
                        waiting.discard(message.partition())
        finally:
            consumer.close()
        return sorted(found, key=lambda each: each.partition)

    def groups(self) -> dict[str, str]:
        """Groups of consumers (not of Connect workers), by name, with their state."""
        listed = self.admin.list_consumer_groups().result(PATIENCE_SECONDS).valid
        return {each.group_id: each.state.name for each in listed if each.group_id != "reader"}

    def committed(self, group: str) -> dict[tuple[str, int], int]:
        asked = ConsumerGroupTopicPartitions(group)
        answer = self.admin.list_consumer_group_offsets([asked])[group].result(PATIENCE_SECONDS)
        return {(p.topic, p.partition): p.offset for p in answer.topic_partitions if p.offset >= 0}

    def grant(self, user: str, *, create: bool) -> None:
        """Rights of Event Streams' or Event Hubs' users; with Manage, they may create topics, too."""
        rights = [USER_RIGHTS, *([CREATE_RIGHTS] if create else [])]
        self.add_acls(
            [
                _acl(
                    kind,
                    "*" if kind is not ResourceType.BROKER else "kafka-cluster",
                    user,
                    operation,
                )
                for each in rights
                for kind, operations in each.items()
                for operation in operations
            ]
        )

    def allow_read(self, user: str, topic: str) -> None:
        self.add_acls([_acl(ResourceType.TOPIC, topic, user, "READ")])

    def add_acls(self, acls: Sequence[AclBinding]) -> None:
        for done in self.admin.create_acls(list(acls)).values():
            done.result(PATIENCE_SECONDS)

    def readers(self, topic: str) -> list[str]:
        """Users with an ACL to read this very topic."""
        wanted = AclBindingFilter(
            ResourceType.TOPIC,
            topic,
            ResourcePatternType.LITERAL,
            None,
            None,
            AclOperation.READ,
            AclPermissionType.ALLOW,
        )
        return sorted(
            {acl.principal for acl in self.admin.describe_acls(wanted).result(PATIENCE_SECONDS)}
        )

    def clean(self) -> None:
        """As it was before the story: no topics, groups or ACLs."""
        if doomed := list(self.topics()):
            for gone in self.admin.delete_topics(doomed).values():
                gone.result(PATIENCE_SECONDS)
        listed = self.admin.list_consumer_groups().result(PATIENCE_SECONDS).valid
        if groups := [each.group_id for each in listed]:
            for done in self.admin.delete_consumer_groups(groups).values():
                done.exception(
                    PATIENCE_SECONDS
                )  # one whose last member has just left may be in use
        everything = AclBindingFilter(
            ResourceType.ANY,
            None,
            ResourcePatternType.ANY,
            None,
            None,
            AclOperation.ANY,
            AclPermissionType.ANY,
        )
        for removed in self.admin.delete_acls([everything]).values():
            removed.result(PATIENCE_SECONDS)
        self.forget_admin()


def _record(message: object) -> Record:
    return Record(
        message.partition(),  # type: ignore[attr-defined]
        message.timestamp()[1],  # type: ignore[attr-defined]
        message.key(),  # type: ignore[attr-defined]
        message.value(),  # type: ignore[attr-defined]
        tuple(message.headers() or ()),  # type: ignore[attr-defined]
    )


def _acl(kind: ResourceType, name: str, user: str, operation: str) -> AclBinding:
    return AclBinding(
        kind,
        name,
        ResourcePatternType.LITERAL,
        f"User:{user}",
        "*",
        AclOperation[operation],
        AclPermissionType.ALLOW,
    )
