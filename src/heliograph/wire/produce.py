"""Produce by hand, versions 8 and 12: batches go to the socket as they are, never copied.

    version 8
    INT16 nullable string transactionalId · INT16 acks · INT32 timeoutMs
    ARRAY of topics { STRING name · ARRAY of partitions { INT32 index · INT32 size · records } }

    version 12, which adds partitions to the transaction by itself (KIP-890): the same in compact types,
    each structure with an empty tag buffer behind it, and one before all, which ends the request's header

Two rules that brokers do not enforce with an error but with silent loss or a refusal: a topic stands
once in a request, a partition stands once in a topic (of two entries only the last is appended, and the
answer says success), and an entry holds exactly one batch.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import NamedTuple

from heliograph.model import TopicPartition
from heliograph.wire import flexible
from heliograph.wire.primitives import (
    I16,
    I32,
    Reader,
    compact_string,
    string,
    unsigned_varint,
)

API_KEY = 0
VERSION = 8
#: The first version that a transaction of version 2 may be written with.
VERSION_WITH_TRANSACTIONS_2 = 12

_ALL_REPLICAS = -1
_ACKS_AND_TIMEOUT = struct.Struct(">hi")
_ENTRY = struct.Struct(">ii")
_ANSWER = struct.Struct(
    ">i"  # partition
    "h"   # errorCode
    "q"   # baseOffset
    "q"   # logAppendTime
    "q"   # logStartOffset
)  # fmt: skip
_NO_TAGS = b"\x00"


class ProducedPartition(NamedTuple):
    topic: str
    partition: int
    error: int
    base_offset: int
    message: str | None


def encode_request(
    batches: Mapping[TopicPartition, memoryview],
    *,
    timeout_ms: int,
    transactional_id: str | None = None,
    version: int = VERSION,
) -> list[bytes | memoryview]:
    """The pieces of a request body in order, for scatter-gather sending. One batch per partition."""
    by_topic: dict[str, list[tuple[int, memoryview]]] = {}
    for (topic, partition), batch in batches.items():
        by_topic.setdefault(topic, []).append((partition, batch))
    if version == VERSION_WITH_TRANSACTIONS_2:
        return _flexible_request(by_topic, timeout_ms, transactional_id)
    head = I16.pack(-1) if transactional_id is None else string(transactional_id)
    head += _ACKS_AND_TIMEOUT.pack(_ALL_REPLICAS, timeout_ms) + I32.pack(len(by_topic))
    pieces: list[bytes | memoryview] = []
    for topic, entries in by_topic.items():
        head += string(topic) + I32.pack(len(entries))
        for partition, batch in entries:
            pieces.append(head + _ENTRY.pack(partition, len(batch)))
            pieces.append(batch)
            head = b""
    return pieces


def _flexible_request(
    by_topic: Mapping[str, list[tuple[int, memoryview]]],
    timeout_ms: int,
    transactional_id: str | None,
) -> list[bytes | memoryview]:
    head = _NO_TAGS  # of the request's header
    head += unsigned_varint(0) if transactional_id is None else compact_string(transactional_id)
    head += _ACKS_AND_TIMEOUT.pack(_ALL_REPLICAS, timeout_ms)
    head += unsigned_varint(len(by_topic) + 1)
    pieces: list[bytes | memoryview] = []
    for topic, entries in by_topic.items():
        head += compact_string(topic) + unsigned_varint(len(entries) + 1)
        for partition, batch in entries:
            pieces.append(head + I32.pack(partition) + unsigned_varint(len(batch) + 1))
            pieces.append(batch)
            head = _NO_TAGS
        head += _NO_TAGS
    pieces.append(head + _NO_TAGS)
    return pieces


def decode_response(body: memoryview, version: int = VERSION) -> list[ProducedPartition]:
    if version == VERSION_WITH_TRANSACTIONS_2:
        return _flexible_response(body)
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


@flexible.whole
def _flexible_response(body: bytes) -> tuple[list[ProducedPartition], int]:
    answers: list[ProducedPartition] = []
    topics, at = flexible.count(body, flexible.skip_tags(body, 0))  # those of the response's header
    for _ in range(topics):
        topic, at = flexible.string(body, at)
        partitions, at = flexible.count(body, at)
        for _ in range(partitions):
            partition, error, base_offset, _, _ = _ANSWER.unpack_from(body, at)
            detail, at = _first_detail(body, at + _ANSWER.size)
            message, at = flexible.nullable_string(body, at)
            at = flexible.skip_tags(
                body, at
            )  # the new leader (KIP-951): refreshing metadata finds it, too
            answers.append(
                ProducedPartition(topic, partition, error, base_offset, message or detail)
            )
        at = flexible.skip_tags(body, at)
    return answers, flexible.skip_tags(body, at + I32.size)  # behind the throttle time


def _first_detail(body: bytes, at: int) -> tuple[str | None, int]:
    """What is said of records, none of which are named."""
    first: str | None = None
    errors, at = flexible.count(body, at)
    for _ in range(errors):
        said, at = flexible.nullable_string(
            body, at + I32.size
        )  # behind the index of the batch, always 0
        first = first or said
        at = flexible.skip_tags(body, at)
    return first, at
