"""How a mirror stands, as values. Nothing in it is a secret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from heliograph.model import GapKind, PartitionState


class ServiceState(StrEnum):
    """Whether a Heliograph serves a flow: what its state topic says, and how long ago it said so."""

    RUNNING = "RUNNING"
    NOT_RUNNING = "NOT RUNNING"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """`detail` is a word on `state` for people; `seen_seconds_ago` None: never. `restarts`: of the copy,
    after failures."""

    state: ServiceState
    detail: str
    seen_seconds_ago: float | None
    restarts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A process in the group of a flow's workers. `state` is RUNNING or STANDBY, or JAVA, of a Java
    MirrorMaker 2 or Connect worker, or JOINING; `process` is `host, pid 1`, or what is known of it."""

    process: str
    state: str


class PositionFrom(StrEnum):
    """Who knows the position of a partition, the freshest first."""

    HELIOGRAPH = "heliograph"  # its state topic
    CONNECT = "connect"  # Connect's offsets topic
    RESET = "reset"  # nobody: where auto.offset.reset lets it start


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionView:
    """One partition of a flow; None is not known.

    `position` is the next upstream offset to be mirrored. `lag_records` counts offsets from there to the
    source's end, so also those of transaction markers and of records that compaction took.
    `lag_seconds` is the age of the oldest record that is not mirrored yet, 0 if there is none.
    `throttled`: `throttle.bytes.per.second` holds its task back.
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


class GroupState(StrEnum):
    """What has become of a group's offset on the target."""

    SYNCED = "SYNCED"
    DUE = "DUE"
    TRANSLATED = "TRANSLATED"
    NOT_TRANSLATED = "NOT TRANSLATED"
    LEFT_ALONE = "LEFT ALONE"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPartition:
    """A group's offset in a partition. `translated` is that of its newest checkpoint, which was made for
    `checkpointed`; `why` says why the target's group is not there."""

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
    """What a partition has gone through since its flow was first started: how often, how many source offsets
    were never mirrored, and the newest gap. `waits`: it is FAILED, until somebody stores another offset."""

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
    """`not_followed` says why, by group of the source. `problems` are the running service's own; `members`
    who runs it and who stands by, where that may be asked; `unknown` says what could not be looked at."""

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
    unknown: Mapping[str, str] = field(default_factory=dict)

    @property
    def well(self) -> bool:
        running = self.service.state is ServiceState.RUNNING
        failed = any(p.failed for p in self.partitions) or any(gap.waits for gap in self.gaps)
        return running and not self.unknown and not failed


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorStatus:
    at_ms: int
    flows: tuple[FlowView, ...]
    unreachable: Mapping[str, str]

    @property
    def well(self) -> bool:
        """Every flow is known to be served, and no partition has failed."""
        return not self.unreachable and all(flow.well for flow in self.flows)
