"""Defines the status of a mirror. Contains no secrets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from heliograph.model import GapKind, PartitionState


class ServiceState(StrEnum):
    """Whether a Heliograph runs a flow, by the age of its record in the state topic, and its group."""

    RUNNING = "RUNNING"
    PAUSED = "PAUSED"  # its connector is; its service runs
    NOT_RUNNING = "NOT RUNNING"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """`detail` explains `state`; `seen_seconds_ago` None: never seen. `restarts`: how often the copy was
    restarted after a failure."""

    state: ServiceState
    detail: str
    seen_seconds_ago: float | None
    restarts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A process in the group of a flow's workers. `state` is RUNNING, STANDBY, JOINING, or JAVA for a Java
    MirrorMaker 2 or Connect worker; `process` is `host, pid 1`, or the member's client id and host."""

    process: str
    state: str


class PositionFrom(StrEnum):
    """Where the position of a partition comes from, the most recent first."""

    HELIOGRAPH = "heliograph"  # its state topic
    CONNECT = "connect"  # Connect's offsets topic
    RESET = "reset"  # none is stored: auto.offset.reset decides


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionView:
    """One partition of a flow; None means unknown.

    `position` is the next upstream offset to mirror, `source_end` the source's end when it was. `lag_records`
    counts offsets between them, including those of transaction markers and of records that compaction
    removed. `lag_seconds` is the age of the oldest record that is not mirrored yet, 0 if there is none.
    `throttled`: `throttle.bytes.per.second` slows its task down.
    """

    topic: str
    partition: int
    remote_topic: str
    source_start: int | None
    source_end: int | None
    target_end: int | None
    position: int | None
    position_from: PositionFrom | None
    lag_records: int | None
    lag_seconds: float | None
    copied_seconds_ago: float | None
    state: str
    error: str | None
    throttled: bool = False

    @property
    def failed(self) -> bool:
        return self.state == PartitionState.FAILED

    @property
    def mirrored(self) -> bool:
        """Whether a running service copies it, or has copied it to its end."""
        return self.state in (PartitionState.RUNNING, PartitionState.DONE)


class GroupState(StrEnum):
    """The state of a group's offset on the target."""

    SYNCED = "SYNCED"
    DUE = "DUE"
    TRANSLATED = "TRANSLATED"
    NOT_TRANSLATED = "NOT TRANSLATED"
    LEFT_ALONE = "LEFT ALONE"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPartition:
    """A group's offset in a partition. `translated` is the downstream offset of its newest checkpoint,
    `checkpointed` the upstream one; `why`: why the group on the target has not reached it."""

    group: str
    topic: str
    partition: int
    remote_topic: str
    source_offset: int
    source_lag: int | None
    checkpointed: int | None
    translated: int | None
    target_offset: int | None
    target_lag: int | None
    state: GroupState
    why: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GapView:
    """The gaps of a partition since its flow was first started: how many, how many source offsets were never
    mirrored, and the newest gap. `waits`: the partition is FAILED until another offset is stored for it."""

    topic: str
    partition: int
    gaps: int
    unmirrored: int
    kind: GapKind
    first: int
    end: int
    resumed: int | None
    seconds_ago: float
    what: str
    waits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowView:
    """`not_followed`: the reason, by group of the source. `problems`: as reported by the running service, and
    as observed now. `not_mirrored`: the reason, by topic that the filters accept. `members`: processes that
    run the flow or stand by. `unknown`: what could not be observed, and why."""

    name: str
    source: str
    target: str
    service: Service
    members: tuple[Member, ...] = ()
    partitions: tuple[PartitionView, ...] = ()
    gaps: tuple[GapView, ...] = ()
    groups: tuple[GroupPartition, ...] = ()
    not_followed: Mapping[str, str] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    not_mirrored: Mapping[str, str] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)

    @property
    def well(self) -> bool:
        running = self.service.state is ServiceState.RUNNING
        waits = any(gap.waits for gap in self.gaps)
        mirrored = all(p.mirrored for p in self.partitions) and not self.not_mirrored
        return running and mirrored and not waits and not self.unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorStatus:
    """`idle`: why connectors of a worker do not run, by name; `broken`: those that cannot, by their
    configuration."""

    at_ms: int
    flows: tuple[FlowView, ...]
    unreachable: Mapping[str, str]
    idle: Mapping[str, str] = field(default_factory=dict)
    broken: Mapping[str, str] = field(default_factory=dict)

    @property
    def well(self) -> bool:
        """Every flow is known to run, and every partition that it should mirror is mirrored."""
        known = not self.unreachable and not self.broken
        return known and all(flow.well for flow in self.flows)
