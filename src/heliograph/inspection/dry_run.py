"""Makes the plan of a mirror: observes both clusters as `sync/` does, and changes nothing."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

from heliograph.client.net.cluster import ClusterClient
from heliograph.config.lane import in_words
from heliograph.config.mirror_config import FlowConfig, Heartbeats, MirrorConfig
from heliograph.inspection.clusters import Clusters, Parts
from heliograph.inspection.expected_gaps import expected_gaps
from heliograph.inspection.group_status import all_untranslated
from heliograph.inspection.internal_topics import (
    factor_too_high,
    factors_too_high,
    observe_internal_topics,
)
from heliograph.inspection.mirror_plan import (
    ConfigDifference,
    FlowPlan,
    GroupsPlan,
    HeartbeatsPlan,
    InternalTopicPlan,
    MirroredTopic,
    MirrorPlan,
    PlannedAcl,
)
from heliograph.plan.internal_topics import heartbeat_topics, internal_topics, worker_topics
from heliograph.plan.replication_factors import TooHighFactor, factor_problems
from heliograph.plan.topics import AddPartitions, CreateTopic, TopicAction, plan_topics
from heliograph.plan.unmatched import unmatched_topics
from heliograph.runtime.flow.cycle_guard import CycleGuard
from heliograph.sync.acls import observe_acls
from heliograph.sync.checkpoints import CheckpointSync
from heliograph.sync.configs import ConfigDifferences, observe_configs
from heliograph.sync.group_offsets import observe_group_offsets
from heliograph.sync.topics import observe_topics
from heliograph.wire.topic_configs import ConfigSource


def plan_mirror(config: MirrorConfig, clusters: Clusters) -> MirrorPlan:
    """Raises no ClientError: the plan lists what could not be observed."""
    guard = CycleGuard(config.flows, since_ms=int(time.time() * 1000))
    flows = [_FlowPlanner(flow, clusters, guard) for flow in config.flows]
    for flow in flows:
        flow.find_cycles()  # first for all flows, since a cycle shows only in all of them together
    return MirrorPlan(
        flows=(
            *(flow.plan() for flow in flows),
            *(_FlowPlanner(flow, clusters, guard).group_plan() for flow in config.group_flows),
        ),
        heartbeats=tuple(_heartbeats(pair, clusters) for pair in config.heartbeats),
        warnings=config.warnings,
        unreachable=dict(clusters.unreachable),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Topics:
    """`present`: remote topics that exist already, by source topic."""

    mirrored: tuple[MirroredTopic, ...] = ()
    not_mirrored: Mapping[str, str] = field(default_factory=dict)
    actions: tuple[TopicAction, ...] = ()
    present: Mapping[str, str] = field(default_factory=dict)


class _FlowPlanner:
    def __init__(self, flow: FlowConfig, clusters: Clusters, guard: CycleGuard) -> None:
        self._flow = flow
        self._client = partial(clusters.client, flow=flow.name)
        self._guard = guard
        self._filter = flow.topic_filter()
        self._parts = Parts()
        self._problems: dict[str, str] = {}
        self._factors: list[TooHighFactor] = []
        self._notes: list[str] = [] if flow.lane is None else [in_words(flow.lane)]

    def find_cycles(self) -> None:
        self._parts.observe("cycles", lambda: self._guard.look(self._flow, *self._both()), None)

    def plan(self) -> FlowPlan:
        flow, observe = self._flow, self._parts.observe
        topics = observe("topics", self._topics, None) or observe(
            "source topics", self._source_topics, _Topics()
        )
        return FlowPlan(
            name=flow.name,
            source=flow.source,
            target=flow.target,
            topics=topics.mirrored,
            not_mirrored=topics.not_mirrored,
            create=tuple(a for a in topics.actions if isinstance(a, CreateTopic)),
            grow=tuple(a for a in topics.actions if isinstance(a, AddPartitions)),
            configs=observe("topic configurations", lambda: self._configs(topics.present), ()),
            acls=observe("ACLs", self._acls, ()),
            internal_topics=self._internal_topics(),
            groups=observe("groups", self._groups, GroupsPlan()),
            off=switched_off(flow),
            factors=tuple(self._factors),
            notes=tuple(self._notes),
            problems=self._problems | factor_problems(self._factors),
            unknown=self._parts.unknown,
        )

    def group_plan(self) -> FlowPlan:
        """The plan of a checkpoint connector, which follows groups and copies no records."""
        flow = self._flow
        return FlowPlan(
            name=flow.name,
            source=flow.source,
            target=flow.target,
            groups=self._parts.observe("groups", self._groups, GroupsPlan()),
            problems=self._problems,
            unknown=self._parts.unknown,
        )

    def _both(self) -> tuple[ClusterClient, ClusterClient]:
        return self._client(self._flow.source), self._client(self._flow.target)

    def _topics(self) -> _Topics:
        refused = self._guard.refused(self._flow)
        found = observe_topics(self._flow, self._filter, *self._both(), refused)
        outcome = found.outcome({})
        self._problems |= outcome.problems
        self._problems |= expected_gaps(
            self._flow, *self._both(), self._client(self._flow.offsets_alias), outcome
        )
        if any(isinstance(action, CreateTopic) for action in found.plan.actions):
            target, factor = self._client(self._flow.target), self._flow.replication_factor
            self._factors += factor_too_high(target, "replication.factor", factor)
        new = {a.source_topic for a in found.plan.actions if isinstance(a, CreateTopic)}
        return _Topics(
            mirrored=self._mirrored(found.source, found.plan.mirrored),
            not_mirrored=self._not_mirrored(found.source, found.plan.mirrored, outcome.problems),
            actions=tuple(a for a in found.plan.actions if a.topic not in found.failed),
            present={t: remote for t, remote in found.plan.mirrored.items() if t not in new},
        )

    def _internal_topics(self) -> tuple[InternalTopicPlan, ...]:
        placed = internal_topics(self._flow)
        nothing: tuple[InternalTopicPlan, ...] = ()
        found = self._parts.observe(
            "internal topics", lambda: observe_internal_topics(placed, self._client), nothing
        )
        self._factors += factors_too_high(placed, found, self._client)
        return found

    def _source_topics(self) -> _Topics:
        """The part of the plan that needs only the source, while the target cannot be reached."""
        flow = self._flow
        on_source = self._client(flow.source).refresh().partitions
        plan = plan_topics(
            on_source,
            {},
            lambda topic: flow.should_replicate(topic, self._filter),
            flow.target_topic,
            flow.replication_factor,
        )
        self._problems |= plan.problems | unmatched_topics(flow, self._filter, on_source)
        return _Topics(
            mirrored=self._mirrored(on_source, plan.mirrored),
            not_mirrored=self._not_mirrored(on_source, plan.mirrored, plan.problems),
        )

    def _mirrored(
        self, on_source: Mapping[str, int], names: Mapping[str, str]
    ) -> tuple[MirroredTopic, ...]:
        return tuple(
            MirroredTopic(topic=topic, remote_topic=remote, partitions=on_source[topic])
            for topic, remote in sorted(names.items())
        )

    def _not_mirrored(
        self, on_source: Iterable[str], mirrored: Iterable[str], problems: Mapping[str, str]
    ) -> dict[str, str]:
        others = sorted(set(on_source) - set(mirrored))
        reasons = {t: self._flow.why_not_replicated(t, self._filter) for t in others}
        return {t: reasons[t] or problems.get(t) or "see problems" for t in others}

    def _configs(self, topics: Mapping[str, str]) -> tuple[ConfigDifference, ...]:
        if self._flow.config_sync.interval_seconds is None or not topics:
            return ()
        found = observe_configs(self._flow, topics, *self._both())
        self._problems |= found.problems
        return tuple(config_differences(found))

    def _acls(self) -> tuple[PlannedAcl, ...]:
        if self._flow.acl_sync_interval_seconds is None:
            return ()
        found = observe_acls(self._flow, self._filter, *self._both())
        self._problems |= found.problems
        self._notes += [found.note] if found.note is not None else []
        return tuple(
            PlannedAcl(
                topic=acl.topic,
                principal=acl.principal,
                host=acl.host,
                operation=acl.operation_name,
                permission=acl.permission_name,
            )
            for acl in found.missing
        )

    def _groups(self) -> GroupsPlan:
        config = self._flow.checkpoints
        if config is None:
            return GroupsPlan(not_followed=all_untranslated(self._flow))
        source, target = self._both()
        sync = CheckpointSync(self._flow, source, target)
        preview = sync.preview()
        self._problems |= preview.problems | preview.groups.unmatched
        decisions = []
        if config.sync_interval_seconds is not None:
            offsets = observe_group_offsets(target, sync.checkpoints())
            self._problems |= {group: str(error) for group, error in offsets.errors.items()}
            decisions = offsets.decisions
        return GroupsPlan(
            followed=tuple(sorted(preview.groups.followed)),
            not_followed=dict(sorted(preview.groups.passed_over.items())),
            checkpoints=tuple(sorted(preview.emit)),
            untranslated={g: its for g, its in sorted(preview.untranslated.items()) if its},
            offsets=tuple(sorted(decisions, key=lambda each: (each.group, str(each.partition)))),
        )


def config_differences(found: ConfigDifferences) -> Iterable[ConfigDifference]:
    for topic, changes in sorted(found.changes.items()):
        present = {entry.name: entry for entry in found.present[topic]}
        for change in changes:
            entry = present.get(change.name)
            yield ConfigDifference(
                topic=topic,
                name=change.name,
                old=entry.value if entry else None,
                old_is_default=entry is None or entry.source is not ConfigSource.TOPIC,
                new=change.value,
            )


def switched_off(flow: FlowConfig) -> tuple[str, ...]:
    """The parts of a flow that settings switch off."""
    checkpoints = flow.checkpoints
    parts: list[tuple[object, str]] = [
        (flow.refresh_interval_seconds, "new topics (refresh.topics.enabled)"),
        (
            flow.config_sync.interval_seconds,
            "topic configurations after creation (sync.topic.configs.enabled)",
        ),
        (flow.acl_sync_interval_seconds, "ACLs (sync.topic.acls.enabled)"),
    ]
    if not all_untranslated(flow):  # else no setting switches them on
        parts += [
            (flow.offset_syncs, "offset syncs (emit.offset-syncs.enabled)"),
            (checkpoints, "groups and checkpoints (emit.checkpoints.enabled)"),
        ]
    if checkpoints is not None:
        parts += [
            (checkpoints.refresh_interval_seconds, "new groups (refresh.groups.enabled)"),
            (
                checkpoints.sync_interval_seconds,
                "groups' offsets on the target (sync.group.offsets.enabled)",
            ),
        ]
    return tuple(part for setting, part in parts if setting is None)


def _heartbeats(pair: Heartbeats, clusters: Clusters) -> HeartbeatsPlan:
    parts, placed = Parts(), [*heartbeat_topics(pair), *worker_topics(pair)]
    client = partial(clusters.client, flow=pair.name)
    nothing: tuple[InternalTopicPlan, ...] = ()
    topics = parts.observe(
        "internal topics", lambda: observe_internal_topics(placed, client), nothing
    )
    factors = factors_too_high(placed, topics, client)
    return HeartbeatsPlan(
        source=pair.source,
        target=pair.target,
        interval_seconds=pair.interval_seconds,
        internal_topics=topics,
        factors=factors,
        problems=factor_problems(factors),
        unknown=parts.unknown,
    )
