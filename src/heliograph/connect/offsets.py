"""Reads, alters and resets the stored offsets of a connector (KIP-875)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heliograph.client.fetch.compacted_log import read_compacted
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.record_writer import RecordWriter
from heliograph.connect.herder import BadRequest, OffsetEntry
from heliograph.mm2.connect.altered_offsets import (
    SHAPES,
    Fields,
    offset_key,
    offset_problem,
    offset_value,
    read_offset_record,
)
from heliograph.mm2.connect.offsets import murmur2_partition
from heliograph.model import ClusterConfig, TopicPartition
from heliograph.records.decode import Record
from heliograph.sync.producer_snapshots import forget_snapshots

_CLIENT = "connector-offset-producer"


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetPlace:
    """Where the offsets of one connector are stored. `kind` is its class, `source` the alias of its source;
    `target` is the cluster with its producer snapshots, if it copies."""

    connector: str
    kind: str
    topic: str
    cluster: ClusterConfig
    source: str | None = None
    target: ClusterConfig | None = None


def read_offsets(place: OffsetPlace) -> list[OffsetEntry]:
    """Raises ClientError."""
    client = _client(place, place.cluster)
    try:
        return [
            OffsetEntry(partition, offset)
            for partition, offset in _stored(client, place).values()
            if offset is not None
        ]
    finally:
        client.close()


def alter_offsets(place: OffsetPlace, entries: Sequence[OffsetEntry]) -> None:
    """Alters all or none: BadRequest if one of them is invalid for the connector. Raises ClientError."""
    for entry in entries:
        problem = offset_problem(SHAPES[place.kind], entry.partition, entry.offset)
        if problem is not None:
            raise BadRequest(problem)
    client = _client(place, place.cluster)
    try:
        known = {_meaning(p): key for key, (p, _) in _stored(client, place).items()}
        values = {
            known.get(
                _meaning(e.partition), offset_key(place.connector, e.partition)
            ): offset_value(e.offset)
            for e in entries
        }
        _write(client, place, values)
    finally:
        client.close()
    _forget_snapshots(place, [entry.partition for entry in entries])


def reset_offsets(place: OffsetPlace) -> None:
    """Raises ClientError."""
    client = _client(place, place.cluster)
    try:
        stored = {k: p for k, (p, offset) in _stored(client, place).items() if offset is not None}
        _write(client, place, dict.fromkeys(stored))
    finally:
        client.close()
    _forget_snapshots(place, list(stored.values()))


def _stored(client: ClusterClient, place: OffsetPlace) -> dict[bytes, tuple[Fields, Fields | None]]:
    """By the bytes of the stored key, which may differ from those that Heliograph writes."""
    found = {}
    for key, value in read_compacted(client, place.topic).items():
        record = read_offset_record(key, value)
        if record is not None and record[0] == place.connector:
            found[key] = record[1:]
    return found


def _write(client: ClusterClient, place: OffsetPlace, values: Mapping[bytes, bytes | None]) -> None:
    if not values:
        return
    writer, now_ms = RecordWriter(client, place.topic), int(time.time() * 1000)
    count = writer.partitions()
    records: dict[int, list[Record]] = {}
    for key, value in values.items():
        record = Record(timestamp=now_ms, key=key, value=value)
        records.setdefault(murmur2_partition(key, count), []).append(record)
    writer.write(records)


def _forget_snapshots(place: OffsetPlace, partitions: Sequence[Fields]) -> None:
    if place.target is None or place.source is None:
        return
    own = [
        TopicPartition(topic, number)
        for each in partitions
        if each.get("cluster") == place.source
        if isinstance(topic := each.get("topic"), str)
        if isinstance(number := each.get("partition"), int)
    ]
    client = _client(place, place.target)
    try:
        forget_snapshots(place.source, client, own, int(time.time() * 1000))
    finally:
        client.close()


def _meaning(partition: Fields) -> frozenset[tuple[str, object]]:
    return frozenset(partition.items())


def _client(place: OffsetPlace, cluster: ClusterConfig) -> ClusterClient:
    return ClusterClient(cluster, client_id=f"{_CLIENT}-{place.connector}")
