"""Reads and deletes producer snapshots of earlier writers in the state topic."""

from __future__ import annotations

import logging
from collections.abc import Collection

from heliograph.client.fetch.compacted_log import read_compacted
from heliograph.client.fetch.log_tail import LogTail
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.record_writer import RecordWriter
from heliograph.mm2.malformed import Malformed
from heliograph.mm2.offset_map_segments import load_offset_maps
from heliograph.mm2.state_reading import read_state
from heliograph.mm2.state_records import ProducerSnapshotRecord, snapshot_key, state_topic
from heliograph.model import AckedOffsets, TopicPartition
from heliograph.records.decode import Record

log = logging.getLogger(__name__)


def read_snapshots(
    source_alias: str, target: ClusterClient
) -> dict[TopicPartition, ProducerSnapshotRecord]:
    """Snapshots by source partition. A malformed one is skipped: the stored offset is used then."""
    topic = state_topic(source_alias)
    snapshots: dict[TopicPartition, ProducerSnapshotRecord] = {}
    for key, value in read_compacted(target, topic).items():
        if key.startswith(b'["trail"'):
            record = read_state(key, value)
            if isinstance(record, ProducerSnapshotRecord):
                snapshots[record.topic_partition] = record
            elif isinstance(record, Malformed):
                log.warning("%s: skipping a malformed snapshot: %s", topic, record.reason)
    return snapshots


def read_acked_offsets(
    source_alias: str, target: ClusterClient
) -> dict[TopicPartition, AckedOffsets]:
    """How long remote partitions' logs were at least, by source partition: as far as the offset map knows."""
    records = LogTail(target, state_topic(source_alias)).read_new()
    loaded = load_offset_maps((record.key, record.value) for record in records)
    return {
        partition: last.acked_offsets
        for partition, ranges in loaded.offset_maps.items()
        if (last := ranges.last) is not None and last.downstream >= 0
    }


def forget_snapshots(
    source_alias: str, target: ClusterClient, partitions: Collection[TopicPartition], now_ms: int
) -> None:
    """Delete snapshots after a user has changed stored offsets, possibly to one that a snapshot contains."""
    topic = state_topic(source_alias)
    if partitions and topic in target.refresh([topic]).partitions:
        records = [Record(timestamp=now_ms, key=snapshot_key(p), value=None) for p in partitions]
        RecordWriter(target, topic).write({0: records})
