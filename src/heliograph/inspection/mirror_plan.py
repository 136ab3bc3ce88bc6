"""What a mirror would do if it were started now, as values. Nothing in it is a secret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from heliograph.mm2.checkpoint import Checkpoint
from heliograph.model import TopicPartition
from heliograph.plan.group_offsets import OffsetDecision
from heliograph.plan.topics import AddPartitions, CreateTopic


@dataclass(frozen=True, slots=True, kw_only=True)
class MirroredTopic:
    topic: str
    remote_topic: str
    partitions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigDifference:
    """A setting of a remote topic. `old` is the value in force now, `old_is_default` whether that is not
    set on the topic; `new` None unsets it, so that the target's default holds."""

    topic: str
    name: str
    old: str | None
    old_is_default: bool
    new: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedAcl:
    """An ACL on a remote topic; always one for its literal name."""

    topic: str
    principal: str
    host: str
    operation: str
    permission: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InternalTopicPlan:
    """`found` is the number of partitions that the topic has; None: it is to be created."""

    cluster: str
    topic: str
    partitions: int
    replication_factor: int
    found: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupsPlan:
    """`not_followed` says why, by group; `checkpoints` would be written, `offsets` be committed on the
    target or left alone, with the reason; `untranslated` says why an offset has no checkpoint."""

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
    """`not_mirrored` says why, by source topic. `off` names what settings switch off. `problems` are what
    a run would meet, by subject; `unknown` says which parts of the plan could not be made."""

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
    problems: Mapping[str, str] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)

    @property
    def missing_internal_topics(self) -> tuple[InternalTopicPlan, ...]:
        return tuple(each for each in self.internal_topics if each.found is None)

    @property
    def nothing_to_do(self) -> bool:
        """Besides mirroring records and writing checkpoints."""
        return not (
            self.create
            or self.grow
            or self.configs
            or self.acls
            or self.missing_internal_topics
            or self.groups.commits
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatsPlan:
    source: str
    target: str
    interval_seconds: int
    internal_topics: tuple[InternalTopicPlan, ...] = ()
    problems: Mapping[str, str] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorPlan:
    """`warnings` are settings without effect and the like; `unreachable` clusters, with the reason."""

    flows: tuple[FlowPlan, ...]
    heartbeats: tuple[HeartbeatsPlan, ...]
    warnings: tuple[str, ...]
    unreachable: Mapping[str, str]

    @property
    def complete(self) -> bool:
        unknown = [flow.unknown for flow in self.flows] + [beat.unknown for beat in self.heartbeats]
        return not self.unreachable and not any(unknown)
