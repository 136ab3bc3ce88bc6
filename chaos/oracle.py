"""What stands on both sides, read whole by an independent client, and compared.

Per partition: nothing missing, nothing twice, the same order, the same key, value, headers and timestamp.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from benchmarks.brokers import QUIET
from chaos.errors import ChaosError
from chaos.record import decode

#: Writer and sequence as one number (-1: no record of ours), and a hash of all that a record carries.
Entry = tuple[int, int]
Log = dict[tuple[str, int], list[Entry]]
_BATCH = 2_000
_GATHER_SECONDS = 0.2  # a batch is waited for until it is full
_SILENCE_SECONDS = 60.0
_STRANGER = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Records that a target has too few, too many, or other than its source."""

    lost: int = 0
    doubled: int = 0
    disordered: int = 0
    altered: int = 0  # the same record, another content
    foreign: int = 0  # never committed on the source: aborted, broken, or a stranger's

    def __add__(self, other: Difference) -> Difference:
        return Difference(
            **{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        )

    @property
    def none(self) -> bool:
        return self == Difference()


def compare(source: Sequence[Entry], target: Iterable[Entry]) -> Difference:
    """One partition. A record counts as out of order if one that follows it upstream came before it."""
    places = {identity: index for index, (identity, _) in enumerate(source)}
    seen: set[int] = set()
    doubled = disordered = altered = foreign = 0
    last = -1
    for identity, content in target:
        place = places.get(identity)
        if place is None:
            foreign += 1
        elif identity in seen:
            doubled += 1
        else:
            seen.add(identity)
            altered += content != source[place][1]
            disordered += place < last
            last = max(last, place)
    return Difference(
        lost=len(places) - len(seen),
        doubled=doubled,
        disordered=disordered,
        altered=altered,
        foreign=foreign,
    )


def read(bootstrap: str, topics: Mapping[str, int]) -> Log:
    """All committed records of these topics (with their numbers of partitions), from start to end."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "chaos-oracle",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
            **QUIET,
        }
    )
    log: Log = {(topic, p): [] for topic, count in topics.items() for p in range(count)}
    try:
        consumer.assign([TopicPartition(topic, p, 0) for topic, p in log])
        ended: set[tuple[str, int]] = set()
        heard = time.monotonic()
        while len(ended) < len(log):
            messages = consumer.consume(_BATCH, _GATHER_SECONDS)
            if messages:
                heard = time.monotonic()
            elif time.monotonic() - heard > _SILENCE_SECONDS:
                late = sorted(log.keys() - ended)
                raise ChaosError(f"oracle: nothing within {_SILENCE_SECONDS:.0f} s of {late}")
            for message in messages:
                where = (message.topic(), message.partition())
                if message.error() is None:
                    log[where].append(entry(message))
                elif message.error().code() == KafkaError._PARTITION_EOF:
                    ended.add(where)
                else:
                    raise ChaosError(f"oracle: {where}: {message.error()}")
    finally:
        consumer.close()
    return log


def offsets_without_record(bootstrap: str, log: Log) -> int:
    """Ends of transactions, and what was aborted. None: nobody has written in transactions."""
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
        return _STRANGER, content
    return found.writer << 48 | found.sequence, content


def missing_at_source(log: Log, acknowledged: Mapping[tuple[str, int], Sequence[range]]) -> int:
    """Records that brokers have acknowledged to a writer and do not have: no mirror can copy those."""
    missing = 0
    for where, ranges in acknowledged.items():
        found = {identity & (1 << 48) - 1 for identity, _ in log[where]}
        missing += sum(sequence not in found for each in ranges for sequence in each)
    return missing
