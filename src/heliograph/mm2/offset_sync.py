"""Offset sync records: an upstream offset and its downstream offset (`OffsetSync.java`).

    key    topic STRING | partition INT32
    value  upstreamOffset INT64 | offset INT64        no version

An extension of MM2's format: a header with the ids of both topics, if known. Java's readers ignore headers:

    heliograph.origin   <id of the source topic>/<id of the remote topic>

In partition 0 of `mm2-offset-syncs.<other cluster>.internal`, on the source or on the target (KIP-716).
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from heliograph.mm2.fields import FieldError, present, read, read_string, string
from heliograph.mm2.malformed import Malformed
from heliograph.model import TopicIdPair, TopicPartition

ORIGIN_HEADER = b"heliograph.origin"

#: As in `Record`.
Headers = tuple[tuple[bytes, bytes | None], ...]

_PARTITION = struct.Struct(">i")
_OFFSETS = struct.Struct(">qq")


class OffsetSync(NamedTuple):
    """The record at `upstream` of this source partition is at `downstream` on the target."""

    topic: str
    partition: int
    upstream: int
    downstream: int

    @property
    def topic_partition(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)

    def key(self) -> bytes:
        return string(self.topic) + _PARTITION.pack(self.partition)

    def value(self) -> bytes:
        return _OFFSETS.pack(self.upstream, self.downstream)

    def __str__(self) -> str:
        """As `kafka-console-consumer.sh` prints it with MM2's OffsetSyncFormatter."""
        return (
            f"OffsetSync{{topicPartition={self.topic}-{self.partition}, "
            f"upstreamOffset={self.upstream}, downstreamOffset={self.downstream}}}"
        )


def read_offset_sync(key: bytes | None, value: bytes | None) -> OffsetSync | Malformed:
    """Never raises: one malformed record must not keep later ones from being read."""
    try:
        key, value = present("key", key), present("value", value)
        topic, at = read_string("topic", key, 0)
        (partition,) = read("partition", _PARTITION, key, at)
        upstream, downstream = read("offsets", _OFFSETS, value, 0)
    except FieldError as problem:
        return Malformed(str(problem))
    return OffsetSync(topic, partition, upstream, downstream)


def origin_headers(origin: TopicIdPair) -> Headers:
    if not any(origin):
        return ()
    return ((ORIGIN_HEADER, f"{origin.source or ''}/{origin.target or ''}".encode()),)


def read_origin(headers: Headers) -> TopicIdPair:
    """Never raises: an unreadable header counts as none."""
    for name, value in headers:
        if name == ORIGIN_HEADER and value is not None:
            source, slash, target = value.decode(errors="replace").partition("/")
            return TopicIdPair(source or None, target or None) if slash else TopicIdPair()
    return TopicIdPair()
