"""The values that metrics show at one moment, as the service has collected them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from heliograph.measured import NO_BATCHES, NO_TIMES, BatchCounts, ClientReport, TaskReport, Times
from heliograph.metrics.windows import NO_RATES, NOTHING, Rates, Spread


class PartitionHealth(StrEnum):
    COPYING = "copying"  # records were copied in the last 10 s, or are to be copied
    QUIET = "quiet"  # everything is copied
    RETRYING = "retrying"
    FAILED = "failed"
    NO_DATA = "no_data"  # no task has reported it within the last 10 s


class FlowHealth(StrEnum):
    """Of several that apply, the first of this list."""

    PAUSED = "paused"
    STOPPED = "stopped"
    UNREACHABLE = "unreachable"  # no broker of the source or of the target answers
    STANDBY = "standby"  # another service runs it
    FAILED = "failed"  # the connector or a partition has failed
    NO_DATA = "no_data"  # no task has reported within the last 10 s
    COPYING = "copying"
    QUIET = "quiet"  # everything is copied, and nothing new arrives


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionFigures:
    """One source partition. Counters are of this service since its start. None: not known."""

    flow: str
    topic: str
    partition: int
    remote_topic: str
    health: PartitionHealth
    task: int = 0
    position: int | None = None
    lag: int | None = None
    lag_seconds: float | None = None
    copy_age: float | None = None
    records: int = 0
    bytes: int = 0
    foreign: int = 0
    fallbacks: int = 0
    quarantined: int = 0
    skipped: int = 0
    resumes: int = 0
    batches: BatchCounts = NO_BATCHES
    latencies: Times = NO_TIMES
    rates: Rates = NO_RATES
    age: Spread = NOTHING
    latency: Spread = NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFigures:
    """Of one flow. `not_followed`, `untranslated` and `offsets` count by reason; `offsets` are decisions on
    offsets of groups on the target: (committed or kept, reason). `latencies`: seconds from reading a group's
    offset to its checkpoint, by group, remote topic and partition, for the newest checkpoint of each.
    `inexact`: by group whose translation is not exact, the records that it may read again, at most."""

    followed: int | None = None
    not_followed: Mapping[str, int] = field(default_factory=dict)
    untranslated: Mapping[str, int] = field(default_factory=dict)
    offsets: Mapping[tuple[str, str], int] = field(default_factory=dict)
    checkpoints: int = 0
    inexact: Mapping[str, int] = field(default_factory=dict)
    latencies: Mapping[tuple[str, str, int], Spread] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowFigures:
    """`connector`: the name of its source connector. `gaps`: number and records by kind. `total`: what its
    tasks have measured since the service started, and `clients` all clients of the flow, those of tasks
    included. `tasks`: by number, the newest report of each running task and its age in seconds."""

    name: str
    source: str
    target: str
    connector: str
    health: FlowHealth
    gaps: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    total: TaskReport | None = None
    clients: tuple[ClientReport, ...] = ()
    tasks: Mapping[int, tuple[TaskReport, float]] = field(default_factory=dict)
    groups: GroupFigures | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorFigures:
    """States as Connect's REST API gives them; `tasks` by number. `flow`: the name of the flow between
    `source` and `target` that it copies, or whose groups it follows."""

    name: str
    kind: str
    flow: str
    source: str
    target: str
    state: str
    tasks: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadershipFigures:
    """A group of workers. `state`: of this member, in lower case; `client`: its client id. `connectors`: the
    names of those that it runs if it leads."""

    group: str
    client: str
    connectors: tuple[str, ...]
    leads: bool
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JvmFigures:
    """Spark's JVM. `memory`: used bytes by area (heap, nonheap); `collections`: count and seconds of garbage
    collections by collector."""

    memory: Mapping[str, int] = field(default_factory=dict)
    threads: int = 0
    collections: Mapping[str, tuple[int, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkFigures:
    """Task slots: `lost` are those that were asked for and that the cluster does not have. None: Spark is
    still starting."""

    used: int
    slots: int | None
    lost: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """`problems`: current ones by flow ("" for those of the service) and cause; `unexpected_failures`: those
    of which there was no code, since the start."""

    version: str
    state: str
    epochs: int = 0
    pause_seconds: float = 0.0
    restarts: int = 0
    flows: tuple[FlowFigures, ...] = ()
    partitions: tuple[PartitionFigures, ...] = ()
    connectors: tuple[ConnectorFigures, ...] = ()
    leaderships: tuple[LeadershipFigures, ...] = ()
    problems: Mapping[tuple[str, str], int] = field(default_factory=dict)
    unexpected_failures: Mapping[tuple[str, str], int] = field(default_factory=dict)
    heartbeats: Mapping[str, int] = field(default_factory=dict)
    spark: SparkFigures = SparkFigures(used=0, slots=None)
    jvm: JvmFigures | None = None
    memory_bytes: int = 0
