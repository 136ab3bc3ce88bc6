"""Compares a topic with its mirror, record by record, by a client that shares no code with Heliograph."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

_PATIENCE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Difference:
    equal: int = 0
    missing: int = 0
    different: int = 0

    def __add__(self, other: Difference) -> Difference:
        return Difference(
            self.equal + other.equal, self.missing + other.missing, self.different + other.different
        )


def compare(source: str, topic: str, target: str, target_topic: str) -> Difference:
    """Compares order, key, value, headers and timestamp of every record of every partition.

    A record that only the target has counts as different.
    """
    equal = missing = different = 0
    for partition in range(_partitions(source, topic)):
        pairs = zip_longest(_read(source, topic, partition), _read(target, target_topic, partition))
        for ours, theirs in pairs:
            if theirs is None:
                missing += 1
            elif ours == theirs:
                equal += 1
            else:
                different += 1
    return Difference(equal, missing, different)


def _consumer(bootstrap: str) -> Any:
    from confluent_kafka import Consumer

    return Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "heliograph-compare",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )


def _partitions(bootstrap: str, topic: str) -> int:
    consumer = _consumer(bootstrap)
    try:
        return len(consumer.list_topics(topic, timeout=_PATIENCE_SECONDS).topics[topic].partitions)
    finally:
        consumer.close()


def _read(bootstrap: str, topic: str, partition: int) -> Iterator[tuple[Any, ...]]:
    from confluent_kafka import KafkaError, TopicPartition

    consumer = _consumer(bootstrap)
    try:
        consumer.assign([TopicPartition(topic, partition, 0)])
        last_message_at = time.monotonic()
        while True:
            # `consume` waits for 1000 messages or the timeout, so the timeout is short.
            messages = consumer.consume(1000, 0.1)
            if messages:
                last_message_at = time.monotonic()
            elif time.monotonic() - last_message_at > _PATIENCE_SECONDS:
                raise TimeoutError(
                    f"{topic}-{partition} on {bootstrap}: its end was not reached; "
                    f"no record for {_PATIENCE_SECONDS:g} s"
                )
            for message in messages:
                error = message.error()
                if error is None:
                    yield (message.key(), message.value(), message.headers(), message.timestamp())
                elif error.code() == KafkaError._PARTITION_EOF:
                    return
                else:
                    raise RuntimeError(str(error))
    finally:
        consumer.close()
