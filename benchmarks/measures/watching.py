"""Reads log ends, checkpoints and group offsets of many topics and groups on the target."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from concurrent.futures import Future, wait
from typing import Generic, NamedTuple, TypeVar

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import OffsetSpec

from benchmarks.brokers import Side
from harness.cluster_side import QUIET

_TIMEOUT_SECONDS = 30.0
_GROUPS_AT_A_TIME = 25
_LENGTH = struct.Struct(">h")  # of a string
_PARTITION = struct.Struct(">i")
_CHECKPOINT = struct.Struct(
    ">h"  # version
    "q"  #  upstream offset
    "q"  #  downstream offset
)
_SYNC = struct.Struct(">qq")  # upstream and downstream offset

P = TypeVar("P", bound=Hashable)
Place = tuple[str, str, int]  # a group, and a topic and partition of the target


class Seen(NamedTuple):
    upstream: int
    timestamp: float  # the record's, in seconds since 1970


class RemoteEnds:
    """The sum of the log end offsets of all topics with a prefix.

    Listing thousands of partitions takes a good part of a second, so one partition of each topic is listed
    first, and the others only once those are complete.
    """

    def __init__(self, side: Side, prefix: str, topics: int) -> None:
        self.records_per_partition = 0  # when the copy is complete
        self._side = side
        self._prefix = prefix
        self._wanted = topics
        self._partitions: list[TopicPartition] = []
        self._sample: list[TopicPartition] = []

    def total(self) -> int:
        """Records on the target; those of the sample while it is incomplete."""
        if len(self._sample) < self._wanted:
            self._look()
        found = self._sum(self._sample)
        if found < self._wanted * self.records_per_partition:
            return found
        return self._sum(self._partitions)

    def _sum(self, partitions: list[TopicPartition]) -> int:
        if not partitions:
            return 0
        asked = self._side.admin.list_offsets(dict.fromkeys(partitions, OffsetSpec.latest()))
        wait(asked.values(), _TIMEOUT_SECONDS)
        # A new topic has metadata before it has leaders: a partition with an error counts as empty.
        return sum(f.result().offset for f in asked.values() if f.exception() is None)

    def _look(self) -> None:
        topics = self._side.admin.list_topics(timeout=_TIMEOUT_SECONDS).topics
        found = {n: len(t.partitions) for n, t in topics.items() if n.startswith(self._prefix)}
        self._partitions = [
            TopicPartition(n, p) for n, count in found.items() for p in range(count)
        ]
        self._sample = [
            TopicPartition(name, number % count)
            for number, (name, count) in enumerate(found.items())
            if count
        ]


class Tail(Generic[P]):
    """Follows an internal topic of one partition, and keeps the newest record of every place.

    `parse` turns key and value of a record into a place and an upstream offset.
    """

    def __init__(
        self, side: Side, topic: str, parse: Callable[[bytes, bytes], tuple[P, int]]
    ) -> None:
        self._side = side
        self._topic = topic
        self._parse = parse
        self._consumer: Consumer | None = None
        self._seen: dict[P, Seen] = {}
        self._count = 0

    def close(self) -> None:
        if self._consumer is not None:
            self._consumer.close()

    def reached(self, places: Collection[P], upstream: int) -> list[Seen] | None:
        """Reads new records; the newest of every place if all have reached `upstream`, else None."""
        self._read()
        found = [self._seen.get(place) for place in places]
        there = [seen for seen in found if seen is not None and seen.upstream >= upstream]
        return there if len(there) == len(found) else None

    def count(self) -> int:
        """Reads new records; the number of records so far."""
        self._read()
        return self._count

    def _read(self) -> None:
        """Reads the records that are there; waits 0.05 s for the first."""
        if self._consumer is None and not self._side.partitions(self._topic):
            time.sleep(0.1)
            return
        consumer = self._consumer = self._consumer or self._open()
        while messages := consumer.consume(10_000, 0.05):
            for message in messages:
                if message.error() is None and message.value() is not None:
                    self._count += 1
                    place, upstream = self._parse(message.key(), message.value())
                    self._seen[place] = Seen(upstream, message.timestamp()[1] / 1000)

    def _open(self) -> Consumer:
        consumer = Consumer(
            {
                "bootstrap.servers": self._side.bootstrap,
                **QUIET,
                "group.id": "benchmark-tail",
                "enable.auto.commit": False,
            }
        )
        consumer.assign([TopicPartition(self._topic, 0, 0)])
        return consumer


def parse_checkpoint(key: bytes, value: bytes) -> tuple[Place, int]:
    """Key: group, topic, partition. Value: version, upstream and downstream offset, metadata."""
    group, at = _string(key, 0)
    topic, at = _string(key, at)
    (partition,) = _PARTITION.unpack_from(key, at)
    _, upstream, _ = _CHECKPOINT.unpack_from(value)
    return (group, topic, partition), upstream


def parse_offset_sync(key: bytes, value: bytes) -> tuple[tuple[str, int], int]:
    """Key: topic, partition. Value: upstream and downstream offset."""
    topic, at = _string(key, 0)
    (partition,) = _PARTITION.unpack_from(key, at)
    upstream, _ = _SYNC.unpack_from(value)
    return (topic, partition), upstream


def _string(data: bytes, at: int) -> tuple[str, int]:
    (length,) = _LENGTH.unpack_from(data, at)
    at += _LENGTH.size
    return data[at : at + length].decode(), at + length


class GroupWatch:
    """Checks whether the offsets of all groups on the target are past a bound; a group that is, is not listed
    again."""

    def __init__(self, side: Side, groups: Mapping[str, int], beyond: int) -> None:
        """`groups` maps each to the number of its partitions."""
        self._side = side
        self._left = dict(groups)
        self._beyond = beyond

    def all_there(self) -> bool:
        """Lists some groups at a time, and stops at the first that is not past the bound."""
        while self._left:
            some = list(self._left)[:_GROUPS_AT_A_TIME]
            if not all(map(self._is_there, self._ask(some))):
                return False
        return True

    def _ask(self, groups: list[str]) -> Iterator[ConsumerGroupTopicPartitions]:
        asked: dict[str, Future[ConsumerGroupTopicPartitions]] = {}
        for group in groups:
            request = ConsumerGroupTopicPartitions(group)
            asked |= self._side.admin.list_consumer_group_offsets([request])
        wait(asked.values(), _TIMEOUT_SECONDS)
        return (f.result() for f in asked.values() if f.exception() is None)

    def _is_there(self, found: ConsumerGroupTopicPartitions) -> bool:
        group, offsets = found.group_id, found.topic_partitions
        if sum(each.offset > self._beyond for each in offsets) < self._left[group]:
            return False
        del self._left[group]
        return True
