"""Finds the gaps in source logs that a mirror would find if it were started now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from heliograph.client.fetch.log_history import look_at_logs
from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import FlowConfig
from heliograph.mm2.state_records import PartitionStatus, ProducerSnapshotRecord, state_topic
from heliograph.model import LogBounds, TopicPartition
from heliograph.plan.gap_verdict import Found, Known, Topic, describe, fails, judge, outcome
from heliograph.plan.resume import resumption
from heliograph.plan.topic_outcome import MirroredTopics
from heliograph.sync.offsets import stored_positions
from heliograph.sync.producer_snapshots import read_snapshots
from heliograph.sync.statuses import read_statuses


def expected_gaps(
    flow: FlowConfig,
    source: ClusterClient,
    target: ClusterClient,
    offsets: ClusterClient,
    topics: MirroredTopics,
) -> dict[str, str]:
    """A sentence for each partition with a gap. Partitions whose leader does not respond are left out."""
    reported = read_statuses(target, state_topic(flow.source)).partitions.get(flow.name, {})
    stored, snapshots = stored_positions(flow, offsets), read_snapshots(flow.source, target)
    known = {
        partition: _known(start, reported.get(partition))
        for partition in stored.keys() | snapshots.keys()
        if partition.partition < topics.partitions.get(partition.topic, 0)
        if (start := _start(flow, partition, stored, snapshots)) is not None
    }
    logs, _ = look_at_logs(source, {partition: its.mark for partition, its in known.items()})
    sentences: dict[str, str] = {}
    for partition, found in logs.items():
        for sentence in _sentences(
            flow, known[partition], _with_topics(flow, partition, found, topics)
        ):
            sentences[str(partition)] = f"{partition}: {sentence}"
    return sentences


def _start(
    flow: FlowConfig,
    partition: TopicPartition,
    stored: Mapping[TopicPartition, int],
    snapshots: Mapping[TopicPartition, ProducerSnapshotRecord],
) -> int | None:
    remote = flow.target_topic(partition.topic)
    return resumption(stored.get(partition), snapshots.get(partition), remote).start


def _known(start: int, status: PartitionStatus | None) -> Known:
    if status is None:
        return Known(position=start)
    return Known(
        position=start,
        source_end=status.source_end,
        mark=status.mark,
        origin=status.origin,
    )


def _with_topics(
    flow: FlowConfig, partition: TopicPartition, log: LogBounds, topics: MirroredTopics
) -> Found:
    remote, ids = flow.target_topic(partition.topic), topics.ids
    return Found(
        source=Topic(True, ids.source.get(partition.topic)),
        remote=Topic(remote in ids.target, ids.target.get(remote)),
        log=log,
    )


def _sentences(flow: FlowConfig, known: Known, found: Found) -> Iterator[str]:
    verdict = judge(known, found, flow.auto_offset_reset)
    failed = fails(verdict, flow.gap_policies)
    for gap in verdict.gaps:
        then = outcome(gap._replace(resumed=-1) if failed else gap, flow.gap_policies)
        yield f"{describe(gap)}; {then}"
