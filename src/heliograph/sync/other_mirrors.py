"""Reads what mirrors of other processes have written on a cluster that they mirror into."""

from __future__ import annotations

import logging
from typing import NamedTuple

from heliograph.client.fetch.log_tail import LogTail
from heliograph.client.net.cluster import ClusterClient
from heliograph.errors import InvalidPattern
from heliograph.mm2.connect.offsets import SourceOffset, read_source_offset
from heliograph.mm2.state_records import PAUSED, STOPPED, FlowStatus, is_state_topic, state_topic
from heliograph.plan.external_cycles import ForeignFlow, JavaMirror
from heliograph.policy.topic_filter import DefaultTopicFilter
from heliograph.sync.statuses import Statuses, read_statuses

log = logging.getLogger(__name__)

#: A running Heliograph writes its status at least this often.
_ALIVE_MS = 15_000


class OtherMirrors(NamedTuple):
    flows: list[ForeignFlow]
    java: list[JavaMirror]


def read_other_mirrors(cluster: ClusterClient, alias: str) -> OtherMirrors:
    """Flows of Heliographs, except those that were stopped in order, and a MirrorMaker 2 in dedicated mode,
    if any, that mirrors into this cluster from its `alias`."""
    topics = frozenset(cluster.refresh().partitions)
    statuses = {topic: read_statuses(cluster, topic) for topic in filter(is_state_topic, topics)}
    flows = [flow for _, its in sorted(statuses.items()) for flow in _flows_of(its, topics)]
    own = statuses.get(state_topic(alias), Statuses()).flows.values()
    last_status = max((status.at_ms for status in own), default=0)
    return OtherMirrors(flows, _java_mirrors(cluster, alias, last_status))


def _flows_of(statuses: Statuses, present: frozenset[str]) -> list[ForeignFlow]:
    return [
        ForeignFlow(
            name=status.flow,
            source_id=status.source_id,
            target_id=status.target_id,
            keeps_names=status.policy != "DefaultReplicationPolicy",
            topics=(
                _wanted(status, present)
                | {p.topic for p in statuses.partitions.get(status.flow, ())}
            )
            - set(status.refused),
            at_ms=status.at_ms,
            since_ms=status.since_ms,
        )
        for status in statuses.flows.values()
        if status.state not in (PAUSED, STOPPED)
    ]


def _wanted(status: FlowStatus, present: frozenset[str]) -> frozenset[str]:
    """Topics that a flow will mirror by its filter; all of them if we cannot parse the filter."""
    try:
        wanted = DefaultTopicFilter.of(status.topics, status.topics_exclude)
    except InvalidPattern as e:
        log.warning("flow %s of another Heliograph: %s", status.flow, e)
        return present
    return frozenset(filter(wanted.accepts, present))


def _java_mirrors(cluster: ClusterClient, alias: str, last_status: int) -> list[JavaMirror]:
    """Heliograph stores its offsets in the same topic: records up to its last status are its own."""
    topic = f"mm2-offsets.{alias}.internal"
    newest: dict[str, int] = {}
    for number in range(cluster.refresh([topic]).partitions.get(topic, 0)):
        for record in LogTail(cluster, topic, number).read_new():
            offset = read_source_offset(record.key, record.value)
            if isinstance(offset, SourceOffset) and record.timestamp > last_status + _ALIVE_MS:
                newest[offset.topic] = max(newest.get(offset.topic, 0), record.timestamp)
    return [JavaMirror(source_alias=alias, topics=newest)] if newest else []
