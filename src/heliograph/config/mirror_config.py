"""The checked configuration of a whole mirror, the same for every format that users write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from heliograph.config.metrics_config import MetricsConfig
from heliograph.model import (
    ClusterConfig,
    GapPolicies,
    IsolationLevel,
    OffsetReset,
    OnError,
    SyncsLocation,
    Timestamps,
    Translation,
)
from heliograph.policy import classes as policy_classes
from heliograph.policy.config_filter import ConfigPropertyFilter
from heliograph.policy.group_filter import GroupFilter
from heliograph.policy.naming import ReplicationPolicy
from heliograph.policy.replication import why_not_replicated
from heliograph.policy.topic_filter import TopicFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class InternalTopic:
    """A compacted topic of MM2's or Connect's own, with the settings to create it."""

    name: str
    partitions: int
    replication_factor: int
    configs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigSync:
    """Topic configurations are copied every `interval_seconds`; None: only when a topic is created."""

    interval_seconds: int | None
    exclude: tuple[str, ...]
    use_defaults_from_source: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one task of a flow (docs/limits.md). `bytes_per_second` limits all tasks of the flow
    together, 0 for no limit."""

    fetch_max_bytes: int
    partition_fetch_bytes: int
    fetch_min_bytes: int
    fetch_max_wait_ms: int
    buffer_memory: int
    request_bytes: int
    bytes_per_second: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetSyncs:
    """Offset syncs, by which Java clients translate: at most `lag_max` records between two of a partition."""

    location: SyncsLocation
    topic: InternalTopic
    lag_max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoints:
    """Which groups are followed, and how often their offsets are translated and committed on the target
    (`sync_interval_seconds`; None: never)."""

    connector_name: str
    groups: tuple[str, ...]
    groups_exclude: tuple[str, ...]
    refresh_interval_seconds: int | None
    interval_seconds: int
    sync_interval_seconds: int | None
    topic: InternalTopic
    translation: Translation


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowClasses:
    """Policy and filters of a flow, by class name, and their settings. `modules` may be imported for them;
    None for any module, if the operator wrote the configuration.

    Names instead of objects: FlowConfig is sent to Spark's workers, and an object of a user's class may not
    be serializable.
    """

    replication_policy: str
    topic_filter: str
    group_filter: str
    config_property_filter: str
    source: str
    settings: tuple[tuple[str, str], ...] = field(repr=False)
    modules: frozenset[str] | None = None

    @property
    def mapping(self) -> Mapping[str, str]:
        return dict(self.settings)


@lru_cache
def policy_of(flow_classes: FlowClasses) -> ReplicationPolicy:
    """One object per flow and process. Raises ConfigError."""
    return policy_classes.replication_policy(
        flow_classes.replication_policy,
        flow_classes.mapping,
        flow_classes.source,
        flow_classes.modules,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeats:
    """The heartbeats of a pair of clusters, written even if the pair's flow is disabled. `name` is the
    pair's, `source->target`, or the connector's. `config_topic` and `status_topic` are those of the worker
    that MM2 has for a pair; None: its flow or a Connect worker creates them."""

    name: str
    source: str
    target: str
    group_id: str
    connector_name: str
    interval_seconds: int
    topic: InternalTopic
    offsets_topic: InternalTopic
    offsets_alias: str
    config_topic: InternalTopic | None = None
    status_topic: InternalTopic | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactlyOnce:
    """Records and their offsets are written in one transaction after the other (KIP-618).

    `interval_ms`: how long each lasts; None: it is committed as soon as a commit is worth its cost.
    `timeout_ms`: when the target's brokers abort an open one.
    """

    interval_ms: int | None
    timeout_ms: int

    @property
    def limit_seconds(self) -> float:
        """The longest time that a transaction is kept open."""
        return self.timeout_ms / 3000


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneConfig:
    """How records are transformed on their way. `transforms`: the settings of Connect's transformations and
    predicates, which each task reads into a chain. `function`: the user's own, `module:function`, after them;
    `modules` may be imported for it, None for any module.

    `routes`: records may go to other topics than the remote one, so that offsets are not translated.
    `quarantines_oversize`: also records that are too large for the target go to the quarantine topic.
    """

    transforms: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    function: str | None = None
    modules: frozenset[str] | None = None
    on_error: OnError = OnError.FAIL
    routes: bool = False
    quarantines_oversize: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowConfig:
    """One enabled flow. `name` is `source->target`, in aliases, or the name of a connector of a Connect
    worker, where several connectors may have the same aliases. `group_id` is the group of Connect's workers;
    transactional ids begin with it. `offsets_alias` is the cluster that holds the offsets: the target, or
    the worker's cluster if a connector's worker belongs to another one. A Connect worker manages its config
    and status topics itself: `config_topic` and `status_topic` are None then."""

    name: str
    source: str
    target: str
    group_id: str
    topics: tuple[str, ...]
    topics_exclude: tuple[str, ...]
    replication_factor: int
    tasks_max: int
    isolation_level: IsolationLevel
    auto_offset_reset: OffsetReset
    refresh_interval_seconds: int | None
    heartbeats_replication: bool
    own_alias_is_cycle: bool
    classes: FlowClasses
    timestamps: Timestamps
    gap_policies: GapPolicies
    accepts_same_cluster_id: bool  # source and target have one cluster id, but are two clusters
    connector_name: str
    offsets_topic: InternalTopic
    offsets_alias: str
    config_topic: InternalTopic | None
    status_topic: InternalTopic | None
    offset_flush_interval_ms: int
    config_sync: ConfigSync
    acl_sync_interval_seconds: int | None
    offset_syncs: OffsetSyncs | None
    #: The offset map translates offsets exactly, and tells what to copy again when the target lost records.
    keeps_offset_map: bool
    checkpoints: Checkpoints | None
    exactly_once: ExactlyOnce | None
    limits: Limits
    #: Lists records that are too large for the target, or fail in the lane; None: they stop their partition.
    quarantine: InternalTopic | None
    #: Transforms records on their way; None: batches are copied as they are.
    lane: LaneConfig | None = None

    @property
    def policy(self) -> ReplicationPolicy:
        return policy_of(self.classes)

    def topic_filter(self) -> TopicFilter:
        """Compiles patterns; keep the result."""
        return policy_classes.topic_filter(
            self.classes.topic_filter, self.classes.mapping, self.classes.modules
        )

    def group_filter(self) -> GroupFilter:
        """Compiles patterns; keep the result."""
        return policy_classes.group_filter(
            self.classes.group_filter, self.classes.mapping, self.classes.modules
        )

    def config_property_filter(self) -> ConfigPropertyFilter:
        """Compiles patterns; keep the result."""
        return policy_classes.config_property_filter(
            self.classes.config_property_filter, self.classes.mapping, self.classes.modules
        )

    def target_topic(self, topic: str) -> str:
        return self.policy.format_remote_topic(self.source, topic)

    def should_replicate(self, topic: str, topic_filter: TopicFilter) -> bool:
        return self.why_not_replicated(topic, topic_filter) is None

    def why_not_replicated(self, topic: str, topic_filter: TopicFilter) -> str | None:
        return why_not_replicated(
            topic,
            topic_filter=topic_filter,
            policy=self.policy,
            source_alias=self.source,
            target_alias=self.target,
            heartbeats_replication=self.heartbeats_replication,
            own_alias_is_cycle=self.own_alias_is_cycle,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowSetup:
    """A flow and its clusters: all that a task needs. Records are written to `target`, offsets are stored on
    `offsets`."""

    flow: FlowConfig
    source: ClusterConfig
    target: ClusterConfig
    offsets: ClusterConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorConfig:
    """`flows`: the enabled flows to the served targets. `heartbeats`: all pairs that have heartbeats.
    `clusters`: all declared clusters. `flow_clusters`: by flow name, clusters that the flow's clients reach
    with other settings.

    Each connector (`config/connectors/read_connectors.py`) is a flow or heartbeats under its own name;
    `group_flows` are connectors that follow groups and copy no records.

    `problems`: by connector name, why it cannot run. `rest`: settings of the REST API.

    All flows share the epoch, since one Spark query runs them all.
    """

    flows: tuple[FlowConfig, ...]
    heartbeats: tuple[Heartbeats, ...]
    clusters: tuple[ClusterConfig, ...]
    epoch_seconds: int
    once_timeout_seconds: int
    channel_host: str = ""  # where tasks reach the driver; empty: chosen by Spark's master
    channel_port: int = 0
    accepts_unencrypted_secrets: bool = False  # when they are sent to executors of a Spark cluster
    warnings: tuple[str, ...] = ()
    flow_clusters: tuple[tuple[str, ClusterConfig], ...] = ()
    group_flows: tuple[FlowConfig, ...] = ()
    problems: tuple[tuple[str, tuple[str, ...]], ...] = ()
    rest: tuple[tuple[str, str], ...] = field(default=(), repr=False)  # may hold secrets
    metrics: MetricsConfig = field(default_factory=MetricsConfig)

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """(source, target) of all flows and heartbeats: `MirrorMakerConfig.clusterPairs`."""
        flows = [(flow.source, flow.target) for flow in self.flows]
        beats = [(each.source, each.target) for each in self.heartbeats]
        return tuple(dict.fromkeys([*flows, *beats]))

    def cluster(self, alias: str, flow: str | None = None) -> ClusterConfig:
        """As the clients of the flow (or pair) of this name reach it; None: as clients in general do."""
        own = (cluster for name, cluster in self.flow_clusters if name == flow)
        for cluster in (*own, *self.clusters):
            if cluster.alias == alias:
                return cluster
        raise KeyError(alias)

    def offsets_cluster(self, flow: FlowConfig | Heartbeats) -> ClusterConfig:
        return self.cluster(flow.offsets_alias, flow.name)

    def flow(self, name: str) -> FlowConfig:
        for flow in self.flows:
            if flow.name == name:
                return flow
        raise KeyError(name)
