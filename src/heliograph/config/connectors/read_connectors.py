"""Reads the connectors of a Connect worker into flows and heartbeats.

MM2's connectors read, and create topics, with clients of their own; they write with the worker's producer
(`MirrorConnectorConfig`, `Worker.baseProducerConfigs`):

    topics, settings, ACLs, groups on the target    target.cluster.x < admin.x    < target.admin.x
    records of the source                           source.cluster.x < consumer.x < source.consumer.x
    offset syncs                                    <side>.cluster.x < producer.x < <side>.producer.x
    mirrored records, checkpoints, heartbeats       the worker's bootstrap.servers and producer.x
                                                        < producer.override.x
    stored offsets                                  the worker's cluster, in its offset.storage.topic; with
                                                    offsets.storage.topic, or exactly once: the cluster
                                                    that records are written to

So one setting decides where records are written, and another where topics are created. If they name
different brokers, MM2 creates topics on one cluster and writes records to the other. Here the target is the
cluster that records are written to, and a warning says so. A bad connector does not affect the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from heliograph.config.connectors.connector_class import (
    ConnectorClass,
    connector_class,
    not_a_connector,
)
from heliograph.config.connectors.connector_clusters import ConnectorClusters
from heliograph.config.connectors.connector_keys import look_up
from heliograph.config.connectors.override_policy import override_problems
from heliograph.config.connectors.worker import WorkerConfig
from heliograph.config.flow_classes import has_own
from heliograph.config.flows import Pair, PairSettings
from heliograph.config.formats.properties import PropertiesFile, Property
from heliograph.config.mirror_config import FlowConfig, Heartbeats, MirrorConfig
from heliograph.config.options import Scope
from heliograph.config.options.top import is_of_rest
from heliograph.config.options.values import InvalidValue, parse_boolean
from heliograph.config.resolve.diagnostics import (
    key_warnings,
    refused_problems,
    topic_problems,
    value_problems,
)
from heliograph.config.resolve.layers import (
    Setting,
    Settings,
    client_settings,
    with_todays_names,
)
from heliograph.config.resolve.typed_settings import TypedSettings
from heliograph.model import ClusterConfig
from heliograph.permitted import Permitted

_TARGET_ALIAS = "target"  # MirrorConnectorConfig.TARGET_CLUSTER_ALIAS_DEFAULT


@dataclass(frozen=True, slots=True, kw_only=True)
class Connector:
    """What one configuration runs: nothing if there are `problems`, or if it is not `enabled` (in MM2, a
    connector without tasks). `clusters` are the target, the source if the connector reads it, and the
    worker's cluster if that is another one and holds the offsets."""

    name: str
    kind: ConnectorClass | None
    enabled: bool = True
    flow: FlowConfig | None = None
    heartbeats: Heartbeats | None = None
    clusters: tuple[ClusterConfig, ...] = ()
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def mirror_of(connectors: Mapping[str, Mapping[str, str]], worker: WorkerConfig) -> MirrorConfig:
    """All connectors that can run; `MirrorConfig.problems` says why the others cannot."""
    return assemble(
        [read_connector(name, config, worker) for name, config in connectors.items()], worker
    )


def read_connector(
    name: str,
    config: Mapping[str, str],
    worker: WorkerConfig,
    permitted: Permitted | None = None,
) -> Connector:
    """`config` is as stored in the config topic. `permitted`: what a configuration from REST may name; None:
    the operator wrote it."""
    properties = {key: Property(value, 0) for key, value in config.items()}
    file = PropertiesFile(name=f"connector {name}", properties=properties)
    return connector_of(name, file, worker, permitted)


def connector_of(
    name: str,
    file: PropertiesFile,
    worker: WorkerConfig,
    permitted: Permitted | None = None,
    *,
    served: bool = True,
) -> Connector:
    """`served`: by a worker, which has its config and status topics. `run` creates those of a
    worker that is named, where guides look for them and a Connect cluster that takes over uses them."""
    filled = worker.placeholders.fill_in(file, variables=False, permitted=permitted)
    reading = _Reading(
        name, filled.file, worker, list(filled.problems), permitted=permitted, served=served
    )
    return reading.connector()


def assemble(connectors: Iterable[Connector], worker: WorkerConfig) -> MirrorConfig:
    """Where no flow is given, an alias means the first connector's cluster of that alias."""
    given = list(connectors)
    running = [each for each in given if not each.problems]
    clusters: dict[str, ClusterConfig] = {}
    for each in running:
        for cluster in each.clusters:
            clusters.setdefault(cluster.alias, cluster)
    return MirrorConfig(
        flows=tuple(c.flow for c in running if c.flow and c.kind is ConnectorClass.SOURCE),
        group_flows=tuple(
            c.flow for c in running if c.flow and c.kind is ConnectorClass.CHECKPOINT
        ),
        heartbeats=tuple(each.heartbeats for each in running if each.heartbeats),
        clusters=tuple(clusters.values()),
        flow_clusters=tuple(
            (each.name, cluster)
            for each in running
            for cluster in each.clusters
            if cluster != clusters[cluster.alias]
        ),
        epoch_seconds=worker.epoch_seconds,
        once_timeout_seconds=worker.once_timeout_seconds,
        channel_host=worker.channel_host,
        channel_port=worker.channel_port,
        accepts_unencrypted_secrets=worker.accepts_unencrypted_secrets,
        metrics=worker.metrics,
        rest=tuple((n, s.value) for n, s in worker.settings.items() if is_of_rest(n)),
        warnings=tuple(
            dict.fromkeys([*(w for each in given for w in each.warnings), *rivals(running)])
        ),
        problems=tuple((each.name, each.problems) for each in given if each.problems),
    )


def rivals(connectors: Iterable[Connector]) -> list[str]:
    """Warnings for source connectors to one target that give one alias to different sources: offset syncs and
    checkpoints of a topic are stored by its source's alias, and would be mixed up."""
    found: list[str] = []
    seen: dict[tuple[str, frozenset[str]], Connector] = {}
    for each in connectors:
        if each.flow is None or each.kind is not ConnectorClass.SOURCE:
            continue
        target, source, *_ = each.clusters
        first = seen.setdefault((source.alias, frozenset(target.bootstrap_servers)), each)
        assert first.flow is not None
        same_source = set(first.clusters[1].bootstrap_servers) == set(source.bootstrap_servers)
        if not same_source or _policy(first) != _policy(each):
            what = "policy" if same_source else "cluster"
            found.append(
                f"connector {each.name}: has the source alias {source.alias}, as {first.name} has with "
                f"another {what}; if both mirror topics of one name, give it another alias, or their offsets "
                "are mixed up"
            )
    return found


def _policy(connector: Connector) -> tuple[str, ...]:
    assert connector.flow is not None
    classes = connector.flow.classes
    settings = [f"{n}={v}" for n, v in classes.settings if n.startswith("replication.policy.")]
    return classes.replication_policy, *settings


@dataclass(slots=True)
class _Reading:
    """One connector; collects problems and warnings."""

    name: str
    file: PropertiesFile
    worker: WorkerConfig
    problems: list[str]
    warnings: list[str] = field(default_factory=list)
    permitted: Permitted | None = None
    served: bool = True

    def connector(self) -> Connector:
        kind = self._kind()
        if kind is None or not self._enabled():
            return self._done(Connector(name=self.name, kind=kind, enabled=kind is None))
        settings = self._settings()
        self._diagnose(settings)
        source, target = self._aliases(kind)
        reader = ConnectorClusters(
            self.name,
            self.file,
            self.worker,
            settings,
            self.problems,
            self.warnings,
            self.permitted,
        )
        clusters = reader.read(kind, source, target)
        pair = self._pair(settings, reader, source, target)
        self._check(kind, settings)
        flow = heartbeats = None
        if kind is ConnectorClass.HEARTBEAT:
            heartbeats = pair.heartbeats()
        else:
            flow = pair.flow(follows_groups=kind is ConnectorClass.CHECKPOINT)
            if kind is ConnectorClass.CHECKPOINT and flow.checkpoints is None:
                flow = None
        found = Connector(
            name=self.name, kind=kind, flow=flow, heartbeats=heartbeats, clusters=clusters
        )
        return self._done(self._stored(found, settings))

    def _done(self, found: Connector) -> Connector:
        return replace(
            found,
            problems=tuple(dict.fromkeys(self.problems)),
            warnings=tuple(dict.fromkeys([*self.file.warnings, *self.warnings])),
        )

    def _kind(self) -> ConnectorClass | None:
        found = self.file.properties.get("connector.class")
        text = "" if found is None else found.value.strip()
        kind = connector_class(text)
        if kind is None and (found is None or not found.broken):
            what = not_a_connector(text) if text else "missing; expected one of MM2's connectors"
            self._problem("connector.class", what)
        return kind

    def _enabled(self) -> bool:
        """The default is true in the connectors' ConfigDef, unlike in a file of flows."""
        found = self.file.properties.get("enabled")
        try:
            return found is None or parse_boolean(found.value)
        except InvalidValue:
            return True  # value_problems reports it

    def _settings(self) -> Settings:
        own = {key: Setting(key, found) for key, found in self.file.properties.items()}
        own["name"] = Setting("name", Property(self.name, 0))
        return with_todays_names(own)

    def _diagnose(self, settings: Settings) -> None:
        connector = TypedSettings(settings, Scope.CONNECTOR, self.file.name, self.problems)
        own = has_own(connector)
        key_uses = [look_up(key, own_classes=own) for key in self.file.properties]
        self.problems += value_problems(self.file, key_uses)
        self.problems += refused_problems(self.file, key_uses)
        self.problems += topic_problems(self.file, key_uses)
        self.problems += override_problems(self.worker, self.file)
        self.warnings += key_warnings(self.file, key_uses)

    def _aliases(self, kind: ConnectorClass) -> tuple[str, str]:
        properties = self.file.properties
        source = properties.get("source.cluster.alias")
        target = properties.get("target.cluster.alias")
        if source is None:
            self._problem(
                "source.cluster.alias", "missing; expected an alias of the source, such as us"
            )
        names = (
            "source" if source is None else source.value.strip(),
            _TARGET_ALIAS if target is None else target.value.strip(),
        )
        if names[0] == names[1] and kind is not ConnectorClass.HEARTBEAT:
            key = "source.cluster.alias" if target is None else "target.cluster.alias"
            self._problem(
                key,
                f"expected another alias than the {'target' if target is None else 'source'}'s, found "
                f"{names[0]!r} for both",
            )
        return names

    def _check(self, kind: ConnectorClass, settings: Settings) -> None:
        """`MirrorCheckpointConfig.validate`, and what only copied records can have."""
        for name in ("transforms", "predicates", "function"):
            given = settings.get(name)
            if kind is not ConnectorClass.SOURCE and given is not None and given.value.strip():
                why = "only records that MirrorSourceConnector copies can be transformed; leave it out"
                self._problem(name, why)
        if kind is not ConnectorClass.CHECKPOINT:
            return
        connector = TypedSettings(settings, Scope.CONNECTOR, self.file.name, self.problems)
        for name, why in (
            ("emit.checkpoints.enabled", "with emit.checkpoints.enabled set to false"),
            ("emit.offset-syncs.enabled", "without offset syncs"),
        ):
            if not connector.flag(name):
                self._problem(name, f"MirrorCheckpointConnector can't run {why}; leave it out")

    def _stored(self, found: Connector, settings: Settings) -> Connector:
        """Sets where offsets are stored: with the records, or on the worker's cluster (KIP-618)."""
        topic = settings.get("offsets.storage.topic")
        own = topic.value.strip() if topic is not None else ""
        servers = set(self.worker.cluster.bootstrap_servers)
        beside = servers == set(found.clusters[0].bootstrap_servers)
        here = own or self.worker.exactly_once or beside
        flow, beats = found.flow, found.heartbeats
        alias = found.clusters[0].alias if here else self.worker.cluster.alias
        if flow is not None:
            named = replace(flow.offsets_topic, name=own or flow.offsets_topic.name)
            if not here and flow.exactly_once is not None:
                flow = replace(flow, exactly_once=None)
                self.warnings.append(
                    f"connector {self.name}: at least once, since its offsets are stored on the worker's "
                    "cluster, and its records on another; set exactly.once.source.support = enabled in the "
                    "worker's configuration, or offsets.storage.topic in the connector's"
                )
            flow = replace(
                flow,
                offsets_topic=named,
                offsets_alias=alias,
                config_topic=self.worker.config_topic if beside and not self.served else None,
                status_topic=self.worker.status_topic if beside and not self.served else None,
            )
        if beats is not None:
            named = replace(beats.offsets_topic, name=own or beats.offsets_topic.name)
            beats = replace(beats, offsets_topic=named, offsets_alias=alias)
        clusters = found.clusters if here else (*found.clusters, self.worker.cluster)
        return replace(found, flow=flow, heartbeats=beats, clusters=clusters)

    def _pair(
        self, settings: Settings, clusters: ConnectorClusters, source: str, target: str
    ) -> Pair:
        return Pair(
            name=self.name,
            source=source,
            target=target,
            settings=PairSettings(
                connector=settings,
                consumer=client_settings(settings, "source", "consumer"),
                producer=clusters.producer(),
                worker=clusters.of_worker(),
                worker_prefix="",
                consumer_prefix="source.consumer.",
                permitted=self.permitted,
            ),
            file_name=self.file.name,
            problems=self.problems,
            warnings=self.warnings,
        )

    def _problem(self, key: str, sentence: str) -> None:
        self.problems.append(f"{key}: {sentence} ({self.file.where(key)})")
