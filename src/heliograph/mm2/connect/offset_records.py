"""Packs source offsets into batches for Connect's offsets topic."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from heliograph.mm2.connect.offsets import (
    murmur2_partition,
    source_offset_key,
    source_offset_value,
)
from heliograph.mm2.state_reading import read_mark, read_number
from heliograph.mm2.state_records import mark_fields
from heliograph.model import LeaderEpochMark, TopicPartition
from heliograph.records.decode import Header, Record
from heliograph.records.encode import encode

#: About 200 bytes a record: batches stay well below the default max.message.bytes of 1 MB.
_RECORDS_PER_BATCH = 2000
#: An extension: Connect reads keys and values only.
#: {"downstream":25,"last":24,"leader_epoch":5,"mark":[12,3],"epochs":[[3,7]]}
LOGS_HEADER = b"heliograph.logs"


class Logs(NamedTuple):
    """The state of both logs when a partition's offset was stored: all records before that offset are below
    `downstream` on the target (-1: not known); `mark` is of the newest record fetched. `last` is the target
    offset of the newest of those records, and `leader_epoch` the epoch of the target's leader under which its
    log was whole; -1: not known."""

    downstream: int = -1
    mark: LeaderEpochMark | None = None
    last: int = -1
    leader_epoch: int = -1


def offset_batches(
    connector: str,
    cluster: str,
    positions: Mapping[TopicPartition, int],
    partitions: int,
    timestamp: int,
    logs: Mapping[TopicPartition, Logs] | None = None,
) -> Iterator[tuple[int, bytearray, list[TopicPartition]]]:
    """(partition of the offsets topic, batch, source partitions with one record each in it).

    A position is the next upstream offset to copy; Connect stores the one before it, the last copied.
    Position 0 is stored as a tombstone: nothing is copied. With `logs`, headers contain the state of both
    logs.
    """
    known = logs or {}
    by_partition: dict[int, list[tuple[TopicPartition, Record]]] = {}
    for source, position in positions.items():
        key = source_offset_key(connector, cluster, *source)
        value = source_offset_value(position - 1) if position else None
        headers = _headers(known.get(source, Logs()))
        record = Record(offset=0, timestamp=timestamp, key=key, value=value, headers=headers)
        by_partition.setdefault(murmur2_partition(key, partitions), []).append((source, record))
    for number, records in by_partition.items():
        for start in range(0, len(records), _RECORDS_PER_BATCH):
            sources, chunk = zip(*records[start : start + _RECORDS_PER_BATCH], strict=True)
            yield number, encode(chunk), list(sources)


def _headers(logs: Logs) -> tuple[Header, ...]:
    if logs == Logs():
        return ()
    document = {
        "downstream": logs.downstream,
        "last": logs.last,
        "leader_epoch": logs.leader_epoch,
        **mark_fields(logs.mark),
    }
    return ((LOGS_HEADER, json.dumps(document, separators=(",", ":")).encode()),)


def read_logs(headers: tuple[Header, ...]) -> Logs:
    """Never raises: an unreadable header counts as none."""
    value = next((value for name, value in headers if name == LOGS_HEADER), None)
    if value is None:
        return Logs()
    try:
        document = json.loads(value)
        return Logs(
            read_number(document["downstream"]),
            read_mark(document),
            read_number(document.get("last", -1)),
            read_number(document.get("leader_epoch", -1)),
        )
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return Logs()
