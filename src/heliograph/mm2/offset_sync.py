"""Offset syncs: which downstream offset an upstream one was mirrored to (`OffsetSync.java`).

    key    topic STRING | partition INT32
    value  upstreamOffset INT64 | offset INT64        no version

In partition 0 of `mm2-offset-syncs.<other cluster>.internal`, on the source or on the target (KIP-716).
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from heliograph.mm2.fields import FieldError, present, read, read_string, string
from heliograph.mm2.malformed import Malformed
from heliograph.model import TopicPartition

_PARTITION = struct.Struct(">i")
_OFFSETS = struct.Struct(">qq")


class OffsetSync(NamedTuple):
    """The record at `upstream` of this source partition stands at `downstream` on the target."""

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
    """Never raises: one strange record must not keep the syncs behind it from being read."""
    try:
        key, value = present("key", key), present("value", value)
        topic, at = read_string("topic", key, 0)
        (partition,) = read("partition", _PARTITION, key, at)
        upstream, downstream = read("offsets", _OFFSETS, value, 0)
    except FieldError as problem:
        return Malformed(str(problem))
    return OffsetSync(topic, partition, upstream, downstream)
