"""Fetch, version 11: records stay views into the receive buffer.

Version 11 is the newest with topic names in the plain encoding, and every broker since Kafka 2.3 speaks it,
Kafka 4.x included. Fetch sessions (KIP-227): session 0 at epoch 0 opens one, later requests name only what
changed, and responses hold only partitions with new data.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from heliograph.model import AbortedTransaction, TopicPartition
from heliograph.wire.primitives import I32, Reader, string

API_KEY = 1
VERSION = 11

_HEAD = struct.Struct(
    ">i"  # replicaId     -1: a client
    "i"   # maxWaitMs
    "i"   # minBytes
    "i"   # maxBytes
    "b"   # isolationLevel
    "i"   # sessionId
    "i"   # sessionEpoch
)  # fmt: skip
_PARTITION = struct.Struct(
    ">i"  # partition
    "i"   # currentLeaderEpoch  -1: do not check
    "q"   # fetchOffset
    "q"   # logStartOffset      -1: a client has none
    "i"   # partitionMaxBytes
)  # fmt: skip
_ANSWER = struct.Struct(
    ">i"  # partition
    "h"   # errorCode
    "q"   # highWatermark
    "q"   # lastStableOffset
    "q"   # logStartOffset
    "i"   # number of aborted transactions, -1 under read_uncommitted
)  # fmt: skip
_ABORTED = struct.Struct(">qq")


class FetchedPartition(NamedTuple):
    topic: str
    partition: int
    error: int
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    aborted: list[AbortedTransaction]
    records: memoryview


class FetchResponse(NamedTuple):
    throttle_ms: int
    error: int
    session_id: int
    partitions: list[FetchedPartition]


class FetchLimits(NamedTuple):
    max_wait_ms: int = 500
    min_bytes: int = 1
    max_bytes: int = 8 << 20
    partition_max_bytes: int = 1 << 20


def encode_request(
    *,
    limits: FetchLimits,
    isolation_level: int,
    session: tuple[int, int],
    offsets: Mapping[TopicPartition, int],
    leader_epochs: Mapping[TopicPartition, int] | None = None,
    forgotten: Iterable[TopicPartition] = (),
) -> bytes:
    """With a leader epoch, a broker that leads under another one refuses the partition (KIP-320)."""
    epochs = leader_epochs or {}
    head = _HEAD.pack(
        -1, limits.max_wait_ms, limits.min_bytes, limits.max_bytes, isolation_level, *session
    )
    out = [head]
    by_topic: dict[str, list[bytes]] = {}
    for key, offset in offsets.items():
        epoch = epochs.get(key, -1)
        entry = _PARTITION.pack(key.partition, epoch, offset, -1, limits.partition_max_bytes)
        by_topic.setdefault(key.topic, []).append(entry)
    _topics(out, by_topic)
    dropped: dict[str, list[bytes]] = {}
    for topic, partition in forgotten:
        dropped.setdefault(topic, []).append(I32.pack(partition))
    _topics(out, dropped)
    out.append(string(""))  # rack id
    return b"".join(out)


def _topics(out: list[bytes], by_topic: Mapping[str, list[bytes]]) -> None:
    out.append(I32.pack(len(by_topic)))
    for topic, entries in by_topic.items():
        out.append(string(topic))
        out.append(I32.pack(len(entries)))
        out.extend(entries)


def decode_response(body: memoryview) -> FetchResponse:
    reader = Reader(body)
    throttle_ms = reader.i32()  # not waited for here: the broker mutes the connection
    error = reader.i16()
    session_id = reader.i32()
    partitions = []
    for _ in reader.array():
        topic = reader.string()
        for _ in reader.array():
            partition, code, high, stable, start, aborted = reader.unpack(_ANSWER)
            transactions = [
                AbortedTransaction(*reader.unpack(_ABORTED)) for _ in range(max(aborted, 0))
            ]
            reader.i32()  # preferred read replica: only set for requests with a rack id
            size = reader.i32()
            records = reader.take(max(size, 0))
            partitions.append(
                FetchedPartition(topic, partition, code, high, stable, start, transactions, records)
            )
    return FetchResponse(throttle_ms, error, session_id, partitions)
