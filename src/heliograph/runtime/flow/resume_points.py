"""Reads where the last mirror of a flow stopped: stored offsets, producer snapshots, lengths of the logs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import NamedTuple

from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import FlowConfig
from heliograph.model import AckedOffsets, LeaderEpochMark, TopicPartition
from heliograph.plan.resume import Resumption, resumption
from heliograph.runtime.connectors.schedule import log_duration
from heliograph.sync.offsets import StoredOffset, stored_offsets
from heliograph.sync.producer_snapshots import read_acked_offsets, read_snapshots

#: Attempts to read offsets and snapshots that fit each other; the previous service may still be writing.
_READINGS = 5


class ResumePoints(NamedTuple):
    stored: Mapping[TopicPartition, StoredOffset]
    found: Mapping[TopicPartition, Resumption]

    @property
    def positions(self) -> dict[TopicPartition, int]:
        """The stored offsets."""
        return {partition: each.position for partition, each in self.stored.items()}


def read_resume_points(
    flow: FlowConfig, offsets: ClusterClient, target: ClusterClient
) -> ResumePoints:
    """Offsets and snapshots are read one after the other, and the previous service may write in between: if
    they do not fit each other, they are read again, until nothing has changed, at most 5 times."""
    began, before = time.monotonic(), None
    for left in reversed(range(_READINGS)):
        stored = stored_offsets(flow, offsets)
        snapshots = read_snapshots(flow.source, target)
        found = {
            partition: resumption(
                stored[partition].position if partition in stored else None,
                snapshots.get(partition),
                flow.target_topic(partition.topic),
            )
            for partition in stored.keys() | snapshots.keys()
        }
        fits = not any(each.by_stored for each in found.values())
        if fits or before == (stored, snapshots) or not left:
            break
        before = stored, snapshots
    log_duration(f"flow {flow.name}: stored offsets and snapshots", began)
    return ResumePoints(stored, found)


def read_committed_logs(
    flow: FlowConfig, target: ClusterClient, stored: Mapping[TopicPartition, StoredOffset]
) -> dict[TopicPartition, AckedOffsets]:
    """For exactly once: the least length of each remote log. A stored offset names it; the offset map has it
    for offsets that earlier versions stored."""
    acked = read_acked_offsets(flow.source, target)
    for partition, (position, logs) in stored.items():
        if logs.downstream >= 0:
            acked[partition] = AckedOffsets(position, logs.downstream, logs.last, logs.leader_epoch)
    return acked


def stored_marks(
    stored: Mapping[TopicPartition, StoredOffset],
) -> dict[TopicPartition, LeaderEpochMark]:
    """The leader epoch mark of each source log, which transactions and lanes store with the offset."""
    return {
        partition: each.logs.mark
        for partition, each in stored.items()
        if each.logs.mark is not None
    }
