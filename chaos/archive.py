"""Logs read whole by an independent client. What has been read stays, when the log itself is cut."""

from __future__ import annotations

import time
from collections.abc import Mapping

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from chaos.errors import ChaosError
from chaos.oracle import STRANGER, Entry, Log, identity_of
from chaos.record import decode
from harness.cluster_side import QUIET

_BATCH = 2_000
_GATHER_SECONDS = 0.2  # a batch is waited for until it is full
_SILENCE_SECONDS = 60.0


class Archive:
    """Some topics of a cluster, as far as they have been read."""

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
        #: Where the next `extend` begins; past ends of transactions, and what was aborted.
        self.ends: dict[tuple[str, int], int] = dict.fromkeys(self.log, 0)

    def extend(self) -> Log:
        """Reads on, to the end of every partition."""
        consumer = Consumer(self._settings)
        try:
            consumer.assign([TopicPartition(t, p, end) for (t, p), end in self.ends.items()])
            ended: set[tuple[str, int]] = set()
            heard = time.monotonic()
            while len(ended) < len(self.log):
                messages = consumer.consume(_BATCH, _GATHER_SECONDS)
                if messages:
                    heard = time.monotonic()
                elif time.monotonic() - heard > _SILENCE_SECONDS:
                    late = sorted(self.log.keys() - ended)
                    raise ChaosError(f"oracle: nothing within {_SILENCE_SECONDS:.0f} s of {late}")
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
        """The log has been truncated to `end`: what it has lost."""
        entries = self.log[where]
        lost = [each for each in entries if each.offset >= end]
        self.log[where] = [each for each in entries if each.offset < end]
        self.ends[where] = min(self.ends[where], end)
        return lost


def read(bootstrap: str, topics: Mapping[str, int], *, committed: bool = True) -> Log:
    """All records of these topics (with their numbers of partitions), from start to end."""
    return Archive(bootstrap, topics, committed=committed).extend()


def offsets_without_record(bootstrap: str, log: Log) -> int:
    """Ends of transactions, and what was aborted. 0: there were no transactions."""
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
