"""Observes the status of a mirror: offsets of both clusters, Connect's offsets, the service's own state."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from heliograph.client.admin.topics import EARLIEST, LATEST, available_offsets
from heliograph.client.fetch.lag_timestamps import first_timestamps
from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import FlowConfig, MirrorConfig
from heliograph.counted import counted
from heliograph.errors import ClientError
from heliograph.inspection.clusters import Clusters, Parts
from heliograph.inspection.group_status import GroupsView, observe_groups
from heliograph.inspection.members import observe_members
from heliograph.inspection.mirror_status import (
    FlowView,
    Member,
    MirrorStatus,
    PartitionView,
    Service,
    ServiceState,
)
from heliograph.inspection.status_rules import (
    ObservedPartition,
    gap_view,
    lag_in_records,
    partition_view,
    resume_position,
    service_status,
    why_no_state,
    with_news,
    worker_status,
)
from heliograph.mm2.state_records import FlowStatus, GapRecord, PartitionStatus, state_topic
from heliograph.model import TopicPartition
from heliograph.plan.topics import plan_topics
from heliograph.plan.unmatched import unmatched_topics
from heliograph.runtime.flow.cycle_guard import CycleGuard
from heliograph.sync.offsets import stored_positions
from heliograph.sync.statuses import read_statuses
from heliograph.sync.topics import refusals

#: Limit for reading the age of waiting records; enough for thousands of partitions.
_AGES_SECONDS = 10.0

Offsets = dict[TopicPartition, int]


def observe_mirror(config: MirrorConfig, clusters: Clusters) -> MirrorStatus:
    """Raises no ClientError: the status lists what could not be observed."""
    guard = CycleGuard(
        config.flows, since_ms=0
    )  # waits for nothing: the running service reports its own waits
    flows = [_FlowObserver(flow, clusters, guard) for flow in config.flows]
    for flow in flows:
        flow.find_cycles()
    now_ms = int(time.time() * 1000)
    return MirrorStatus(
        at_ms=now_ms,
        flows=(
            *(flow.view() for flow in flows),
            *(_FlowObserver(flow, clusters, guard).group_view() for flow in config.group_flows),
        ),
        unreachable=dict(clusters.unreachable),
        broken={name: "; ".join(problems) for name, problems in config.problems},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReportedState:
    """What the flow's service last wrote to its state topic; `without`: why there is no such topic while
    a service runs."""

    flow: FlowStatus | None = None
    partitions: Mapping[TopicPartition, PartitionStatus] = field(default_factory=dict)
    gaps: Mapping[TopicPartition, GapRecord] = field(default_factory=dict)
    without: str | None = None


class _FlowObserver:
    def __init__(self, flow: FlowConfig, clusters: Clusters, guard: CycleGuard) -> None:
        self._flow = flow
        self._client = partial(clusters.client, flow=flow.name)
        self._guard = guard
        self._parts = Parts()
        self._not_mirrored: dict[str, str] = {}

    def find_cycles(self) -> None:
        self._parts.observe("cycles", lambda: self._guard.look(self._flow, *self._both()), None)

    def view(self) -> FlowView:
        flow, observe = self._flow, self._parts.observe
        none: tuple[Member, ...] = ()
        members = observe("services", self._members, none)
        reported = observe("state", lambda: self._reported_state(members), _ReportedState())
        service = service_status(reported.flow, _now_ms(), reported.without, members=members)
        nothing: tuple[PartitionView, ...] = ()
        partitions = observe("partitions", lambda: self._partitions(reported, service), nothing)
        groups = observe("groups", self._groups, GroupsView())
        alive = reported.flow is not None and service.state is ServiceState.RUNNING
        return FlowView(
            name=flow.name,
            source=flow.source,
            target=flow.target,
            service=service,
            members=members,
            partitions=partitions,
            gaps=tuple(gap_view(record, _now_ms()) for _, record in sorted(reported.gaps.items())),
            groups=groups.partitions,
            not_followed=groups.not_followed,
            problems=with_news(
                reported.flow.problems if reported.flow and alive else {}, groups.unmatched
            ),
            not_mirrored=self._not_mirrored,
            unknown=self._parts.unknown | groups.problems,
        )

    def group_view(self) -> FlowView:
        """The view of a checkpoint connector, which copies no records; the group of workers tells whether
        its service runs."""
        flow, observe = self._flow, self._parts.observe
        none: tuple[Member, ...] = ()
        groups = observe("groups", self._groups, GroupsView())
        members = observe("services", self._members, none)
        return FlowView(
            name=flow.name,
            source=flow.source,
            target=flow.target,
            service=worker_status(flow.group_id, members),
            members=members,
            groups=groups.partitions,
            not_followed=groups.not_followed,
            problems=groups.unmatched,
            unknown=self._parts.unknown | groups.problems,
        )

    def _both(self) -> tuple[ClusterClient, ClusterClient]:
        return self._client(self._flow.source), self._client(self._flow.target)

    def _groups(self) -> GroupsView:
        return observe_groups(self._flow, *self._both())

    def _members(self) -> tuple[Member, ...]:
        return observe_members(self._flow.group_id, self._client(self._flow.offsets_alias))

    def _reported_state(self, members: Sequence[Member]) -> _ReportedState:
        flow, name, topic = self._flow, self._flow.name, state_topic(self._flow.source)
        target = self._client(flow.target)
        if topic not in target.refresh([topic]).partitions:
            without = why_no_state(topic, flow.target, flow.group_id, members)
            return _ReportedState(without=without)
        reported = read_statuses(target, topic)
        return _ReportedState(
            flow=reported.flows.get(name),
            partitions=reported.partitions.get(name, {}),
            gaps=reported.gaps.get(name, {}),
        )

    # ── partitions ───────────────────────────────────────────────────────────────────────────

    def _partitions(self, reported: _ReportedState, service: Service) -> tuple[PartitionView, ...]:
        source, _ = self._both()
        seen = self._observed(reported)
        reset = self._flow.auto_offset_reset
        waiting: Offsets = {}
        for each in seen:
            position, known_from = resume_position(each, service, reset)
            if position is not None and lag_in_records(each, position, known_from):
                waiting[each.partition] = max(position, each.source_start or 0)
        level = self._flow.isolation_level
        since = first_timestamps(source, waiting, level, patience=_AGES_SECONDS)
        now_ms = _now_ms()
        return tuple(
            partition_view(each, service, reset, since.get(each.partition), now_ms) for each in seen
        )

    def _observed(self, reported: _ReportedState) -> list[ObservedPartition]:
        source, target = self._both()
        names, partitions = self._mirrored(source)
        level = self._flow.isolation_level
        starts = self._offsets(source, partitions, EARLIEST)
        ends, without_end = available_offsets(source, partitions, LATEST, level)
        self._note_missing(source, without_end)
        stored = stored_positions(self._flow, self._client(self._flow.offsets_alias))
        there = target.refresh(names.values()).partitions
        remote = {p: TopicPartition(names[p.topic], p.partition) for p in partitions}
        copies = [r for r in remote.values() if r.partition < there.get(r.topic, 0)]
        target_ends = self._offsets(target, copies, LATEST)
        return [
            ObservedPartition(
                partition=partition,
                remote_topic=names[partition.topic],
                source_start=starts.get(partition),
                source_end=ends.get(partition),
                target_end=target_ends.get(remote[partition]),
                stored=stored.get(partition),
                status=reported.partitions.get(partition),
            )
            for partition in partitions
        ]

    def _mirrored(self, source: ClusterClient) -> tuple[dict[str, str], list[TopicPartition]]:
        """Source topics with their remote names, and all partitions of them."""
        flow, topic_filter = self._flow, self._flow.topic_filter()
        refused = self._guard.refused(flow)
        on_source = source.refresh().partitions
        self._not_mirrored = {
            **refusals(flow, topic_filter, on_source, refused),
            **unmatched_topics(flow, topic_filter, on_source),
        }
        plan = plan_topics(
            on_source,
            {},
            lambda topic: topic not in refused and flow.should_replicate(topic, topic_filter),
            flow.target_topic,
            flow.replication_factor,
        )
        self._not_mirrored |= plan.problems
        partitions = [
            TopicPartition(topic, number)
            for topic in plan.mirrored
            for number in range(on_source[topic])
        ]
        return plan.mirrored, partitions

    def _offsets(
        self, cluster: ClusterClient, partitions: Iterable[TopicPartition], timestamp: int
    ) -> Offsets:
        found, missing = available_offsets(cluster, partitions, timestamp)
        self._note_missing(cluster, missing)
        return found

    def _note_missing(
        self, cluster: ClusterClient, missing: Mapping[TopicPartition, ClientError]
    ) -> None:
        if missing:
            first = min(missing)
            self._parts.unknown[f"offsets on {cluster.config.alias}"] = (
                f"unknown for {counted(len(missing), 'partition')}, among them {first} ({missing[first]})"
            )


def _now_ms() -> int:
    return int(time.time() * 1000)
