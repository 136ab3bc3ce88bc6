"""Reads and writes the checkpoints topic of a flow on its target."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence

from heliograph.client.fetch.compacted_log import read_compacted
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.record_writer import RecordWriter
from heliograph.config.mirror_config import Checkpoints, FlowConfig
from heliograph.mm2.checkpoint import Checkpoint, read_checkpoint
from heliograph.mm2.connect.offsets import (
    UNUSED_OFFSET_VALUE,
    checkpoint_offset_key,
    murmur2_partition,
)
from heliograph.mm2.malformed import Malformed
from heliograph.model import TopicPartition
from heliograph.plan.internal_topics import checkpoints_of
from heliograph.records.decode import Record
from heliograph.sync.internal_topics import ensure_internal_topic

log = logging.getLogger(__name__)

#: By group and the target's partition.
CheckpointsByGroup = dict[str, dict[TopicPartition, Checkpoint]]


class CheckpointLog:
    """For one thread. `malformed` counts malformed records. `offsets` is the cluster of stored offsets."""

    def __init__(
        self,
        flow: FlowConfig,
        config: Checkpoints,
        target: ClusterClient,
        offsets: ClusterClient,
    ) -> None:
        self.topic = config.topic
        self._placed = checkpoints_of(flow, config)
        self.malformed = 0
        self._connector_name = config.connector_name
        self._target = target
        self._checkpoints = RecordWriter(target, config.topic.name)
        self._offsets = RecordWriter(offsets, flow.offsets_topic.name)

    def ensure(self) -> str | None:
        """Make the topic usable; returns the problem if that is not possible."""
        return ensure_internal_topic(self._target, self._placed)

    def load(self) -> CheckpointsByGroup:
        """The newest checkpoint of every group and partition; empty without the topic."""
        found: CheckpointsByGroup = {}
        self.malformed = 0
        for key, value in read_compacted(self._target, self.topic.name).items():
            if value is None:
                continue
            checkpoint = read_checkpoint(key, value)
            if isinstance(checkpoint, Malformed):
                self.malformed += 1
                log.warning(
                    "%s: skipping a malformed record: %s", self.topic.name, checkpoint.reason
                )
            else:
                found.setdefault(checkpoint.group, {})[checkpoint.topic_partition] = checkpoint
        return found

    def write(
        self,
        checkpoints: Sequence[Checkpoint],
        before: Mapping[str, Mapping[TopicPartition, Checkpoint]],
        now_ms: int,
    ) -> None:
        """`before` are the checkpoints that exist already."""
        if not checkpoints:
            return
        new = [c for c in checkpoints if c.topic_partition not in before.get(c.group, {})]
        if new:
            self._store_offsets(new, now_ms)
        self._checkpoints.write(
            {0: [Record(timestamp=now_ms, key=c.key(), value=c.value()) for c in checkpoints]}
        )

    def _store_offsets(self, checkpoints: Iterable[Checkpoint], now_ms: int) -> None:
        """Store the offset that a Connect worker would store for each (group, partition); before the
        checkpoint, so that every checkpoint has one."""
        count = self._offsets.partitions()
        records: dict[int, list[Record]] = {}
        for c in checkpoints:
            key = checkpoint_offset_key(self._connector_name, c.topic, c.partition, c.group)
            record = Record(timestamp=now_ms, key=key, value=UNUSED_OFFSET_VALUE)
            records.setdefault(murmur2_partition(key, count), []).append(record)
        self._offsets.write(records)
