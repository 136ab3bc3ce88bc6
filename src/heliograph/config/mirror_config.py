"""A whole mirror, checked and ready to run; the same whatever format the user wrote it in."""

from __future__ import annotations

from dataclasses import dataclass

from heliograph.model import ClusterConfig, IsolationLevel, OffsetReset, Timestamps
from heliograph.policy.naming import DefaultReplicationPolicy, should_replicate_topic
from heliograph.policy.topic_filter import TopicFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowConfig:
    """One enabled flow. `name` is `source->target`, in aliases."""

    name: str
    source: str
    target: str
    topics: tuple[str, ...]
    topics_exclude: tuple[str, ...]
    replication_factor: int
    tasks_max: int
    isolation_level: IsolationLevel
    auto_offset_reset: OffsetReset
    refresh_interval_seconds: int | None
    heartbeats_replication: bool
    separator: str
    internal_topic_separator_enabled: bool
    timestamps: Timestamps
    connector_name: str
    offsets_topic: str
    offset_storage_replication_factor: int
    offset_storage_partitions: int
    offset_flush_interval_ms: int

    @property
    def policy(self) -> DefaultReplicationPolicy:
        return DefaultReplicationPolicy(
            separator=self.separator,
            internal_topic_separator_enabled=self.internal_topic_separator_enabled,
        )

    def topic_filter(self) -> TopicFilter:
        """Compiles; keep the result."""
        return TopicFilter.of(self.topics, self.topics_exclude)

    def target_topic(self, topic: str) -> str:
        return self.policy.format_remote_topic(self.source, topic)

    def should_replicate(self, topic: str, topic_filter: TopicFilter) -> bool:
        return should_replicate_topic(
            topic,
            topic_filter=topic_filter,
            policy=self.policy,
            target_alias=self.target,
            heartbeats_replication=self.heartbeats_replication,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorConfig:
    """`flows` holds the enabled ones whose target is served; `clusters` all that were declared.

    An epoch is one for all flows, since one query carries them all.
    """

    flows: tuple[FlowConfig, ...]
    clusters: tuple[ClusterConfig, ...]
    epoch_seconds: int
    once_timeout_seconds: int
    warnings: tuple[str, ...] = ()

    def cluster(self, alias: str) -> ClusterConfig:
        for cluster in self.clusters:
            if cluster.alias == alias:
                return cluster
        raise KeyError(alias)

    def flow(self, name: str) -> FlowConfig:
        for flow in self.flows:
            if flow.name == name:
                return flow
        raise KeyError(name)
