"""Reads whole logs with an independent client, and keeps records that the log later loses."""

from __future__ import annotations

import time
from collections.abc import Mapping

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from chaos.errors import ChaosError
from chaos.judging.oracle import STRANGER, Entry, Log, identity_of
from chaos.record import decode
from harness.cluster_side import QUIET

_BATCH = 2_000
_GATHER_SECONDS = 0.2  # the longest wait for a full batch
_SILENCE_SECONDS = 60.0


class Archive:
    """The records of some topics, up to where they were read."""

    def __init__(
        self, bootstrap: str, topics: Mapping[str, int], *, committed: bool = True
    ) -> None:
        """`topics`: their numbers of partitions. Aborted records are in it unless `committed`."""
        self._settings = {
            "bootstrap.servers": bootstrap,
            "group.id": "chaos-oracle",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed" if committed else "read_uncommitted",
            "auto.offset.reset": "earliest",
            **QUIET,
        }
        self.log: Log = {(topic, p): [] for topic, count in topics.items() for p in range(count)}
        #: Where the next `extend` begins, after transaction markers and aborted records.
        self.ends: dict[tuple[str, int], int] = dict.fromkeys(self.log, 0)

    def extend(self) -> Log:
        """Reads to the end of every partition."""
        consumer = Consumer(self._settings)
        try:
            consumer.assign([TopicPartition(t, p, end) for (t, p), end in self.ends.items()])
            ended: set[tuple[str, int]] = set()
            last_read = time.monotonic()
            while len(ended) < len(self.log):
                messages = consumer.consume(_BATCH, _GATHER_SECONDS)
                if messages:
                    last_read = time.monotonic()
                elif time.monotonic() - last_read > _SILENCE_SECONDS:
                    late = sorted(self.log.keys() - ended)
                    raise ChaosError(
                        f"oracle: no records within {_SILENCE_SECONDS:.0f} s from {late}"
                    )
                for message in messages:
                    where = (message.topic(), message.partition())
                    if message.error() is None:
                        self.log[where].append(entry(message))
                        self.ends[where] = message.offset() + 1
                    elif message.error().code() == KafkaError._PARTITION_EOF:
                        ended.add(where)
                        self.ends[where] = message.offset()
                    else:
                        raise ChaosError(f"oracle: {where}: {message.error()}")
        finally:
            consumer.close()
        return self.log

    def cut(self, where: tuple[str, int], end: int) -> list[Entry]:
        """The log was truncated to `end`: drops and returns the lost records."""
        entries = self.log[where]
        lost = [each for each in entries if each.offset >= end]
        self.log[where] = [each for each in entries if each.offset < end]
        self.ends[where] = min(self.ends[where], end)
        return lost


def read(bootstrap: str, topics: Mapping[str, int], *, committed: bool = True) -> Log:
    """All records of these topics (with their numbers of partitions), from start to end."""
    return Archive(bootstrap, topics, committed=committed).extend()


def offsets_without_record(bootstrap: str, log: Log) -> int:
    """The number of offsets of transaction markers and aborted records. 0: there were no transactions."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "chaos-oracle", **QUIET})
    try:
        ends: list[int] = [
            consumer.get_watermark_offsets(TopicPartition(topic, p), timeout=_SILENCE_SECONDS)[1]
            for topic, p in log
        ]
    finally:
        consumer.close()
    return sum(ends) - sum(map(len, log.values()))


def entry(message: Message) -> Entry:
    value = message.value()
    found = decode(value)
    headers = tuple(message.headers() or ())
    content = hash((message.key(), value, headers, message.timestamp()))
    if found is None or found.partition != message.partition():
        return Entry(STRANGER, content, message.offset())
    return Entry(identity_of(found.writer, found.sequence), content, message.offset())
