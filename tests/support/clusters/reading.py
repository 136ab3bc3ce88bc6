"""Read topics with confluent-kafka, a client that shares no code with ours, and compare two sides."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from heliograph.embedded import Cluster
from support.clusters.writing import admin
from support.waiting import PATIENCE_SECONDS

_SHOWN = 5
_NO_LEADER_YET = {KafkaError.LEADER_NOT_AVAILABLE, KafkaError.NOT_LEADER_FOR_PARTITION}


class Read(NamedTuple):
    """A record as a consumer sees it."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]

    @property
    def content(self) -> tuple[object, ...]:
        """All that a mirror keeps: everything but the offset."""
        return self[1:]

    def __str__(self) -> str:
        parts = ", ".join(_short(part) for part in (self.key, self.value))
        return f"offset {self.offset}, time {self.timestamp}, key and value {parts}, {self.headers}"


Partitions = dict[tuple[str, int], list[Read]]


def read_topics(
    cluster: Cluster, topics: Sequence[str], *, isolation: str = "read_committed"
) -> Partitions:
    """Every record of every partition, from the log start to the end that a reader sees."""
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": "reader",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": isolation,
            "fetch.wait.max.ms": 20,
            "fetch.error.backoff.ms": 20,
        }
    )
    try:
        waiting = {(topic, number) for topic in topics for number in _partitions(consumer, topic)}
        found: Partitions = {key: [] for key in sorted(waiting)}
        consumer.assign([TopicPartition(*key, OFFSET_BEGINNING) for key in waiting])
        deadline = time.monotonic() + PATIENCE_SECONDS
        while waiting:
            _take(consumer, found, waiting)
            assert time.monotonic() < deadline, (
                f"{cluster.name}: not read to the end within {PATIENCE_SECONDS:g} s: {sorted(waiting)[:5]}; "
                f"records so far: {sum(map(len, found.values()))}"
            )
        return found
    finally:
        consumer.close()


def read_all(
    cluster: Cluster, topic: str, *, isolation: str = "read_committed"
) -> dict[int, list[Read]]:
    """The records of one topic, by partition."""
    found = read_topics(cluster, [topic], isolation=isolation)
    return {number: records for (_, number), records in found.items()}


def offsets(cluster: Cluster, topic: str, partition: int = 0) -> tuple[int, int]:
    """Log start and high watermark. A topic's leader may still be taking office."""
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "reader"})
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                wanted = TopicPartition(topic, partition)
                low, high = consumer.get_watermark_offsets(wanted, timeout=PATIENCE_SECONDS)
                return int(low), int(high)
            except KafkaException as e:
                if e.args[0].code() not in _NO_LEADER_YET or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
    finally:
        consumer.close()


def ends(cluster: Cluster, topic: str) -> dict[int, int]:
    """The high watermark of each partition that has a leader just now."""
    client = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    numbers = client.list_topics(topic, timeout=PATIENCE_SECONDS).topics[topic].partitions
    wanted = {TopicPartition(topic, number): OffsetSpec.latest() for number in numbers}
    asked = client.list_offsets(wanted) if wanted else {}
    found = {}
    for partition, answer in asked.items():
        try:
            found[partition.partition] = int(answer.result(PATIENCE_SECONDS).offset)
        except KafkaException as e:
            if e.args[0].code() not in _NO_LEADER_YET:
                raise
    return found


def topics_of(cluster: Cluster) -> set[str]:
    """The names of all topics."""
    return set(admin(cluster).list_topics(timeout=PATIENCE_SECONDS).topics)


def assert_mirrored(
    source: Cluster,
    target: Cluster,
    names: dict[str, str],
    *,
    isolation: str = "read_committed",
    target_isolation: str = "read_uncommitted",
) -> int:
    """Both sides hold the same records in the same order, partition by partition; how many.

    `names` maps source topics to their mirrors. `isolation` is how the source is read: as the flow does; the
    target is read with all that stands there, unless the flow writes in transactions of its own.
    """
    left = read_topics(source, list(names), isolation=isolation)
    right = read_topics(target, list(names.values()), isolation=target_isolation)
    expected = {(names[topic], number): records for (topic, number), records in left.items()}
    differences = [
        line for key in expected for line in _compare(key, expected[key], right.get(key))
    ]
    extra = sorted(right.keys() - expected.keys())
    assert not extra, f"partitions that the source does not have: {extra}"
    assert not differences, "\n".join(["the mirror differs:", *differences[:60]])
    return sum(map(len, expected.values()))


def _compare(
    key: tuple[str, int], expected: Sequence[Read], found: Sequence[Read] | None
) -> Iterable[str]:
    if found is None:
        yield f"{key[0]}-{key[1]}: no such partition"
        return
    different = [
        (wanted, got)
        for wanted, got in zip_longest(expected, found)
        if wanted is None or got is None or wanted.content != got.content
    ]
    if different:
        yield (
            f"{key[0]}-{key[1]}: {len(expected)} records expected, {len(found)} found, "
            f"{len(different)} differ; the first ones:"
        )
    for wanted, got in different[:_SHOWN]:
        yield f"  source: {wanted}"
        yield f"  target: {got}"


def _partitions(consumer: Consumer, topic: str) -> Iterable[int]:
    metadata = consumer.list_topics(topic, timeout=PATIENCE_SECONDS).topics[topic]
    assert metadata.error is None, f"{topic}: {metadata.error}"
    return sorted(metadata.partitions)


def _take(consumer: Consumer, found: Partitions, waiting: set[tuple[str, int]]) -> None:
    for message in consumer.consume(1000, timeout=0.05):
        key = (message.topic(), message.partition())
        error = message.error()
        if error is None:
            found[key].append(
                Read(
                    offset=message.offset(),
                    timestamp=message.timestamp()[1],
                    key=message.key(),
                    value=message.value(),
                    headers=tuple(message.headers() or ()),
                )
            )
        elif error.code() == KafkaError._PARTITION_EOF:
            waiting.discard(key)
        else:
            raise AssertionError(f"{key}: {error}")


def _short(data: bytes | None) -> str:
    if data is None or len(data) <= 40:
        return repr(data)
    return f"{data[:20]!r}… ({len(data)} bytes)"
