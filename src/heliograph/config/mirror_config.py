"""A whole mirror, checked and ready to run; the same whatever format the user wrote it in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from heliograph.model import (
    ClusterConfig,
    GapPolicies,
    IsolationLevel,
    OffsetReset,
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
    """A compacted topic of MM2's or Connect's own, as it is created where it is missing."""

    name: str
    partitions: int
    replication_factor: int
    configs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigSync:
    """Topic configurations follow the source's every `interval_seconds`; None: at creation only."""

    interval_seconds: int | None
    exclude: tuple[str, ...]
    use_defaults_from_source: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a task of a flow may take at a time (docs/limits.md). `bytes_per_second` is for all tasks of
    the flow together, 0 for no limit."""

    fetch_max_bytes: int
    partition_fetch_bytes: int
    fetch_min_bytes: int
    fetch_max_wait_ms: int
    buffer_memory: int
    request_bytes: int
    bytes_per_second: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetSyncs:
    """What Java readers translate by: at most `lag_max` records between two syncs of a partition."""

    location: SyncsLocation
    topic: InternalTopic
    lag_max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoints:
    """Which groups are followed, how often their offsets are translated, and whether the target's
    groups are moved along (`sync_interval_seconds`, None: no)."""

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
    """Policy and filters of a flow, by name, and the settings they are made from. `modules` are those that
    may be imported for them; None for any, in a configuration of the operator's.

    Names, since FlowConfig travels to Spark's workers and an object of a user's class may not.
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
    """A cluster pair's sign of life on the target; runs for pairs whose flow is disabled, too. `name` is
    that of the pair, `source->target`, or of the connector."""

    name: str
    source: str
    target: str
    group_id: str
    connector_name: str
    interval_seconds: int
    topic: InternalTopic
    offsets_topic: InternalTopic
    offsets_alias: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactlyOnce:
    """Records and their offsets in one transaction (KIP-618), one after the other.

    `interval_ms` is how long each lasts; None: as short as pays. `timeout_ms` is when the target's brokers
    give up on one.
    """

    interval_ms: int | None
    timeout_ms: int

    @property
    def limit_seconds(self) -> float:
        """No transaction is kept open for longer."""
        return self.timeout_ms / 3000


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowConfig:
    """One enabled flow. `name` is `source->target`, in aliases, or that of the connector if it is one of a
    Connect worker, where several may have the same aliases; `group_id` that of Connect's workers, which
    transactional ids begin with, too. `offsets_alias` is the cluster that holds its offsets: the target, but
    for a connector whose worker belongs to another one. Such a worker sees to `config_topic` and
    `status_topic` itself."""

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
    accepts_same_cluster_id: bool  # of source and target: they are two clusters all the same
    connector_name: str
    offsets_topic: InternalTopic
    offsets_alias: str
    config_topic: InternalTopic | None
    status_topic: InternalTopic | None
    offset_flush_interval_ms: int
    config_sync: ConfigSync
    acl_sync_interval_seconds: int | None
    offset_syncs: OffsetSyncs | None
    #: Recorded, so that offsets can be translated exactly, and what the target loses be copied again.
    keeps_offset_map: bool
    checkpoints: Checkpoints | None
    exactly_once: ExactlyOnce | None
    limits: Limits
    quarantine: (
        InternalTopic | None
    )  # of records too large for the target; None: they stop a partition

    @property
    def policy(self) -> ReplicationPolicy:
        return policy_of(self.classes)

    def topic_filter(self) -> TopicFilter:
        """Compiles; keep the result."""
        return policy_classes.topic_filter(
            self.classes.topic_filter, self.classes.mapping, self.classes.modules
        )

    def group_filter(self) -> GroupFilter:
        """Compiles; keep the result."""
        return policy_classes.group_filter(
            self.classes.group_filter, self.classes.mapping, self.classes.modules
        )

    def config_property_filter(self) -> ConfigPropertyFilter:
        """Compiles; keep the result."""
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
    """A flow and the clusters it runs between: all that a task has to know. `target` is where its records go,
    `offsets` where its offsets go."""

    flow: FlowConfig
    source: ClusterConfig
    target: ClusterConfig
    offsets: ClusterConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorConfig:
    """`flows` holds the enabled ones whose target is served, `heartbeats` all pairs that have any;
    `clusters` all that were declared, `flow_clusters` those that the clients of a flow, by its name, reach
    in another way.

    Of connectors (`config/connectors/read_connectors.py`) each is a flow or heartbeats of its own, by its
    name: `group_flows` are those that follow groups and copy nothing.

    `problems`: what keeps connectors, by name, from running. `rest`: settings of the REST API.

    An epoch is one for all flows, since one query carries them all.
    """

    flows: tuple[FlowConfig, ...]
    heartbeats: tuple[Heartbeats, ...]
    clusters: tuple[ClusterConfig, ...]
    epoch_seconds: int
    once_timeout_seconds: int
    channel_host: str = ""  # of the driver, for its tasks; empty: as Spark's master suggests
    channel_port: int = 0
    accepts_unencrypted_secrets: bool = False  # on the way to executors of a Spark cluster
    warnings: tuple[str, ...] = ()
    flow_clusters: tuple[tuple[str, ClusterConfig], ...] = ()
    group_flows: tuple[FlowConfig, ...] = ()
    problems: tuple[tuple[str, tuple[str, ...]], ...] = ()
    rest: tuple[tuple[str, str], ...] = field(default=(), repr=False)  # may hold secrets

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """(source, target) of all that runs: `MirrorMakerConfig.clusterPairs`."""
        flows = [(flow.source, flow.target) for flow in self.flows]
        beats = [(each.source, each.target) for each in self.heartbeats]
        return tuple(dict.fromkeys([*flows, *beats]))

    def cluster(self, alias: str, flow: str | None = None) -> ClusterConfig:
        """As clients in general reach it, or those of the flow (or pair) of this name."""
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
