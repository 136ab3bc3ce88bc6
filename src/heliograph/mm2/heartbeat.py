"""Heartbeat records: show on the target that a flow is alive (`Heartbeat.java`).

    key    sourceClusterAlias STRING | targetClusterAlias STRING
    value  version INT16 = 0 | timestamp INT64 (ms)

In partition 0 of `heartbeats` on the target; the record carries the same timestamp.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from heliograph.mm2.fields import FieldError, present, read, read_string, string
from heliograph.mm2.malformed import Malformed

_VERSION = 0
_HEADER = struct.Struct(">h")
_VALUE = struct.Struct(">hq")


class Heartbeat(NamedTuple):
    """A mirror from `source` to `target` was alive at `timestamp` (ms)."""

    source: str
    target: str
    timestamp: int

    def key(self) -> bytes:
        return string(self.source) + string(self.target)

    def value(self) -> bytes:
        return _VALUE.pack(_VERSION, self.timestamp)

    def __str__(self) -> str:
        """As `kafka-console-consumer.sh` prints it with MM2's HeartbeatFormatter."""
        return (
            f"Heartbeat{{sourceClusterAlias={self.source}, targetClusterAlias={self.target}, "
            f"timestamp={self.timestamp}}}"
        )


def read_heartbeat(key: bytes | None, value: bytes | None) -> Heartbeat | Malformed:
    """Never raises. An unknown version is malformed; Java before 4.4 would read it as version 0."""
    try:
        key, value = present("key", key), present("value", value)
        source, at = read_string("sourceClusterAlias", key, 0)
        target, _ = read_string("targetClusterAlias", key, at)
        (version,) = read("version", _HEADER, value, 0)
        if version != _VERSION:
            return Malformed(f"version: expected {_VERSION}, found {version}")
        _, timestamp = read("timestamp", _VALUE, value, 0)
    except FieldError as problem:
        return Malformed(str(problem))
    return Heartbeat(source, target, timestamp)
