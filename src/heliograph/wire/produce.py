"""Produce, versions 8 and 12: batches go to the socket without being copied.

    version 8
    INT16 nullable string transactionalId · INT16 acks · INT32 timeoutMs
    ARRAY of topics { STRING name · ARRAY of partitions { INT32 index · INT32 size · records } }

    version 12, which adds partitions to the transaction by itself (KIP-890): the same in compact types,
    each structure followed by an empty tag buffer, and one before all, which ends the request header

Each topic occurs once in a request, and each partition once in a topic: of two entries for a partition the
broker appends only the last, and reports success. An entry holds exactly one batch, or the broker refuses
it.
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
#: The first version for transactions of version 2.
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
#: As nearly all are: followed by no errors of records and no message.
_PLAIN_ANSWER = struct.Struct(_ANSWER.format + "ih")
_NO_TAGS = b"\x00"


class ProducedPartition(NamedTuple):
    partition: TopicPartition
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
    head = _NO_TAGS  # of the request header
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
    answers: list[ProducedPartition] = []
    for _ in reader.array():
        topic = reader.string()
        answers += [_plain_answer(reader, topic) or _answer(reader, topic) for _ in reader.array()]
    return answers


def _plain_answer(reader: Reader, topic: str) -> ProducedPartition | None:
    """In one step: there is an answer for every batch."""
    if reader.position + _PLAIN_ANSWER.size > len(reader.body):
        return None
    partition, error, base_offset, _, _, details, message = _PLAIN_ANSWER.unpack_from(
        reader.body, reader.position
    )
    if details or message >= 0:
        return None
    reader.position += _PLAIN_ANSWER.size
    return ProducedPartition(TopicPartition(topic, partition), error, base_offset, None)


def _answer(reader: Reader, topic: str) -> ProducedPartition:
    partition, error, base_offset, _, _ = reader.unpack(_ANSWER)
    details = []
    for _ in reader.array():
        reader.i32()  # index of the record
        details.append(reader.nullable_string())
    message = reader.nullable_string() or next((d for d in details if d), None)
    return ProducedPartition(TopicPartition(topic, partition), error, base_offset, message)


@flexible.whole
def _flexible_response(body: bytes) -> tuple[list[ProducedPartition], int]:
    answers: list[ProducedPartition] = []
    topics, at = flexible.count(body, flexible.skip_tags(body, 0))  # of the response header
    for _ in range(topics):
        topic, at = flexible.string(body, at)
        partitions, at = flexible.count(body, at)
        for _ in range(partitions):
            partition, error, base_offset, _, _ = _ANSWER.unpack_from(body, at)
            detail, at = _first_detail(body, at + _ANSWER.size)
            message, at = flexible.nullable_string(body, at)
            at = flexible.skip_tags(body, at)  # the new leader (KIP-951): metadata have it, too
            answers.append(
                ProducedPartition(
                    TopicPartition(topic, partition), error, base_offset, message or detail
                )
            )
        at = flexible.skip_tags(body, at)
    return answers, flexible.skip_tags(body, at + I32.size)  # after the throttle time


def _first_detail(body: bytes, at: int) -> tuple[str | None, int]:
    """The first message about a record; the record itself is not named."""
    first: str | None = None
    errors, at = flexible.count(body, at)
    for _ in range(errors):
        # After the index of the record.
        message, at = flexible.nullable_string(body, at + I32.size)
        first = first or message
        at = flexible.skip_tags(body, at)
    return first, at
