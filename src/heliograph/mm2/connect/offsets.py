r"""Records of Connect's offsets topic, `mm2-offsets.<source>.internal`, byte for byte.

    key    ["MirrorSourceConnector",{"cluster":"us","partition":0,"topic":"orders"}]
           ["MirrorCheckpointConnector",{"partition":0,"topic":"us.orders","group":"billing"}]
           ["MirrorHeartbeatConnector",{"sourceClusterAlias":"us","targetClusterAlias":"eu"}]
    value  {"offset":123}          the last mirrored upstream offset; resume at 124
           {"offset":0}            always, for checkpoints and heartbeats; not used
           null                    reset: as if nothing had been mirrored

Connect looks an offset up by the exact bytes of its key. So the members have the order of Java's `HashMap`,
there are no blanks, and strings are written as Jackson writes them (`jackson.py`). The record's partition is
murmur2 of the key; in another partition compaction would leave two live copies.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeGuard

from heliograph.mm2.connect import jackson
from heliograph.mm2.connect.jackson import string as _string
from heliograph.mm2.malformed import Malformed

MIRROR_SOURCE_CONNECTOR = "MirrorSourceConnector"

MIRROR_CHECKPOINT_CONNECTOR = "MirrorCheckpointConnector"
MIRROR_HEARTBEAT_CONNECTOR = "MirrorHeartbeatConnector"
#: What the checkpoint and heartbeat connectors store; it is not used.
UNUSED_OFFSET_VALUE = b'{"offset":0}'

_SURROGATE = re.compile("[\ud800-\udfff]")
_INT32_MAX = 2**31 - 1
_INT64_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOffset:
    """The last mirrored offset of one source partition; None is a reset (a tombstone)."""

    connector: str
    cluster: str
    topic: str
    partition: int
    offset: int | None

    @property
    def resume_at(self) -> int | None:
        """The next upstream offset to mirror; None: `auto.offset.reset` decides."""
        return None if self.offset is None or self.offset < 0 else self.offset + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherOffset:
    """A well-formed offset of another kind of connector (checkpoint, heartbeat, or not MM2's)."""

    connector: str


def source_offset_key(connector: str, cluster: str, topic: str, partition: int) -> bytes:
    return (
        f'[{_string(connector)},{{"cluster":{_string(cluster)},'
        f'"partition":{partition},"topic":{_string(topic)}}}]'
    ).encode()


def checkpoint_offset_key(connector: str, topic: str, partition: int, group: str) -> bytes:
    """`topic` is the name on the target. The value is always `UNUSED_OFFSET_VALUE`."""
    return (
        f'[{_string(connector)},{{"partition":{partition},"topic":{_string(topic)},'
        f'"group":{_string(group)}}}]'
    ).encode()


def heartbeat_offset_key(connector: str, source: str, target: str) -> bytes:
    """The value is always `UNUSED_OFFSET_VALUE`."""
    return (
        f'[{_string(connector)},{{"sourceClusterAlias":{_string(source)},'
        f'"targetClusterAlias":{_string(target)}}}]'
    ).encode()


def source_offset_value(offset: int) -> bytes:
    """`offset` is the last mirrored one, not the next."""
    if offset < 0:
        raise ValueError(f"source offset: expected 0 or more, found {offset}")
    return b'{"offset":%d}' % offset


def read_source_offset(
    key: bytes | None, value: bytes | None
) -> SourceOffset | OtherOffset | Malformed:
    """Never raises: one malformed record must not keep later ones from being read."""
    try:
        return _read(key, value)
    except _Malformed as problem:
        return Malformed(reason=str(problem))


class _Malformed(Exception):
    """Carries the reason up to `read_source_offset`."""


def _read(key: bytes | None, value: bytes | None) -> SourceOffset | OtherOffset:
    connector, partition = _read_key(key)
    if partition.keys() != {"cluster", "partition", "topic"}:
        return OtherOffset(connector=connector)
    cluster, topic, number = partition["cluster"], partition["topic"], partition["partition"]
    if not _is_text(cluster) or not _is_text(topic):
        raise _Malformed("key: cluster and topic must be strings without lone surrogates")
    if type(number) is not int or not 0 <= number <= _INT32_MAX:
        raise _Malformed(f"key: expected a partition number, found {number!r}")
    if key != source_offset_key(connector, cluster, topic, number):
        raise _Malformed("key: equivalent JSON, but not the bytes that Connect looks up")
    offset = None if value is None else _read_value(value)
    return SourceOffset(
        connector=connector, cluster=cluster, topic=topic, partition=number, offset=offset
    )


def _read_key(key: bytes | None) -> tuple[str, dict[str, object]]:
    if key is None:
        raise _Malformed("key: null")
    document = _json("key", key)
    match document:
        case [str() as connector, dict() as partition]:
            return connector, partition
        case _:
            raise _Malformed("key: expected [connector name, {source partition}]")


def _read_value(value: bytes) -> int:
    document = _json("value", value)
    offset = document.get("offset") if isinstance(document, dict) else None
    if type(offset) is not int or offset >= _INT64_MAX:  # one is added to resume
        raise _Malformed('value: expected {"offset": number of 63 bits}')
    return offset


def _is_text(found: object) -> TypeGuard[str]:
    return isinstance(found, str) and not _SURROGATE.search(found)


def _json(what: str, data: bytes) -> object:
    try:
        return jackson.load(what, data)
    except ValueError as problem:
        raise _Malformed(str(problem)) from None


def murmur2_partition(key: bytes, partitions: int) -> int:
    """The partition that Kafka's default partitioner chooses for this key."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions


def murmur2(data: bytes) -> int:
    """As `org.apache.kafka.common.utils.Utils.murmur2`, unsigned."""
    multiplier, mask = 0x5BD1E995, 0xFFFFFFFF
    digest = 0x9747B28C ^ len(data)
    whole = len(data) & ~3
    for position in range(0, whole, 4):
        word = int.from_bytes(data[position : position + 4], "little") * multiplier & mask
        word = (word ^ (word >> 24)) * multiplier & mask
        digest = (digest * multiplier & mask) ^ word
    if tail := data[whole:]:
        digest = (digest ^ int.from_bytes(tail, "little")) * multiplier & mask
    digest = (digest ^ (digest >> 13)) * multiplier & mask
    return digest ^ (digest >> 15)
