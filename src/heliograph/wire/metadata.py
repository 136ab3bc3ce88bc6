"""Decodes Metadata responses of version 12: a refresh may list all topics of a cluster."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple
from uuid import UUID

from heliograph.wire.flexible import count, nullable_string, skip_tags, string, varint, whole

API_KEY = 3
VERSION = 12

_I32 = struct.Struct(">i")
_ERROR = struct.Struct(">h")
_THROTTLE_BYTES = _OPERATIONS_BYTES = _NODE_BYTES = 4
_ID_BYTES = 16
#: As `PartitionMetadata(…)`, in half the time.
_new: Any = tuple.__new__
_PARTITION = struct.Struct(
    ">h"  # errorCode
    "i"   # partition
    "i"   # leader, -1 if there is none
    "i"   # leader epoch
)  # fmt: skip


class Broker(NamedTuple):
    node_id: int
    host: str
    port: int


class PartitionMetadata(NamedTuple):
    error_code: int
    partition_index: int
    leader_id: int
    leader_epoch: int


class TopicMetadata(NamedTuple):
    """`name` is null for topics that were requested by id and do not exist."""

    error_code: int
    name: str | None
    topic_id: UUID | None
    is_internal: bool
    partitions: list[PartitionMetadata]


class MetadataResponse(NamedTuple):
    brokers: list[Broker]
    cluster_id: str | None
    controller_id: int
    topics: list[TopicMetadata]


@whole
def decode_response(body: bytes) -> tuple[MetadataResponse, int]:
    brokers, at = _brokers(body, _THROTTLE_BYTES)
    cluster_id, at = nullable_string(body, at)
    (controller,) = _I32.unpack_from(body, at)
    number, at = count(body, at + _I32.size)
    topics = []
    for _ in range(number):
        topic, at = _topic(body, at)
        topics.append(topic)
    return MetadataResponse(brokers, cluster_id, controller, topics), skip_tags(body, at)


def _brokers(body: bytes, at: int) -> tuple[list[Broker], int]:
    number, at = count(body, at)
    brokers = []
    for _ in range(number):
        (node,) = _I32.unpack_from(body, at)
        host, at = string(body, at + _I32.size)
        (port,) = _I32.unpack_from(body, at)
        _, at = nullable_string(body, at + _I32.size)  # rack
        at = skip_tags(body, at)
        brokers.append(Broker(node, host, port))
    return brokers, at


def _topic(body: bytes, at: int) -> tuple[TopicMetadata, int]:
    (error,) = _ERROR.unpack_from(body, at)
    name, at = nullable_string(body, at + _ERROR.size)
    topic_id = UUID(bytes=body[at : at + _ID_BYTES]) if any(body[at : at + _ID_BYTES]) else None
    internal = bool(body[at + _ID_BYTES])
    number, at = count(body, at + _ID_BYTES + 1)
    partitions = []
    for _ in range(number):
        partitions.append(_new(PartitionMetadata, _PARTITION.unpack_from(body, at)))
        at = _past_replicas(body, at + _PARTITION.size)
    at = skip_tags(body, at + _OPERATIONS_BYTES)
    return TopicMetadata(error, name, topic_id, internal, partitions), at


def _past_replicas(body: bytes, at: int) -> int:
    """The position after three arrays of nodes (replicas, in-sync, offline) and the tagged fields."""
    for _ in range(3):
        size = body[at]
        if size >= 0x80:
            size, at = varint(body, at)
            at += (size - 1) * _NODE_BYTES
        else:
            at += 1 + (size - 1) * _NODE_BYTES if size else 1
    return at + 1 if not body[at] else skip_tags(body, at)
