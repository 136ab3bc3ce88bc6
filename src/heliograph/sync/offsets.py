"""Reads where a flow resumes: from Connect's offsets topic, or from the source's log bounds."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import NamedTuple

from heliograph.client.admin.topics import EARLIEST, LATEST, list_offsets
from heliograph.client.fetch.compacted_log import read_newest
from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import FlowConfig
from heliograph.counted import counted
from heliograph.mm2.connect.offset_records import Logs, read_logs
from heliograph.mm2.connect.offsets import SourceOffset, read_source_offset
from heliograph.mm2.malformed import Malformed
from heliograph.model import IsolationLevel, OffsetReset, TopicPartition

log = logging.getLogger(__name__)


class StoredOffset(NamedTuple):
    """The next upstream offset to mirror, and the state of both logs when it was stored, which only
    transactions store."""

    position: int
    logs: Logs = Logs()


def stored_positions(flow: FlowConfig, target: ClusterClient) -> dict[TopicPartition, int]:
    """The next upstream offset of every partition with a stored offset of this flow's connector."""
    return {partition: each.position for partition, each in stored_offsets(flow, target).items()}


def stored_offsets(flow: FlowConfig, target: ClusterClient) -> dict[TopicPartition, StoredOffset]:
    """The stored offsets of this flow's connector."""
    found: dict[TopicPartition, StoredOffset] = {}
    malformed = 0
    for key, record in read_newest(target, flow.offsets_topic.name).items():
        offset = read_source_offset(key, record.value)
        if isinstance(offset, Malformed):
            malformed += 1
            log.warning(
                "%s: skipping a malformed record: %s", flow.offsets_topic.name, offset.reason
            )
        elif (
            isinstance(offset, SourceOffset)
            and (offset.connector, offset.cluster) == (flow.connector_name, flow.source)
            and offset.resume_at is not None
        ):
            partition = TopicPartition(offset.topic, offset.partition)
            found[partition] = StoredOffset(offset.resume_at, read_logs(record.headers))
    if malformed:
        log.warning("%s: skipped %d malformed records", flow.offsets_topic.name, malformed)
    return found


def reset_positions(
    flow: FlowConfig, source: ClusterClient, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, int]:
    """The start of partitions without a stored offset, by `auto.offset.reset`; empty if that is `none`."""
    wanted = list(partitions)
    if not wanted or flow.auto_offset_reset is OffsetReset.NONE:
        return {}
    earliest = flow.auto_offset_reset is OffsetReset.EARLIEST
    found = list_offsets(source, wanted, EARLIEST if earliest else LATEST)
    if not earliest:
        skipped = sum(found.values())
        log.info(
            "flow %s: starting at the end of %s (auto.offset.reset=latest), %s skipped",
            flow.name,
            counted(len(found), "partition"),
            counted(skipped, "offset"),
        )
    return found


def end_positions(
    source: ClusterClient, partitions: Iterable[TopicPartition], isolation_level: IsolationLevel
) -> dict[TopicPartition, int]:
    """The ends of a bounded run: the current high watermarks, or last stable offsets."""
    return list_offsets(source, list(partitions), LATEST, isolation_level)
