"""Defines the plan of a mirror: what it would do if it were started now. Contains no secrets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from heliograph.counted import counted
from heliograph.mm2.checkpoint import Checkpoint
from heliograph.model import TopicPartition
from heliograph.plan.group_offsets import OffsetDecision
from heliograph.plan.replication_factors import TooHighFactor
from heliograph.plan.topics import AddPartitions, CreateTopic


@dataclass(frozen=True, slots=True, kw_only=True)
class MirroredTopic:
    topic: str
    remote_topic: str
    partitions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigDifference:
    """A configuration of a remote topic. `old` is the value in force; `old_is_default`: it is not set on the
    topic itself. `new` None: it is unset, and the target's default comes into force."""

    topic: str
    name: str
    old: str | None
    old_is_default: bool
    new: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedAcl:
    """An ACL on a remote topic, always by literal name."""

    topic: str
    principal: str
    host: str
    operation: str
    permission: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InternalTopicPlan:
    """`found` is the number of partitions of the topic; None: it does not exist and would be created."""

    cluster: str
    topic: str
    partitions: int
    replication_factor: int
    found: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupsPlan:
    """`not_followed`: the reason, by group. `checkpoints` would be written. `offsets` would be committed on
    the target or left unchanged, with the reason. `untranslated`: why an offset has no checkpoint."""

    followed: tuple[str, ...] = ()
    not_followed: Mapping[str, str] = field(default_factory=dict)
    checkpoints: tuple[Checkpoint, ...] = ()
    untranslated: Mapping[str, Mapping[TopicPartition, str]] = field(default_factory=dict)
    offsets: tuple[OffsetDecision, ...] = ()

    @property
    def commits(self) -> tuple[OffsetDecision, ...]:
        return tuple(decision for decision in self.offsets if decision.offset is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowPlan:
    """`not_mirrored`: the reason, by source topic. `off`: what settings switch off. `factors`: replication
    factors that a cluster is too small for. `notes` need no change. `problems` of a run, by
    subject. `unknown`: parts of the plan that could not be made, with the reason."""

    name: str
    source: str
    target: str
    topics: tuple[MirroredTopic, ...] = ()
    not_mirrored: Mapping[str, str] = field(default_factory=dict)
    create: tuple[CreateTopic, ...] = ()
    grow: tuple[AddPartitions, ...] = ()
    configs: tuple[ConfigDifference, ...] = ()
    acls: tuple[PlannedAcl, ...] = ()
    internal_topics: tuple[InternalTopicPlan, ...] = ()
    groups: GroupsPlan = field(default_factory=GroupsPlan)
    off: tuple[str, ...] = ()
    factors: tuple[TooHighFactor, ...] = ()
    notes: tuple[str, ...] = ()
    problems: Mapping[str, str] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)

    @property
    def missing_internal_topics(self) -> tuple[InternalTopicPlan, ...]:
        return tuple(each for each in self.internal_topics if each.found is None)

    @property
    def nothing_to_do(self) -> bool:
        """Whether a run would only mirror records and write checkpoints."""
        return not (
            self.create
            or self.grow
            or self.configs
            or self.acls
            or self.missing_internal_topics
            or self.groups.commits
        )

    @property
    def summary(self) -> str:
        """What a run would do, in one line."""
        if self.unknown:
            return "the plan is not complete"
        if self.nothing_to_do:
            return "nothing to create or change; records are mirrored"
        configured = len({each.topic for each in self.configs})
        counts = (
            ("create", len(self.create), "topic"),
            ("add partitions to", len(self.grow), "topic"),
            ("change the configuration of", configured, "topic"),
            ("create", len(self.acls), "ACL"),
            ("create", len(self.missing_internal_topics), "internal topic"),
            ("commit", len(self.groups.commits), "group offset"),
        )
        return ", ".join(f"{verb} {counted(count, noun)}" for verb, count, noun in counts if count)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatsPlan:
    source: str
    target: str
    interval_seconds: int
    internal_topics: tuple[InternalTopicPlan, ...] = ()
    factors: tuple[TooHighFactor, ...] = ()
    problems: Mapping[str, str] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorPlan:
    """`warnings` about the configuration; `unreachable`: clusters that did not respond, with the reason."""

    flows: tuple[FlowPlan, ...]
    heartbeats: tuple[HeartbeatsPlan, ...]
    warnings: tuple[str, ...]
    unreachable: Mapping[str, str]

    @property
    def factors(self) -> tuple[TooHighFactor, ...]:
        """Replication factors that a cluster is too small for."""
        of_flows = (factor for flow in self.flows for factor in flow.factors)
        of_heartbeats = (factor for beats in self.heartbeats for factor in beats.factors)
        return (*of_flows, *of_heartbeats)

    @property
    def complete(self) -> bool:
        unknown = [flow.unknown for flow in self.flows] + [beat.unknown for beat in self.heartbeats]
        return not self.unreachable and not any(unknown)
