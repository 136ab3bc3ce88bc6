"""Reads the statuses of flows and partitions from a state topic."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from heliograph.client.fetch.compacted_log import read_compacted
from heliograph.client.net.cluster import ClusterClient
from heliograph.mm2.malformed import Malformed
from heliograph.mm2.state_reading import read_state
from heliograph.mm2.state_records import EventRecord, FlowStatus, GapRecord, PartitionStatus
from heliograph.model import TopicPartition

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statuses:
    """The last status of each flow, of partitions and gaps by flow and source partition; events by flow."""

    flows: Mapping[str, FlowStatus] = field(default_factory=dict)
    partitions: Mapping[str, Mapping[TopicPartition, PartitionStatus]] = field(default_factory=dict)
    gaps: Mapping[str, Mapping[TopicPartition, GapRecord]] = field(default_factory=dict)
    events: Mapping[str, Sequence[EventRecord]] = field(default_factory=dict)


def read_statuses(cluster: ClusterClient, topic: str) -> Statuses:
    """Empty without the topic."""
    flows: dict[str, FlowStatus] = {}
    partitions: dict[str, dict[TopicPartition, PartitionStatus]] = {}
    gaps: dict[str, dict[TopicPartition, GapRecord]] = {}
    events: dict[str, list[EventRecord]] = {}
    malformed = 0
    for key, value in read_compacted(cluster, topic).items():
        state = read_state(key, value)
        malformed += isinstance(state, Malformed)
        if isinstance(state, FlowStatus):
            flows[state.flow] = state
        elif isinstance(state, PartitionStatus):
            its = partitions.setdefault(state.flow, {})
            its[TopicPartition(state.topic, state.partition)] = state
        elif isinstance(state, GapRecord):
            gaps.setdefault(state.flow, {})[TopicPartition(state.topic, state.partition)] = state
        elif isinstance(state, EventRecord):
            events.setdefault(state.flow, []).append(state)
    if malformed:
        log.warning("%s: skipped %d malformed records", topic, malformed)
    return Statuses(flows=flows, partitions=partitions, gaps=gaps, events=events)
