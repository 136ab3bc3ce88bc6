"""Finds where logs start and end, and where a leader epoch ends in them, which shows a truncated log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from heliograph.client.admin.leaders import ask_leaders
from heliograph.client.admin.topics import EARLIEST, LATEST, available_offsets
from heliograph.client.net.cluster import ClusterClient
from heliograph.errors import BrokerError, ClientError
from heliograph.model import LeaderEpochMark, LogBounds, TopicPartition
from heliograph.wire import messages

#: A consumer: brokers answer it with nothing past the high watermark.
_CONSUMER = -1


class EpochEnd(NamedTuple):
    """Where the newest epoch up to the one asked for ends in a leader's log; -1: the leader has none."""

    epoch: int = -1
    offset: int | None = None


def look_at_logs(
    source: ClusterClient, marks: Mapping[TopicPartition, LeaderEpochMark | None]
) -> tuple[dict[TopicPartition, LogBounds], dict[TopicPartition, str]]:
    """The bounds of each partition's log, and for partitions whose leader does not answer, why."""
    starts, missing = available_offsets(source, marks, EARLIEST)
    ends, without_end = available_offsets(source, marks, LATEST)
    epochs = {p: mark.epoch for p, mark in marks.items() if mark is not None}
    epoch_end, without_epoch = epoch_ends(source, epochs)
    missing |= without_end | without_epoch
    found = {}
    for partition in marks.keys() - missing.keys():
        epoch, end = epoch_end.get(partition, EpochEnd())
        leader = source.metadata.leader_epochs.get(partition, -1)
        found[partition] = LogBounds(starts[partition], ends[partition], end, epoch, leader)
    return found, {partition: str(error) for partition, error in missing.items()}


def epoch_ends(
    cluster: ClusterClient, epochs: Mapping[TopicPartition, int]
) -> tuple[dict[TopicPartition, EpochEnd], dict[TopicPartition, ClientError]]:
    """Where epochs end in the leaders' logs (OffsetForLeaderEpoch, KIP-320), without waiting; and the errors
    of partitions whose leader does not answer.

    A leader is asked under its epoch in the cluster's metadata: it refuses if it leads under another.
    """
    return ask_leaders(
        cluster, epochs, lambda leader, led: _ask(cluster, leader, {p: epochs[p] for p in led})
    )


def _ask(
    cluster: ClusterClient,
    leader: int,
    epochs: Mapping[TopicPartition, int],
) -> dict[TopicPartition, EpochEnd | BrokerError]:
    topic_entry = messages.OffsetForLeaderEpochRequest.OffsetForLeaderTopic
    entry = topic_entry.OffsetForLeaderPartition
    by_topic: dict[str, list[object]] = {}
    for key, epoch in epochs.items():
        by_topic.setdefault(key.topic, []).append(
            entry(
                partition=key.partition,
                current_leader_epoch=cluster.metadata.leader_epochs.get(key, -1),
                leader_epoch=epoch,
            )
        )
    request = messages.OffsetForLeaderEpochRequest(
        replica_id=_CONSUMER,
        topics=[topic_entry(topic=name, partitions=its) for name, its in by_topic.items()],
    )
    found: dict[TopicPartition, EpochEnd | BrokerError] = {}
    for topic in cluster.call(leader, request).topics:
        for answer in topic.partitions:
            key = TopicPartition(topic.topic, answer.partition)
            subject = f"{cluster.config.alias}: leader epochs of {key}"
            found[key] = (
                messages.broker_error(answer.error_code, subject)
                if answer.error_code
                else EpochEnd(answer.leader_epoch, answer.end_offset)
            )
    return found
