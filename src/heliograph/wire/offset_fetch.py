"""Decodes OffsetFetch responses of versions 8 and 9: hundreds of groups have tens of thousands of offsets.

    partition   INT32 index · INT64 offset · INT32 leader epoch · COMPACT_STRING metadata · INT16 error · tags

Consumers rarely commit metadata, so the entries of a topic mostly have one size, and are unpacked at once.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

from heliograph.model import CommittedOffset, TopicPartition
from heliograph.wire.flexible import count, nullable_string, skip_tags, string, whole

API_KEY = 9
VERSIONS = (8, 9)

_THROTTLE_BYTES = 4
_ERROR = struct.Struct(">h")
_HEAD = struct.Struct(">iqi")
_PLAIN = struct.Struct(
    ">i"  # partition
    "q"   # committed offset
    "i"   # leader epoch, -1 if unknown
    "4s"  # no metadata, no error, no tagged fields
)  # fmt: skip
_NOTHING = {b"\x01\0\0\0"}
#: As `TopicPartition(…)`, in half the time.
_new: Any = tuple.__new__


class FetchedGroup(NamedTuple):
    """`refused` has the error codes of partitions that have one; `offsets` leaves those out."""

    group_id: str
    error_code: int
    offsets: dict[TopicPartition, CommittedOffset]
    refused: dict[TopicPartition, int]


class OffsetFetchResponse(NamedTuple):
    groups: list[FetchedGroup]


@whole
def decode_response(body: bytes) -> tuple[OffsetFetchResponse, int]:
    groups = []
    number, at = count(body, _THROTTLE_BYTES)
    for _ in range(number):
        name, at = string(body, at)
        group = FetchedGroup(name, 0, {}, {})
        topics, at = count(body, at)
        for _ in range(topics):
            topic, at = string(body, at)
            at = skip_tags(body, _read_partitions(body, at, topic, group))
        (error,) = _ERROR.unpack_from(body, at)
        at = skip_tags(body, at + _ERROR.size)
        groups.append(group._replace(error_code=error) if error else group)
    return OffsetFetchResponse(groups), skip_tags(body, at)


def _read_partitions(body: bytes, at: int, topic: str, group: FetchedGroup) -> int:
    number, at = count(body, at)
    end = at + number * _PLAIN.size
    plain = list(_PLAIN.iter_unpack(body[at:end])) if end <= len(body) else []
    if len(plain) == number and {tail for _, _, _, tail in plain} <= _NOTHING:
        group.offsets.update(
            {
                _new(TopicPartition, (topic, index)): _new(CommittedOffset, (offset, ""))
                for index, offset, _, _ in plain
            }
        )
        return end
    for _ in range(number):
        index, offset, _ = _HEAD.unpack_from(body, at)
        metadata, at = nullable_string(body, at + _HEAD.size)
        (error,) = _ERROR.unpack_from(body, at)
        at = skip_tags(body, at + _ERROR.size)
        _add(group, TopicPartition(topic, index), CommittedOffset(offset, metadata or ""), error)
    return at


def _add(
    group: FetchedGroup, partition: TopicPartition, committed: CommittedOffset, error: int
) -> None:
    if error:
        group.refused[partition] = error
    else:
        group.offsets[partition] = committed
