"""Checkpoint records: a consumer group's committed offset translated to the target (`Checkpoint.java`).

    key    group STRING | topic STRING | partition INT32             topic: its name on the target
    value  version INT16 = 0 | upstreamOffset INT64 | offset INT64 | metadata STRING

In partition 0 of `<source>.checkpoints.internal` on the target.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from heliograph.mm2.fields import FieldError, present, read, read_string, string
from heliograph.mm2.malformed import Malformed
from heliograph.model import TopicPartition

_VERSION = 0
_PARTITION = struct.Struct(">i")
_HEADER = struct.Struct(">h")
_VALUE = struct.Struct(">hqq")


class Checkpoint(NamedTuple):
    """A group with committed offset `upstream` on the source continues at `downstream` on the target."""

    group: str
    topic: str
    partition: int
    upstream: int
    downstream: int
    metadata: str = ""

    @property
    def topic_partition(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)

    def key(self) -> bytes:
        return string(self.group) + string(self.topic) + _PARTITION.pack(self.partition)

    def value(self) -> bytes:
        return _VALUE.pack(_VERSION, self.upstream, self.downstream) + string(self.metadata)

    def __str__(self) -> str:
        """As `kafka-console-consumer.sh` prints it with MM2's CheckpointFormatter."""
        return (
            f"Checkpoint{{consumerGroupId={self.group}, topicPartition={self.topic}-{self.partition}, "
            f"upstreamOffset={self.upstream}, downstreamOffset={self.downstream}, "
            f"metadata={self.metadata}}}"
        )


def read_checkpoint(key: bytes | None, value: bytes | None) -> Checkpoint | Malformed:
    """Never raises. An unknown version is malformed; Java before 4.4 would read it as version 0."""
    try:
        key, value = present("key", key), present("value", value)
        group, at = read_string("group", key, 0)
        topic, at = read_string("topic", key, at)
        (partition,) = read("partition", _PARTITION, key, at)
        (version,) = read("version", _HEADER, value, 0)
        if version != _VERSION:
            return Malformed(f"version: expected {_VERSION}, found {version}")
        _, upstream, downstream = read("offsets", _VALUE, value, 0)
        metadata, _ = read_string("metadata", value, _VALUE.size)
    except FieldError as problem:
        return Malformed(str(problem))
    return Checkpoint(group, topic, partition, upstream, downstream, metadata)
