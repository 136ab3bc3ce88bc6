"""Consumer groups on real clusters, made with confluent-kafka: with members, without, of either protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from heliograph.client.net.cluster import ClusterClient
from heliograph.embedded import Cluster
from heliograph.model import ClusterConfig
from support.waiting import PATIENCE_SECONDS, eventually

#: Of a coordinator.
_TAKING_OFFICE = (
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
)

Offsets = Mapping[tuple[str, int], int]


@contextmanager
def client(cluster: Cluster, alias: str = "a") -> Iterator[ClusterClient]:
    """Our own client, as a test of functions that take one needs it."""
    config = ClusterConfig(
        alias=alias, bootstrap_servers=tuple(cluster.bootstrap_servers.split(","))
    )
    made = ClusterClient(config, client_id="test")
    try:
        yield made
    finally:
        made.close()


def commit(cluster: Cluster, group: str, offsets: Offsets) -> None:
    """As a consumer that assigns partitions to itself: the group never has a member."""
    consumer = _consumer(cluster, group)
    wanted = [TopicPartition(t, p, at) for (t, p), at in offsets.items()]

    def attempt() -> str | None:
        """The first commit of all finds a coordinator that is just taking office."""
        try:
            partitions = consumer.commit(offsets=wanted, asynchronous=False)
        except KafkaException as e:
            if e.args[0].code() not in _TAKING_OFFICE:
                raise
            return str(e)
        for partition in partitions:
            assert partition.error is None, partition
        return None

    eventually(attempt, lambda problem: problem is None)
    consumer.close()


def committed(cluster: Cluster, group: str, topic: str, *partitions: int) -> list[int]:
    """What the group has committed; a negative number where it has nothing."""
    consumer = _consumer(cluster, group)
    wanted = [TopicPartition(topic, number) for number in partitions or (0,)]
    found = [p.offset for p in consumer.committed(wanted, timeout=PATIENCE_SECONDS)]
    consumer.close()
    return found


@contextmanager
def member(
    cluster: Cluster, group: str, topic: str, *, protocol: str = "classic"
) -> Iterator[Consumer]:
    """The group has one member, with its partitions assigned, while the block runs."""
    consumer = _consumer(cluster, group, **{"group.protocol": protocol})
    consumer.subscribe([topic])
    try:
        eventually(lambda: (consumer.poll(0.1), consumer.assignment())[1], bool)
        yield consumer
    finally:
        consumer.close()


def _consumer(cluster: Cluster, group: str, **settings: str) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": group,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            **settings,
        }
    )
