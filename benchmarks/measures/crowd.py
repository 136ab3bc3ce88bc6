"""Creates many topics and groups on the source for one run."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from itertools import cycle
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import NewTopic

from benchmarks.brokers import Side
from benchmarks.errors import BenchmarkError
from benchmarks.shapes import Shape, value_pool
from harness.cluster_side import QUIET

TOPICS_PER_GROUP = 10
_TOPICS_PER_REQUEST = 100
_TIMEOUT_SECONDS = 60.0
_POLL_SECONDS = 0.1
_BUSY_RECORDS_PER_SECOND = 100
#: A setting that the mirror has to copy.
_CONFIGS = {"retention.ms": str(3 * 24 * 3600 * 1000)}


class Crowd:
    """`name` begins the names of all its topics and groups."""

    def __init__(self, side: Side, shape: Shape, name: str) -> None:
        self._side = side
        self._shape = shape
        self._name = name
        self._values = cycle(value_pool(shape))
        self.topics = [f"{name}-t{number:04}" for number in range(shape.topics)]
        #: Gets records all the time, until the idle minute.
        self.busy = f"{name}-busy"
        self.groups = {
            f"{name}-group-{number:03}": topics
            for number, topics in enumerate(spread(self.topics, shape.groups))
        }
        #: A group whose checkpoint shows when a round of checkpoints was written.
        self.beacon = {f"{name}-beacon": self.topics[:1]}
        self.written = 0  # records in each partition

    def create(self) -> None:
        for start in range(0, len(self.topics), _TOPICS_PER_REQUEST):
            self.add_topics(self.topics[start : start + _TOPICS_PER_REQUEST])
        self.add_topics([self.busy])

    def add_topics(self, names: Sequence[str]) -> None:
        """Returns when they have leaders: the controller answers long before the brokers have the logs."""
        new = [NewTopic(n, self._shape.partitions, 1, config=_CONFIGS) for n in names]
        _results(self._side.admin.create_topics(new))
        deadline = time.monotonic() + _TIMEOUT_SECONDS
        while not self._have_leaders(names):
            if time.monotonic() > deadline:
                raise BenchmarkError(
                    f"{names[0]} and others: no leaders {_TIMEOUT_SECONDS:.0f} s after their creation"
                )
            time.sleep(_POLL_SECONDS)

    def _have_leaders(self, names: Sequence[str]) -> bool:
        topics = self._side.admin.list_topics(timeout=_TIMEOUT_SECONDS).topics
        found = [p for n in names if n in topics for p in topics[n].partitions.values()]
        wanted = len(names) * self._shape.partitions
        return len(found) == wanted and all(p.leader >= 0 and p.error is None for p in found)

    @property
    def records_per_partition(self) -> int:
        """Records that one `write` adds to a partition."""
        return self._shape.records // (self._shape.topics * self._shape.partitions)

    def write(self) -> int:
        """Writes the same number of records into every partition; returns the total."""
        self.written += self.records_per_partition
        return self.write_to(self.topics)

    def write_to(self, topics: Iterable[str]) -> int:
        producer, count = self._producer(), 0
        for topic in topics:
            for partition in range(self._shape.partitions):
                for _ in range(self.records_per_partition):
                    producer.produce(topic, next(self._values), partition=partition)
                    count += 1
            producer.poll(0)
        if left := producer.flush(_TIMEOUT_SECONDS):
            raise BenchmarkError(f"{self._name}: {left} records were not acknowledged")
        return count

    @contextmanager
    def traffic(self) -> Iterator[None]:
        """Writes records to the busy topic at an even pace during the block.

        Without traffic, MM2's tasks write ten of their offset syncs with each flush of offsets and keep the
        others: in a mirror that copies nothing, checkpoints wait for minutes.
        """
        ended = threading.Event()
        thread = threading.Thread(target=self._keep_busy, args=(ended,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _keep_busy(self, ended: threading.Event) -> None:
        producer = self._producer()
        partitions = cycle(range(self._shape.partitions))
        while not ended.wait(1 / _BUSY_RECORDS_PER_SECOND):
            producer.produce(self.busy, b"x", partition=next(partitions))
            producer.poll(0)
        producer.flush(_TIMEOUT_SECONDS)

    def _producer(self) -> Producer:
        return Producer(
            {
                "bootstrap.servers": self._side.bootstrap,
                **QUIET,
                "compression.type": self._shape.compression,
                "linger.ms": 5,
                "acks": "all",
            }
        )

    def commit(self, groups: Mapping[str, list[str]]) -> None:
        """Commits for each group that it has read everything; returns when the brokers have stored it."""
        left, deadline = dict(groups), time.monotonic() + _TIMEOUT_SECONDS
        while left:
            refused = self._try_to_commit(left)
            left = {group: topics for group, topics in left.items() if group in refused}
            if left and time.monotonic() > deadline:
                raise BenchmarkError(f"{len(left)} groups cannot commit: {min(refused.values())}")

    def _try_to_commit(self, groups: Mapping[str, list[str]]) -> dict[str, str]:
        """Groups with a partition that was refused, and the error: a coordinator may still be starting."""
        futures: dict[str, Future[ConsumerGroupTopicPartitions]] = {}
        for group, topics in groups.items():
            offsets = [TopicPartition(t, p, self.written) for t, p in self.partitions(topics)]
            futures |= self._side.admin.alter_consumer_group_offsets(
                [ConsumerGroupTopicPartitions(group, offsets)]
            )
        _results(futures)
        errors = {
            group: [str(p.error) for p in future.result().topic_partitions if p.error is not None]
            for group, future in futures.items()
        }
        return {group: its[0] for group, its in errors.items() if its}

    def partitions(self, topics: Iterable[str]) -> Iterator[tuple[str, int]]:
        return ((topic, p) for topic in topics for p in range(self._shape.partitions))


def spread(topics: list[str], groups: int) -> list[list[str]]:
    """Ten topics for each group, in turn."""
    endless = cycle(topics)
    return [[next(endless) for _ in range(TOPICS_PER_GROUP)] for _ in range(groups)]


def _results(futures: Mapping[str, Future[Any]]) -> None:
    _, late = wait(futures.values(), _TIMEOUT_SECONDS)
    if late:
        raise BenchmarkError(f"{len(late)} of {len(futures)} requests were not answered")
    for name, future in futures.items():
        try:
            future.result()
        except KafkaException as e:
            raise BenchmarkError(f"{name}: {e}") from e
