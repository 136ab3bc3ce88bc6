"""Builds one flow, or the heartbeats of one pair, from the settings in force for a pair of clusters."""

from __future__ import annotations

from dataclasses import dataclass

from heliograph.config.exactly_once import ExactlyOnceSettings
from heliograph.config.flow_classes import (
    check_filters,
    has_own,
    is_own,
    read_classes,
    usable_policy,
)
from heliograph.config.lane import LaneSettings, untranslated
from heliograph.config.mirror_config import (
    Checkpoints,
    ConfigSync,
    ExactlyOnce,
    FlowClasses,
    FlowConfig,
    Heartbeats,
    InternalTopic,
    LaneConfig,
    Limits,
    OffsetSyncs,
)
from heliograph.config.options import Scope
from heliograph.config.resolve.combinations import check_offset_syncs, runs_checkpoints
from heliograph.config.resolve.layers import Layers, Settings
from heliograph.config.resolve.typed_settings import TypedSettings
from heliograph.model import (
    GapPolicies,
    GapPolicy,
    IsolationLevel,
    LossPolicy,
    OffsetReset,
    OnError,
    SyncsLocation,
    Timestamps,
    Translation,
)
from heliograph.permitted import Permitted
from heliograph.policy.naming import ReplicationPolicy

#: Connect keeps connector configurations in one partition, to keep their order.
_CONFIG_PARTITIONS = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSettings:
    """The settings in force for a pair of clusters, or for one connector. `worker_prefix` and
    `consumer_prefix` are the prefixes of settings of the worker and of the source's consumer, for messages.
    `permitted`: what a connector created through REST may name."""

    connector: Settings
    consumer: Settings
    producer: Settings
    worker: Settings
    worker_prefix: str
    consumer_prefix: str
    permitted: Permitted | None = None


def pair_settings(layers: Layers, source: str, target: str) -> PairSettings:
    return PairSettings(
        connector=layers.connector(source, target),
        consumer=layers.source_consumer(source, target),
        producer=layers.target_producer(source, target),
        worker=layers.worker(target),
        worker_prefix=f"{target}.",
        consumer_prefix=f"{source}.consumer.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Reads the settings of `source->target`, or of a connector of that `name`."""

    name: str
    source: str
    target: str
    settings: PairSettings
    file_name: str
    problems: list[str]
    warnings: list[str]

    def is_enabled(self) -> bool:
        """As in MM2, a top-level `enabled` counts only if the pair has a herder: if the pair's own `enabled`
        is set or it has heartbeats."""
        connector = self._connector()
        setting = connector.settings.get("enabled")
        own = setting is not None and setting.key == f"{self.name}.enabled"
        if not own and not connector.flag("emit.heartbeats.enabled"):
            return False
        return connector.flag("enabled")

    def switched(self, name: str) -> bool:
        """Whether the connector's switch of this name is on."""
        return self._connector().flag(name)

    def has_own_classes(self) -> bool:
        return has_own(self._connector())

    def flow(self, *, follows_groups: bool = True) -> FlowConfig:
        connector, consumer, worker = self._connector(), self._consumer(), self._worker()
        classes = self._classes(connector)
        policy = usable_policy(classes, connector)
        isolation_level = IsolationLevel(consumer.text("isolation.level"))
        check_offset_syncs(connector)
        check_filters(classes, connector)
        checkpoints = self._checkpoints(connector, policy) if follows_groups else None
        exact = connector.text("offset.translation") == Translation.EXACT
        lane = LaneSettings(
            connector=connector, modules=classes.modules, warnings=self.warnings
        ).read()
        translates = self._translates(lane, checkpoints)
        own_topics = is_own(classes.topic_filter)
        return FlowConfig(
            name=self.name,
            source=self.source,
            target=self.target,
            group_id=self._group_id(),
            topics=connector.patterns("topics", checked=not own_topics),
            topics_exclude=connector.patterns("topics.exclude", checked=not own_topics),
            replication_factor=connector.number("replication.factor"),
            tasks_max=connector.number("tasks.max"),
            isolation_level=isolation_level,
            auto_offset_reset=OffsetReset(consumer.text("auto.offset.reset")),
            refresh_interval_seconds=connector.interval("refresh.topics"),
            heartbeats_replication=connector.flag("heartbeats.replication.enabled"),
            own_alias_is_cycle=connector.text("cycle.detection") == "4.4",
            classes=classes,
            timestamps=Timestamps(connector.text("timestamps")),
            gap_policies=_gap_policies(connector),
            accepts_same_cluster_id=connector.text("same.cluster.id.policy") == "accept",
            connector_name=connector.text("name") or "MirrorSourceConnector",
            offsets_topic=self._offsets_topic(),
            offsets_alias=self.target,
            config_topic=self._config_topic(),
            status_topic=self._status_topic(),
            offset_flush_interval_ms=worker.number("offset.flush.interval.ms"),
            config_sync=_config_sync(classes, connector),
            acl_sync_interval_seconds=connector.interval("sync.topic.acls"),
            offset_syncs=self._offset_syncs(connector, policy) if translates else None,
            # Also without checkpoints: the checkpoint connector may be another one.
            keeps_offset_map=exact and translates,
            checkpoints=checkpoints if translates else None,
            exactly_once=self._exactly_once(connector, isolation_level, in_lane=lane is not None),
            limits=self._limits(connector),
            quarantine=self._quarantine(connector, lane),
            lane=lane,
        )

    def _translates(self, lane: LaneConfig | None, checkpoints: Checkpoints | None) -> bool:
        """Whether offsets can be translated; warns if the flow would write checkpoints."""
        why = untranslated(lane)
        if why is not None and checkpoints is not None:
            self.warnings.append(
                f"{self.name}: {why}: no checkpoints are written, and groups are not synced; "
                "emit.checkpoints.enabled = false says that this is meant"
            )
        return why is None

    def heartbeats(self, *, alone: bool = False) -> Heartbeats | None:
        """`alone`: the pair has a worker in MM2, and no flow here."""
        connector = self._connector()
        interval = connector.interval("emit.heartbeats")
        if interval is None:
            return None
        policy = usable_policy(self._classes(connector), connector)
        return Heartbeats(
            name=self.name,
            source=self.source,
            target=self.target,
            group_id=self._group_id(),
            connector_name=connector.text("name") or "MirrorHeartbeatConnector",
            interval_seconds=interval,
            topic=InternalTopic(
                name=policy.heartbeats_topic(),
                partitions=1,
                replication_factor=connector.number("heartbeats.topic.replication.factor"),
            ),
            offsets_topic=self._offsets_topic(),
            offsets_alias=self.target,
            config_topic=self._config_topic() if alone else None,
            status_topic=self._status_topic() if alone else None,
        )

    def _exactly_once(
        self, connector: TypedSettings, isolation_level: IsolationLevel, *, in_lane: bool
    ) -> ExactlyOnce | None:
        return ExactlyOnceSettings(
            worker_prefix=self.settings.worker_prefix,
            consumer_prefix=self.settings.consumer_prefix,
            connector=connector,
            worker=self._worker(),
            producer=self._producer(),
            isolation_level=isolation_level,
            warnings=self.warnings,
            by_default=in_lane,
        ).read()

    def _limits(self, connector: TypedSettings) -> Limits:
        consumer, producer = self._consumer(), self._producer()
        return Limits(
            fetch_max_bytes=consumer.number("fetch.max.bytes"),
            partition_fetch_bytes=consumer.number("max.partition.fetch.bytes"),
            fetch_min_bytes=consumer.number("fetch.min.bytes"),
            fetch_max_wait_ms=consumer.number("fetch.max.wait.ms"),
            buffer_memory=producer.number("buffer.memory"),
            request_bytes=producer.number("max.request.size"),
            bytes_per_second=connector.number("throttle.bytes.per.second"),
        )

    def _quarantine(
        self, connector: TypedSettings, lane: LaneConfig | None
    ) -> InternalTopic | None:
        """The default name starts with `mm2` and ends with `.internal`, so MM2 never mirrors the topic."""
        wanted = lane is not None and lane.on_error is OnError.QUARANTINE
        if connector.text("oversize.record.policy") == "fail" and not wanted:
            return None
        return InternalTopic(
            name=connector.text("quarantine.topic") or f"mm2-quarantine.{self.source}.internal",
            partitions=1,
            replication_factor=connector.number("quarantine.topic.replication.factor"),
        )

    def _offset_syncs(
        self, connector: TypedSettings, policy: ReplicationPolicy
    ) -> OffsetSyncs | None:
        if not connector.flag("emit.offset-syncs.enabled"):
            return None
        location = SyncsLocation(connector.text("offset-syncs.topic.location"))
        # The topic is named after the other cluster than the one that holds it.
        other = self.target if location is SyncsLocation.SOURCE else self.source
        return OffsetSyncs(
            location=location,
            topic=InternalTopic(
                name=policy.offset_syncs_topic(other),
                partitions=1,
                replication_factor=connector.number("offset-syncs.topic.replication.factor"),
            ),
            lag_max=connector.number("offset.lag.max"),
        )

    def _checkpoints(
        self, connector: TypedSettings, policy: ReplicationPolicy
    ) -> Checkpoints | None:
        checked = not is_own(connector.text("group.filter.class"))
        groups = connector.patterns("groups", checked=checked)
        exclude = connector.patterns("groups.exclude", checked=checked)
        interval = connector.interval("emit.checkpoints")
        if not runs_checkpoints(self.name, connector, self.warnings) or interval is None:
            return None
        return Checkpoints(
            connector_name=connector.text("name") or "MirrorCheckpointConnector",
            groups=groups,
            groups_exclude=exclude,
            refresh_interval_seconds=connector.interval("refresh.groups"),
            interval_seconds=interval,
            sync_interval_seconds=connector.interval("sync.group.offsets"),
            topic=InternalTopic(
                name=policy.checkpoints_topic(self.source),
                partitions=1,
                replication_factor=connector.number("checkpoints.topic.replication.factor"),
            ),
            translation=Translation(connector.text("offset.translation")),
        )

    def _group_id(self) -> str:
        """As `MirrorMakerConfig.workerConfig` names it."""
        return self._worker().text("group.id") or f"{self.source}-mm2"

    def _offsets_topic(self) -> InternalTopic:
        return self._storage("offset", self._worker().number("offset.storage.partitions"))

    def _config_topic(self) -> InternalTopic:
        return self._storage("config", _CONFIG_PARTITIONS)

    def _status_topic(self) -> InternalTopic:
        return self._storage("status", self._worker().number("status.storage.partitions"))

    def _storage(self, kind: str, partitions: int) -> InternalTopic:
        """`mm2-offsets.A.internal`, …: always with dots, whatever `replication.policy.separator` is."""
        worker = self._worker()
        plural = {"offset": "offsets", "config": "configs", "status": "status"}[kind]
        return InternalTopic(
            name=worker.text(f"{kind}.storage.topic") or f"mm2-{plural}.{self.source}.internal",
            partitions=partitions,
            replication_factor=worker.number(f"{kind}.storage.replication.factor"),
        )

    def _classes(self, connector: TypedSettings) -> FlowClasses:
        return read_classes(self.source, self.target, connector, self.settings.permitted)

    def _connector(self) -> TypedSettings:
        return self._typed(self.settings.connector, Scope.CONNECTOR)

    def _consumer(self) -> TypedSettings:
        return self._typed(self.settings.consumer, Scope.CONSUMER)

    def _producer(self) -> TypedSettings:
        return self._typed(self.settings.producer, Scope.PRODUCER)

    def _worker(self) -> TypedSettings:
        return self._typed(self.settings.worker, Scope.WORKER)

    def _typed(self, settings: Settings, scope: Scope) -> TypedSettings:
        return TypedSettings(settings, scope, self.file_name, self.problems)


def _gap_policies(connector: TypedSettings) -> GapPolicies:
    return GapPolicies(
        source=GapPolicy(connector.text("source.log.gap.policy")),
        target=LossPolicy(connector.text("target.log.loss.policy")),
    )


def _config_sync(classes: FlowClasses, connector: TypedSettings) -> ConfigSync:
    checked = not is_own(classes.config_property_filter)
    return ConfigSync(
        interval_seconds=connector.interval("sync.topic.configs"),
        exclude=connector.patterns("config.properties.exclude", checked=checked),
        use_defaults_from_source=connector.text("use.defaults.from") == "source",
    )
