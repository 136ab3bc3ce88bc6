"""Finds topics that would form a cycle among the flows of one configuration.

MM2 recognises cycles by topic names, so it misses those of IdentityReplicationPolicy, and those with two
aliases for one cluster. Here each topic is followed along the flows that would mirror it, under the name
that each flow gives it; if it reaches the same flow twice, that flow would copy it without end, under one
name or under ever longer ones. Then no flow of the cycle mirrors the topic, since none of them is the wrong
one.

A copy within one cluster (`orders` to `orders-copy`) is no cycle unless a flow mirrors the copy.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from heliograph.config.mirror_config import FlowConfig
from heliograph.policy.naming import DefaultReplicationPolicy
from heliograph.policy.topic_filter import TopicFilter

#: Per flow: source topics that must not be mirrored, and why.
Refused = dict[str, dict[str, str]]


@dataclass(frozen=True, slots=True)
class FilteredFlow:
    """A flow with its compiled filter."""

    flow: FlowConfig
    topic_filter: TopicFilter

    def carries(self, topic: str) -> bool:
        return self.flow.should_replicate(topic, self.topic_filter)


class _Stop(NamedTuple):
    """A topic on a cluster."""

    cluster: str
    topic: str


class _Hop(NamedTuple):
    flow: FilteredFlow
    topic: str


Cycle = Sequence[_Hop]


#: The cluster of an alias in a flow.
ClusterOf = Callable[[FlowConfig, str], str]


def clusters_of(
    cluster_ids: Mapping[str, str | None], of_flows: Mapping[str, Mapping[str, str | None]]
) -> ClusterOf:
    """By the known ids of the flow's own clusters, or else of the alias in general: connectors may use the
    same alias for different clusters."""

    def cluster(flow: FlowConfig, alias: str) -> str:
        return of_flows.get(flow.name, {}).get(alias) or cluster_ids.get(alias) or alias

    return cluster


def find_loops(
    flows: Sequence[FilteredFlow],
    cluster_ids: Mapping[str, str | None],
    topics: Mapping[str, Collection[str]],
    of_flows: Mapping[str, Mapping[str, str | None]] | None = None,
) -> Refused:
    """`cluster_ids` by alias, and in `of_flows` by flow and alias; existing `topics` by cluster id or alias.
    A cluster that was not reached has neither."""
    cluster = clusters_of(cluster_ids, of_flows or {})
    suspects = flows if may_loop(flows, cluster_ids, of_flows) else ()
    starts = {
        _Stop(cluster_ids.get(key) or key, topic)
        for key, names in topics.items()
        for topic in names
    }
    refused: Refused = {}
    for start in sorted(starts) if suspects else ():
        for cycle in _Journey(suspects, cluster, start).cycles():
            for at, hop in enumerate(cycle):
                sentence = _explain([*cycle[at:], *cycle[:at]], cluster)
                of_flow = refused.setdefault(hop.flow.flow.name, {})
                of_flow.setdefault(hop.topic, f"{hop.topic}: not mirrored: {sentence}")
    return refused


class _Journey:
    """All places that a topic would reach from one stop, and the hops between them."""

    def __init__(self, flows: Sequence[FilteredFlow], cluster: ClusterOf, start: _Stop) -> None:
        self._flows = flows
        self._cluster = cluster
        self._hops: dict[_Stop, list[tuple[_Hop, _Stop]]] = {}
        self._lengthening: list[Cycle] = []
        self._travel(start, [])

    def cycles(self) -> Iterator[Cycle]:
        """Every hop that is part of a cycle is in one of them."""
        yield from self._lengthening
        for hops in self._hops.values():
            for hop, stop in hops:
                origin = _Stop(self._cluster(hop.flow.flow, hop.flow.flow.source), hop.topic)
                way_back = self._way(stop, origin)
                if way_back is not None:
                    yield [hop, *way_back]

    def _travel(self, stop: _Stop, way: list[_Hop]) -> None:
        if stop in self._hops:
            return
        onward = self._hops[stop] = []
        for flow in self._flows:
            source = self._cluster(flow.flow, flow.flow.source)
            if source != stop.cluster or not flow.carries(stop.topic):
                continue
            hop = _Hop(flow, stop.topic)
            before = next((at for at, taken in enumerate(way) if taken.flow is flow), None)
            if before is not None:  # the same flow again, under another name
                self._lengthening.append([*way[before:], hop])
                continue
            target = self._cluster(flow.flow, flow.flow.target)
            following = _Stop(target, flow.flow.target_topic(stop.topic))
            onward.append((hop, following))
            self._travel(following, [*way, hop])

    def _way(self, origin: _Stop, destination: _Stop) -> list[_Hop] | None:
        """The shortest path."""
        ways: dict[_Stop, list[_Hop]] = {origin: []}
        queue = deque([origin])
        while queue:
            stop = queue.popleft()
            if stop == destination:
                return ways[stop]
            for hop, following in self._hops.get(stop, ()):
                if following not in ways:
                    ways[following] = [*ways[stop], hop]
                    queue.append(following)
        return None


def may_loop(
    flows: Sequence[FilteredFlow],
    cluster_ids: Mapping[str, str | None],
    of_flows: Mapping[str, Mapping[str, str | None]] | None = None,
) -> bool:
    """False if each alias has a cluster of its own and all policies add aliases in the same way: then names
    show every cycle, and the search, which follows every topic, is not needed."""
    cluster = clusters_of(cluster_ids, of_flows or {})
    called = {
        (alias, cluster(flow.flow, alias))
        for flow in flows
        for alias in (flow.flow.source, flow.flow.target)
    }
    aliases, clusters = {alias for alias, _ in called}, {found for _, found in called}
    distinct = len(aliases) == len(clusters) == len(called)
    policies = [flow.flow.policy for flow in flows]
    alike = all(type(policy) is DefaultReplicationPolicy for policy in policies) and all(
        policy == policies[0] for policy in policies
    )
    return not (distinct and alike)


def _explain(cycle: Cycle, cluster: ClusterOf) -> str:
    flows = [hop.flow.flow for hop in cycle]
    same = _same_clusters(flows, cluster)
    if len({flow.name for flow in flows}) == 1:
        return (
            f"{same}, so the flow {flows[0].name} would mirror its own copies without end; "
            "correct bootstrap.servers, or exclude the copies with topics.exclude"
        )
    last = cycle[-1]
    returned = last.flow.flow.target_topic(last.topic)
    way = " -> ".join([flow.source for flow in flows] + [flows[-1].target])
    return (
        f"it would go round in a cycle ({way}) and come back as {returned}"
        + (f"; {same}" if same else "")
        + "; exclude it from one of these flows (topics, topics.exclude), or name remote topics with "
        "DefaultReplicationPolicy in all of them"
    )


def _same_clusters(flows: Sequence[FlowConfig], cluster: ClusterOf) -> str:
    by_id: dict[str, set[str]] = {}
    for flow in flows:
        for alias in (flow.source, flow.target):
            by_id.setdefault(cluster(flow, alias), set()).add(alias)
    return "; ".join(
        f"{' and '.join(sorted(aliases))} are one cluster (id {id_})"
        for id_, aliases in sorted(by_id.items())
        if len(aliases) > 1
    )
