"""Where writers before us stood, as the state topic has it."""

from __future__ import annotations

import logging
from collections.abc import Collection

from heliograph.client.fetch.compacted_log import read_compacted
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.record_writer import RecordWriter
from heliograph.mm2.malformed import Malformed
from heliograph.mm2.state_reading import read_state
from heliograph.mm2.state_records import TrailRecord, state_topic, trail_key
from heliograph.model import TopicPartition
from heliograph.records.decode import Record

log = logging.getLogger(__name__)


def read_trails(source_alias: str, target: ClusterClient) -> dict[TopicPartition, TrailRecord]:
    """By source partition. One that cannot be understood is none: the stored offset counts then."""
    topic = state_topic(source_alias)
    trails: dict[TopicPartition, TrailRecord] = {}
    for key, value in read_compacted(target, topic).items():
        if key.startswith(b'["trail"'):
            record = read_state(key, value)
            if isinstance(record, TrailRecord):
                trails[record.topic_partition] = record
            elif isinstance(record, Malformed):
                log.warning("%s: a trail is passed over: %s", topic, record.reason)
    return trails


def forget_trails(
    source_alias: str, target: ClusterClient, partitions: Collection[TopicPartition], now_ms: int
) -> None:
    """For a user who has changed stored offsets, to one that a trail happens to know, too."""
    topic = state_topic(source_alias)
    if partitions and topic in target.refresh([topic]).partitions:
        records = [Record(timestamp=now_ms, key=trail_key(p), value=None) for p in partitions]
        RecordWriter(target, topic).write({0: records})
