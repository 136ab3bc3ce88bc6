"""Where a flow resumes: what Connect's offsets topic on the target holds, or the source's own bounds."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from heliograph.client.admin.topics import EARLIEST, LATEST, list_offsets
from heliograph.client.fetch.compacted_log import read_compacted
from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import FlowConfig
from heliograph.mm2.connect.offsets import SourceOffset, read_source_offset
from heliograph.mm2.malformed import Malformed
from heliograph.model import IsolationLevel, OffsetReset, TopicPartition

log = logging.getLogger(__name__)


def stored_positions(flow: FlowConfig, target: ClusterClient) -> dict[TopicPartition, int]:
    """The next upstream offset of every partition that this flow's connector has stored one for."""
    positions: dict[TopicPartition, int] = {}
    malformed = 0
    for key, value in read_compacted(target, flow.offsets_topic.name).items():
        offset = read_source_offset(key, value)
        if isinstance(offset, Malformed):
            malformed += 1
            log.warning("%s: a record is passed over: %s", flow.offsets_topic.name, offset.reason)
        elif (
            isinstance(offset, SourceOffset)
            and (offset.connector, offset.cluster) == (flow.connector_name, flow.source)
            and offset.resume_at is not None
        ):
            positions[TopicPartition(offset.topic, offset.partition)] = offset.resume_at
    if malformed:
        log.warning("%s: %d malformed records in all", flow.offsets_topic.name, malformed)
    return positions


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
