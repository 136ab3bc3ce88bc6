"""Where logs start and end, and where leader epochs end in them: is a log still the one that was read?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from heliograph.client.admin.topics import EARLIEST, LATEST, available_offsets
from heliograph.client.net.cluster import ClusterClient
from heliograph.errors import BrokerError, ClientError
from heliograph.model import LeaderEpochMark, LogBounds, TopicPartition
from heliograph.wire import messages
from heliograph.wire.error_codes import ErrorCode
from heliograph.wire.messages import broker_error

#: A reader: it hears of nothing past the high watermark.
_CONSUMER = -1


class EpochEnd(NamedTuple):
    """Where the newest epoch up to the one asked for ends in a leader's log; -1 if it has none."""

    epoch: int = -1
    offset: int | None = None


def look_at_logs(
    source: ClusterClient, marks: Mapping[TopicPartition, LeaderEpochMark | None]
) -> tuple[dict[TopicPartition, LogBounds], dict[TopicPartition, str]]:
    """Of each partition, and of those that cannot be asked just now, why."""
    starts, missing = available_offsets(source, marks, EARLIEST)
    ends, without_end = available_offsets(source, marks, LATEST)
    epochs = {p: mark.epoch for p, mark in marks.items() if mark is not None}
    epoch_end, without_epoch = epoch_ends(source, epochs)
    missing |= without_end | without_epoch
    found = {}
    for partition in marks.keys() - missing.keys():
        epoch, end = epoch_end.get(partition, EpochEnd())
        found[partition] = LogBounds(starts[partition], ends[partition], end, epoch)
    return found, missing


def epoch_ends(
    cluster: ClusterClient, epochs: Mapping[TopicPartition, int]
) -> tuple[dict[TopicPartition, EpochEnd], dict[TopicPartition, str]]:
    """In each leader's log (OffsetForLeaderEpoch, KIP-320). Without waiting: of partitions whose leader does
    not answer, it says why.

    Leaders are those of the cluster's metadata, under their epochs: one that leads no more, or anew, refuses.
    """
    found: dict[TopicPartition, EpochEnd] = {}
    missing: dict[TopicPartition, str] = {}
    by_leader: dict[int, list[TopicPartition]] = {}
    for partition in epochs:
        leader = cluster.metadata.leaders.get(partition)
        if leader is None:
            missing[partition] = str(
                broker_error(ErrorCode.LEADER_NOT_AVAILABLE, f"{cluster.config.alias}: {partition}")
            )
        else:
            by_leader.setdefault(leader, []).append(partition)
    for leader, led in by_leader.items():
        problem: ClientError | None
        try:
            problem = _ask(cluster, leader, {p: epochs[p] for p in led}, found)
        except ClientError as e:
            problem = e
        missing |= {partition: str(problem) for partition in led if partition not in found}
    return found, missing


def _ask(
    cluster: ClusterClient,
    leader: int,
    epochs: Mapping[TopicPartition, int],
    found: dict[TopicPartition, EpochEnd],
) -> BrokerError | None:
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
    problem = None
    for topic in cluster.call(leader, request).topics:
        for answer in topic.partitions:
            key = TopicPartition(topic.topic, answer.partition)
            if answer.error_code:
                subject = f"{cluster.config.alias}: leader epochs of {key}"
                problem = broker_error(answer.error_code, subject)
            else:
                found[key] = EpochEnd(answer.leader_epoch, answer.end_offset)
    return problem
