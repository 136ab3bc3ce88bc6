"""Finds topics that would be mirrored in a cycle, before the first record is copied.

It combines what all flows see of their clusters, since no single flow can see a cycle.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence

from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import FlowConfig
from heliograph.plan.cycles import FilteredFlow, Refused, find_loops, may_loop
from heliograph.plan.external_cycles import find_external_loops, find_java_loops
from heliograph.policy.naming import DefaultReplicationPolicy
from heliograph.sync.other_mirrors import read_other_mirrors


class CycleGuard:
    """For the threads of all flows of a mirror."""

    def __init__(self, flows: Sequence[FlowConfig], since_ms: int) -> None:
        self._since_ms = since_ms
        self._flows: dict[str, FilteredFlow] = {}
        self._lock = threading.Lock()
        #: By flow and alias: connectors may have the same aliases for different clusters.
        self._ids: dict[str, dict[str, str | None]] = {}
        #: By cluster id.
        self._topics: dict[str, frozenset[str]] = {}
        self._own: Refused = {}
        self._foreign: Refused = {}
        self.set_flows(flows)

    def set_flows(self, flows: Sequence[FlowConfig]) -> None:
        """Set the flows that this service copies."""
        with self._lock:
            known = {each.flow: each for each in self._flows.values()}
            self._flows = {
                flow.name: known.get(flow) or FilteredFlow(flow, flow.topic_filter())
                for flow in flows
            }
            names = self._flows.keys()
            self._ids = {name: its for name, its in self._ids.items() if name in names}
            self._own = {name: its for name, its in self._own.items() if name in names}
            self._foreign = {name: its for name, its in self._foreign.items() if name in names}

    def look(self, flow: FlowConfig, source: ClusterClient, target: ClusterClient) -> None:
        """Read the topics of both clusters of a flow, if a cycle is possible."""
        clusters = {flow.source: source, flow.target: target}
        ids = _ids(flow, clusters)
        with self._lock:
            if flow.name in self._flows:
                self._ids[flow.name] = ids
            possible = may_loop(list(self._flows.values()), self._by_alias(), self._ids)
        keeps_names = type(flow.policy) is not DefaultReplicationPolicy
        if not possible and not keeps_names:
            return
        topics = {alias: frozenset(c.refresh().partitions) for alias, c in clusters.items()}
        foreign = self._traced(flow, source, ids, topics[flow.source]) if keeps_names else {}
        with self._lock:
            self._topics |= {ids[alias] or alias: names for alias, names in topics.items()}
            self._foreign[flow.name] = foreign
            flows = list(self._flows.values())
            self._own = find_loops(flows, self._by_alias(), self._topics, self._ids)

    def refused(self, flow: FlowConfig) -> dict[str, str]:
        """Source topics that the flow must not mirror, and why."""
        with self._lock:
            return self._own.get(flow.name, {}) | self._foreign.get(flow.name, {})

    def _by_alias(self) -> dict[str, str | None]:
        """Cluster ids by alias, for flows that have not been checked yet."""
        return {alias: id_ for ids in self._ids.values() for alias, id_ in ids.items()}

    def _traced(
        self,
        flow: FlowConfig,
        source: ClusterClient,
        ids: Mapping[str, str | None],
        topics: frozenset[str],
    ) -> dict[str, str]:
        with self._lock:
            flows = dict(self._flows)
        back = (flow.target, flow.source)
        if back in {(each.flow.source, each.flow.target) for each in flows.values()}:
            return {}  # the flow back is one of this process, for which `find_loops` is exact
        own = flows.get(flow.name) or FilteredFlow(flow, flow.topic_filter())
        now_ms = int(time.time() * 1000)
        traces = read_other_mirrors(source, flow.target)
        found = find_external_loops(
            own,
            ids[flow.source],
            ids[flow.target],
            traces.flows,
            now_ms=now_ms,
            since_ms=self._since_ms,
            waiting=self._foreign.get(flow.name, {}).keys(),
        )
        return found | find_java_loops(own, traces.java, topics, now_ms)


def _ids(flow: FlowConfig, clusters: Mapping[str, ClusterClient]) -> dict[str, str | None]:
    """Cluster ids by alias. If a cluster and its clone are accepted as two, their ids are made to differ."""
    ids = {
        alias: client.metadata.cluster_id or client.refresh([]).cluster_id
        for alias, client in clusters.items()
    }
    source, target = clusters[flow.source].seen, clusters[flow.target].seen
    if flow.accepts_same_cluster_id and source.id == target.id and not source.is_also(target):
        return {alias: f"{id_}@{alias}" if id_ else None for alias, id_ in ids.items()}
    return ids
