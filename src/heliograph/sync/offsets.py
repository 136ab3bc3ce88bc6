"""Where a flow resumes: what Connect's offsets topic on the target holds, or the source's own bounds."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import NamedTuple

from heliograph.client.admin.topics import EARLIEST, LATEST, list_offsets
from heliograph.client.fetch.compacted_log import read_newest
from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import FlowConfig
from heliograph.mm2.connect.offset_records import Logs, read_logs
from heliograph.mm2.connect.offsets import SourceOffset, read_source_offset
from heliograph.mm2.malformed import Malformed
from heliograph.model import IsolationLevel, OffsetReset, TopicPartition

log = logging.getLogger(__name__)


class StoredOffset(NamedTuple):
    """The next upstream offset to mirror, and what both logs were like when it was stored: only a
    transaction says that."""

    position: int
    logs: Logs = Logs()


def stored_positions(flow: FlowConfig, target: ClusterClient) -> dict[TopicPartition, int]:
    """The next upstream offset of every partition that this flow's connector has stored one for."""
    return {partition: each.position for partition, each in stored_offsets(flow, target).items()}


def stored_offsets(flow: FlowConfig, target: ClusterClient) -> dict[TopicPartition, StoredOffset]:
    """Of every partition that this flow's connector has stored an offset for."""
    found: dict[TopicPartition, StoredOffset] = {}
    malformed = 0
    for key, record in read_newest(target, flow.offsets_topic.name).items():
        offset = read_source_offset(key, record.value)
        if isinstance(offset, Malformed):
            malformed += 1
            log.warning("%s: a record is passed over: %s", flow.offsets_topic.name, offset.reason)
        elif (
            isinstance(offset, SourceOffset)
            and (offset.connector, offset.cluster) == (flow.connector_name, flow.source)
            and offset.resume_at is not None
        ):
            partition = TopicPartition(offset.topic, offset.partition)
            found[partition] = StoredOffset(offset.resume_at, read_logs(record.headers))
    if malformed:
        log.warning("%s: %d malformed records in all", flow.offsets_topic.name, malformed)
    return found


def reset_positions(
    flow: FlowConfig, source: ClusterClient, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, int]:
    """Where partitions without a stored offset start: as `auto.offset.reset` says, none if it is none."""
    wanted = list(partitions)
    if not wanted or flow.auto_offset_reset is OffsetReset.NONE:
        return {}
    earliest = flow.auto_offset_reset is OffsetReset.EARLIEST
    found = list_offsets(source, wanted, EARLIEST if earliest else LATEST)
    if not earliest:
        skipped = sum(found.values())
        log.info(
            "flow %s: %d partitions start at their end (auto.offset.reset=latest), %d offsets skipped",
            flow.name,
            len(found),
            skipped,
        )
    return found


def end_positions(
    source: ClusterClient, partitions: Iterable[TopicPartition], isolation_level: IsolationLevel
) -> dict[TopicPartition, int]:
    """Where a bounded run ends: the high watermarks, or the last stable offsets, as of now."""
    return list_offsets(source, list(partitions), LATEST, isolation_level)
