"""Produce, version 8, by hand: batches go to the socket as they are, never copied.

    INT16 nullable string transactionalId · INT16 acks · INT32 timeoutMs
    ARRAY of topics { STRING name · ARRAY of partitions { INT32 index · INT32 size · records } }

Two rules that brokers do not enforce with an error but with silent loss or a refusal: a topic stands
once in a request, a partition stands once in a topic (of two entries only the last is appended, and the
answer says success), and an entry holds exactly one batch.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import NamedTuple

from heliograph.model import TopicPartition
from heliograph.wire.primitives import I16, I32, Reader, string

API_KEY = 0
VERSION = 8

_ALL_REPLICAS = -1
_ENTRY = struct.Struct(">ii")
_ANSWER = struct.Struct(
    ">i"  # partition
    "h"   # errorCode
    "q"   # baseOffset
    "q"   # logAppendTime
    "q"   # logStartOffset
)  # fmt: skip


class ProducedPartition(NamedTuple):
    topic: str
    partition: int
    error: int
    base_offset: int
    message: str | None


def encode_request(
    batches: Mapping[TopicPartition, memoryview], *, timeout_ms: int
) -> list[bytes | memoryview]:
    """The pieces of a request body in order, for scatter-gather sending. One batch per partition."""
    by_topic: dict[str, list[tuple[int, memoryview]]] = {}
    for (topic, partition), batch in batches.items():
        by_topic.setdefault(topic, []).append((partition, batch))
    head = I16.pack(-1) + struct.pack(">hi", _ALL_REPLICAS, timeout_ms) + I32.pack(len(by_topic))
    pieces: list[bytes | memoryview] = []
    for topic, entries in by_topic.items():
        head += string(topic) + I32.pack(len(entries))
        for partition, batch in entries:
            pieces.append(head + _ENTRY.pack(partition, len(batch)))
            pieces.append(batch)
            head = b""
    return pieces


def decode_response(body: memoryview) -> list[ProducedPartition]:
    reader = Reader(body)
    answers = []
    for _ in reader.array():
        topic = reader.string()
        for _ in reader.array():
            partition, error, base_offset, _, _ = reader.unpack(_ANSWER)
            details = []
            for _ in reader.array():
                reader.i32()  # index of the batch, always 0 here
                details.append(reader.nullable_string())
            message = reader.nullable_string() or next((d for d in details if d), None)
            answers.append(ProducedPartition(topic, partition, error, base_offset, message))
    return answers
