"""Writes records to an internal topic and waits until they are acknowledged."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

from heliograph.client.net.cluster import ClusterClient
from heliograph.client.net.poller import wait
from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.client.produce.producer import Producer
from heliograph.errors import BrokerError, ClientError, ConnectionLost
from heliograph.model import TopicPartition
from heliograph.records.decode import Record
from heliograph.records.encode import encode
from heliograph.wire.error_codes import ErrorCode
from heliograph.wire.messages import broker_error

#: A batch stays below half of Kafka's default max.message.bytes, unless one record alone is larger.
_BATCH_BYTES = 512 << 10
#: At most, for length, attributes, deltas, key and value lengths of a record.
_RECORD_OVERHEAD = 32


class RecordWriter:
    """One topic on one cluster; for one thread. A write that fails leaves nothing in flight."""

    def __init__(self, cluster: ClusterClient, topic: str) -> None:
        self.topic = topic
        self._cluster = cluster
        self._producer: Producer | None = None
        self._refused: list[BrokerError] = []
        self._trouble: ClientError | None = None

    def partitions(self) -> int:
        """The number of partitions. Raises UNKNOWN_TOPIC_OR_PARTITION without the topic, as `write` does."""
        count = self._cluster.refresh([self.topic]).partitions.get(self.topic)
        if count is None:
            raise broker_error(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{self._cluster.config.alias}: {self.topic}"
            )
        return count

    def write(self, records: Mapping[int, Sequence[Record]], *, patience: float = 30.0) -> None:
        """Returns once all are acknowledged. Raises ClientError if not; some may have been written then."""
        self._refused, self._trouble = [], None
        producer = self._producer = self._producer or self._new_producer()
        self._cluster.refresh([self.topic])
        for number, its in records.items():
            for batch in _batches(its):
                out = ProducerBatch(memoryview(encode(batch)), len(batch), -1, -1)
                producer.append(TopicPartition(self.topic, number), out)
        try:
            self._drain(producer, time.monotonic() + patience)
        except ClientError:
            self._producer = None  # what is still queued must not be sent with the next write
            for connection in producer.connections():
                connection.forget()
            raise

    def _drain(self, producer: Producer, deadline: float) -> None:
        while not producer.idle:
            producer.send()
            wait(producer.connections(), 0.1)
            producer.pump()
            if self._refused:
                raise self._refused[0]
            if not producer.idle and time.monotonic() > deadline:
                raise self._trouble or ConnectionLost(
                    f"{self._cluster.config.alias}: {self.topic}: not acknowledged in time"
                )

    def _new_producer(self) -> Producer:
        return Producer(
            self._cluster,
            {self.topic},
            on_ack=lambda _partition, _batch, _offset: None,
            on_refused=lambda _partition, error: self._refused.append(error),
            on_retry=self._on_retry,
        )

    def _on_retry(self, _: TopicPartition, error: ClientError) -> None:
        self._trouble = error


def _batches(records: Sequence[Record]) -> Iterator[list[Record]]:
    batch: list[Record] = []
    size = 0
    for record in records:
        length = len(record.key or b"") + len(record.value or b"") + _RECORD_OVERHEAD
        length += sum(len(name) + len(value or b"") + 10 for name, value in record.headers)
        if batch and size + length > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(record)
        size += length
    if batch:
        yield batch
