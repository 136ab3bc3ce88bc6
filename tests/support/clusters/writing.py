"""Topics and records on real clusters, written with confluent-kafka: batches, codecs, transactions.

A controller answers before the brokers have applied its change. The functions that create topics return when
a broker has; for settings call `wait_for_config`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from confluent_kafka import KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewPartitions,
    NewTopic,
    ResourceType,
)

from heliograph.embedded import Cluster
from support.waiting import PATIENCE_SECONDS, eventually

#: Of a topic whose log is compacted soon and often.
COMPACTED = {
    "cleanup.policy": "compact",
    "segment.ms": "50",
    "min.cleanable.dirty.ratio": "0.001",
    "min.compaction.lag.ms": "0",
    "delete.retention.ms": "0",
}

Headers = Sequence[tuple[str, bytes | None]]


class New(NamedTuple):
    """A record to write. `timestamp` 0 leaves it to the client."""

    value: bytes | None = None
    key: bytes | None = None
    headers: Headers = ()
    timestamp: int = 0
    partition: int = 0


#: Clients live as long as their cluster: a new producer is without a producer id for half a second.
_admins: WeakKeyDictionary[Cluster, AdminClient] = WeakKeyDictionary()
_producers: WeakKeyDictionary[Cluster, dict[str, Producer]] = WeakKeyDictionary()
_QUIET = {"log_level": 2}  # that a broker went is what a test wanted


def admin(cluster: Cluster) -> AdminClient:
    if cluster not in _admins:
        _admins[cluster] = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, **_QUIET})
    return _admins[cluster]


def _producer(cluster: Cluster, codec: str) -> Producer:
    """Idempotent, without transactions; for everybody who writes with this codec."""
    mine = _producers.setdefault(cluster, {})
    if codec not in mine:
        mine[codec] = Producer(_producer_settings(cluster, codec) | _QUIET)
    return mine[codec]


def forget_producers(cluster: Cluster) -> None:
    """What they remember of partitions is not true any more."""
    _producers.pop(cluster, None)


def _producer_settings(cluster: Cluster, codec: str) -> dict[str, object]:
    return {
        "bootstrap.servers": cluster.bootstrap_servers,
        "acks": "all",
        "enable.idempotence": True,
        "compression.type": codec,
        "linger.ms": 2000,  # `flush` ends the wait; until then records gather in one batch
        "batch.size": 1_000_000,
    }


def _finish(cluster: Cluster, action: Callable[[AdminClient], Mapping[Any, Future[Any]]]) -> None:
    for done in action(admin(cluster)).values():
        done.result(PATIENCE_SECONDS)


def create_topics(
    cluster: Cluster,
    partitions: Mapping[str, int],
    *,
    replicas: int = 1,
    configs: Mapping[str, str] | None = None,
) -> None:
    new = [
        NewTopic(
            topic, num_partitions=count, replication_factor=replicas, config=dict(configs or {})
        )
        for topic, count in partitions.items()
    ]
    _create(cluster, new)


def create_placed(cluster: Cluster, topic: str, replicas: Sequence[Sequence[int]]) -> None:
    """With the brokers that hold each partition; the first of them is its preferred leader."""
    placed = [list(each) for each in replicas]
    _create(cluster, [NewTopic(topic, num_partitions=len(placed), replica_assignment=placed)])


def _create(cluster: Cluster, new: Sequence[NewTopic]) -> None:
    _finish(
        cluster, lambda client: client.create_topics(list(new), operation_timeout=PATIENCE_SECONDS)
    )
    eventually(
        lambda: admin(cluster).list_topics(timeout=PATIENCE_SECONDS).topics.keys(),
        lambda known: {each.topic for each in new} <= known,
    )


def add_partitions(cluster: Cluster, topic: str, total: int) -> None:
    new = [NewPartitions(topic, total)]
    _finish(
        cluster, lambda client: client.create_partitions(new, operation_timeout=PATIENCE_SECONDS)
    )
    forget_producers(cluster)


def delete_topic(cluster: Cluster, topic: str) -> None:
    _finish(
        cluster, lambda client: client.delete_topics([topic], operation_timeout=PATIENCE_SECONDS)
    )


def set_topic_config(cluster: Cluster, topic: str, key: str, value: str) -> None:
    entry = ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
    _alter(cluster, topic, entry)


def unset_topic_config(cluster: Cluster, topic: str, key: str) -> None:
    _alter(cluster, topic, ConfigEntry(key, None, incremental_operation=AlterConfigOpType.DELETE))


def wait_for_config(cluster: Cluster, topic: str, settings: Mapping[str, str | None]) -> None:
    """Wait until a broker reports these settings on the topic itself; None: not set there."""
    eventually(
        lambda: topic_config(cluster, topic),
        lambda found: all(found.get(name) == value for name, value in settings.items()),
    )


def _alter(cluster: Cluster, topic: str, entry: ConfigEntry) -> None:
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    _finish(cluster, lambda client: client.incremental_alter_configs([resource]))


def topic_config(cluster: Cluster, topic: str) -> dict[str, str]:
    """The settings that are set on the topic itself."""
    resource = ConfigResource(ResourceType.TOPIC, topic)
    described = admin(cluster).describe_configs([resource])[resource].result(PATIENCE_SECONDS)
    own = ConfigSource.DYNAMIC_TOPIC_CONFIG.value
    return {name: entry.value for name, entry in described.items() if entry.source == own}


def stop_compaction(cluster: Cluster, topic: str, *, partition: int = 0) -> None:
    """Return when no more records of the log are compacted away.

    A broker reports the new cleanup.policy from its metadata before its logs have it (BrokerMetadataPublisher
    in Kafka). A log whose policy is still `compact` answers DeleteRecords with POLICY_VIOLATION; one that
    accepts has aborted a cleaning under way, too (LogManager.updateTopicConfig).
    """
    set_topic_config(cluster, topic, "cleanup.policy", "delete")

    def accepts() -> bool:
        try:
            delete_records(cluster, topic, before=0, partition=partition)  # deletes nothing
        except KafkaException as error:
            if error.args[0].code() != KafkaError.POLICY_VIOLATION:
                raise
            return False
        return True

    eventually(accepts, bool)


def delete_records(cluster: Cluster, topic: str, before: int, *, partition: int = 0) -> None:
    """Records below offset `before` go; it becomes the log start."""
    wanted = [TopicPartition(topic, partition, before)]
    _finish(cluster, lambda client: client.delete_records(wanted))


class Writer:
    """Each `batch` goes out as one record batch per partition, unless it exceeds Kafka's own limits."""

    def __init__(
        self, cluster: Cluster, topic: str, *, codec: str = "none", transactional: str | None = None
    ) -> None:
        self.topic = topic
        if transactional is None:
            self._producer = _producer(cluster, codec)
        else:
            own = {"transactional.id": transactional}
            self._producer = Producer(_producer_settings(cluster, codec) | own)
            self._producer.init_transactions(PATIENCE_SECONDS)

    def batch(self, records: Iterable[New]) -> None:
        self.queue(self.topic, records)
        self.flush()

    def queue(self, topic: str, records: Iterable[New]) -> None:
        for record in records:
            self._producer.produce(
                topic,
                value=record.value,
                key=record.key,
                headers=list(record.headers) or None,
                timestamp=record.timestamp,
                partition=record.partition,
                on_delivery=_must_arrive,
            )

    def flush(self) -> None:
        left = self._producer.flush(PATIENCE_SECONDS)
        assert left == 0, f"{left} records could not be written"

    def begin(self) -> None:
        self._producer.begin_transaction()

    def commit(self) -> None:
        self._producer.commit_transaction(PATIENCE_SECONDS)

    def abort(self) -> None:
        self._producer.abort_transaction(PATIENCE_SECONDS)


def _must_arrive(error: object, _message: object) -> None:
    assert error is None, f"a record could not be written: {error}"


def write(cluster: Cluster, topic: str, *batches: Iterable[New], codec: str = "none") -> None:
    writer = Writer(cluster, topic, codec=codec)
    for batch in batches:
        writer.batch(batch)


def interleave(first: Writer, second: Writer, start: int = 0) -> None:
    """Two transactions side by side, of which one is aborted, four times over."""
    for round_ in range(start, start + 400, 100):
        first.begin()
        second.begin()
        first.batch(numbered(range(round_, round_ + 10)))
        second.batch(numbered(range(round_ + 10, round_ + 20)))
        first.batch(numbered(range(round_ + 20, round_ + 30)))
        (first.commit if round_ % 200 else first.abort)()
        second.batch(numbered(range(round_ + 30, round_ + 40)))
        (second.abort if round_ % 200 else second.commit)()


def numbered(numbers: Iterable[int], *, partition: int = 0, padding: int = 0) -> list[New]:
    """Records that tell themselves apart, with key, header and a timestamp of their own."""
    return [
        New(
            value=b"value %d" % number + b"." * padding,
            key=b"key %d" % number,
            headers=[("number", b"%d" % number)],
            timestamp=1_700_000_000_000 + number,
            partition=partition,
        )
        for number in numbers
    ]
