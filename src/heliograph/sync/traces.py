"""Traces that mirrors of other processes leave on a cluster that they mirror into."""

from __future__ import annotations

import logging

from heliograph.client.cluster import ClusterClient
from heliograph.client.log_tail import LogTail
from heliograph.errors import InvalidPattern
from heliograph.mm2.connect_offsets import SourceOffset, read_source_offset
from heliograph.mm2.state_records import (
    STOPPED,
    FlowStatus,
    PartitionStatus,
    read_state,
    state_topic,
)
from heliograph.plan.foreign_loops import ForeignFlow, JavaMirror
from heliograph.policy.topic_filter import DefaultTopicFilter

log = logging.getLogger(__name__)

#: A Heliograph that is alive says so at least this often.
_ALIVE_MS = 15_000
_STATE_PREFIX, _STATE_SUFFIX = "mm2-heliograph.", ".internal"


def foreign_flows(cluster: ClusterClient) -> list[ForeignFlow]:
    """Flows into this cluster that Heliographs have told of, but for those that ended in order."""
    topics = frozenset(cluster.refresh().partitions)
    return [
        flow
        for topic in sorted(topics)
        if topic.startswith(_STATE_PREFIX) and topic.endswith(_STATE_SUFFIX)
        for flow in _flows_of(cluster, topic, topics)
    ]


def _flows_of(cluster: ClusterClient, topic: str, present: frozenset[str]) -> list[ForeignFlow]:
    flows: dict[str, FlowStatus] = {}
    mirrored: dict[str, set[str]] = {}
    for record in LogTail(cluster, topic).read_new():
        state = read_state(record.key, record.value)
        if isinstance(state, FlowStatus):
            flows[state.flow] = state
        elif isinstance(state, PartitionStatus):
            mirrored.setdefault(state.flow, set()).add(state.topic)
    return [
        ForeignFlow(
            name=status.flow,
            source_id=status.source_id,
            target_id=status.target_id,
            keeps_names=status.policy != "DefaultReplicationPolicy",
            topics=(_wanted(status, present) | mirrored.get(status.flow, set()))
            - set(status.refused),
            at_ms=status.at_ms,
            since_ms=status.since_ms,
        )
        for status in flows.values()
        if status.state != STOPPED
    ]


def _wanted(status: FlowStatus, present: frozenset[str]) -> frozenset[str]:
    """What a flow that has just begun will mirror; a filter that we cannot read is one that takes all."""
    try:
        wanted = DefaultTopicFilter.of(status.topics, status.topics_exclude)
    except InvalidPattern as e:
        log.warning("flow %s of another Heliograph: %s", status.flow, e)
        return present
    return frozenset(filter(wanted.accepts, present))


def _last_word(cluster: ClusterClient, alias: str) -> int:
    states = (
        read_state(record.key, record.value)
        for record in LogTail(cluster, state_topic(alias)).read_new()
    )
    return max((state.at_ms for state in states if isinstance(state, FlowStatus)), default=0)


def java_mirrors(cluster: ClusterClient, alias: str) -> list[JavaMirror]:
    """The MirrorMaker 2 in dedicated mode, if any, that mirrors into this cluster from its `alias`.

    A Heliograph stores its offsets in the same topic: what is not newer than its last word is its own.
    """
    topic, last_word = f"mm2-offsets.{alias}.internal", _last_word(cluster, alias)
    newest: dict[str, int] = {}
    for number in range(cluster.refresh([topic]).partitions.get(topic, 0)):
        for record in LogTail(cluster, topic, number).read_new():
            offset = read_source_offset(record.key, record.value)
            if isinstance(offset, SourceOffset) and record.timestamp > last_word + _ALIVE_MS:
                newest[offset.topic] = max(newest.get(offset.topic, 0), record.timestamp)
    return [JavaMirror(source_alias=alias, topics=newest)] if newest else []
