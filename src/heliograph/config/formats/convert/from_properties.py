"""Makes an outline of an mm2.properties: the workers and connectors of `MirrorMakerConfig`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from heliograph.config.connectors.connector_class import ConnectorClass
from heliograph.config.flows import Pair, pair_settings
from heliograph.config.formats.convert.outline import (
    STORAGE,
    Outline,
    OutlinedConnector,
    OutlinedWorker,
)
from heliograph.config.formats.properties import PropertiesFile
from heliograph.config.options import Scope
from heliograph.config.options.checkpoint import CHECKPOINT
from heliograph.config.options.heartbeat import HEARTBEAT
from heliograph.config.options.kafka_clients import client_option
from heliograph.config.options.source import SOURCE
from heliograph.config.options.values import parse_list
from heliograph.config.resolve.key_lookup import OPEN_FAMILIES
from heliograph.config.resolve.layers import Layers, Settings, is_client_config
from heliograph.errors import ConfigError

SHARED = {
    "topics",
    "topics.exclude",
    "topics.blacklist",
    "topic.filter.class",
    "offset-syncs.topic.location",
    "emit.offset-syncs.enabled",
    "consumer.poll.timeout.ms",
}
_CLASSES = {
    ConnectorClass.SOURCE: {option.name for option in SOURCE},
    ConnectorClass.CHECKPOINT: {option.name for option in CHECKPOINT} | SHARED,
    ConnectorClass.HEARTBEAT: {option.name for option in HEARTBEAT},
}
_OWN = set().union(*_CLASSES.values())
_CLUSTERS = ("source.cluster.", "target.cluster.")
_SWITCHES = {"enabled", "emit.checkpoints.enabled", "emit.heartbeats.enabled", "name"}


def outline_properties(file: PropertiesFile) -> Outline:
    """Raises ConfigError if clusters or flows are missing."""
    found = file.properties.get("clusters")
    aliases = [alias for alias in parse_list(found.value if found else "") if alias]
    if len(aliases) < 2:
        raise ConfigError(f"clusters: expected two aliases or more in {file.name}")
    layers = Layers(file)
    workers = []
    notes: list[str] = []
    for target in aliases:
        sources = [alias for alias in aliases if alias != target]
        connectors = list(_connectors(layers, file, sources, target))
        if connectors:
            workers.append(_worker(layers, target, connectors, notes))
    if not workers:
        raise ConfigError(f"{file.name}: No source->target replication flows: none is enabled")
    notes += [
        f"{key}: a setting of mm2.properties that workers and connectors do not have ({file.where(key)})"
        for key in (
            "dedicated.mode.enable.internal.rest",
            "epoch.seconds",
            "once.timeout.seconds",
            "driver.channel.host",
            "driver.channel.port",
            "metrics.listener",
            "metrics.names",
            "metrics.detail",
            "metrics.labels",
            "otel.exporter.otlp.endpoint",
            "otel.exporter.otlp.headers",
            "otel.metric.export.interval",
            "spark.unencrypted.secrets.policy",
        )
        if key in file.properties
    ]
    return Outline(workers=tuple(workers), notes=tuple(notes))


def _connectors(
    layers: Layers, file: PropertiesFile, sources: Iterable[str], target: str
) -> Iterator[OutlinedConnector]:
    for source in sources:
        pair = Pair(
            name=f"{source}->{target}",
            source=source,
            target=target,
            settings=pair_settings(layers, source, target),
            file_name=file.name,
            problems=[],
            warnings=[],
        )
        its = _without_echoes(layers.connector(source, target))
        for kind in _kinds(pair):
            config = {
                name: setting.value
                for name, setting in its.items()
                if _is_of(kind, name) and name not in _SWITCHES
            }
            named = its.get("name")
            yield OutlinedConnector(
                name=kind if named is None else named.value,
                kind=kind,
                source=source,
                target=target,
                config=config,
            )


def _kinds(pair: Pair) -> Iterator[ConnectorClass]:
    if pair.is_enabled():
        yield ConnectorClass.SOURCE
        if pair.switched("emit.checkpoints.enabled") and pair.switched("emit.offset-syncs.enabled"):
            yield ConnectorClass.CHECKPOINT
    if pair.switched("emit.heartbeats.enabled"):
        yield ConnectorClass.HEARTBEAT


def _is_of(kind: ConnectorClass, name: str) -> bool:
    if name.partition(".")[0] in ("transforms", "predicates"):  # of copied records
        return kind is ConnectorClass.SOURCE
    if name in _OWN:
        return name in _CLASSES[kind]
    if kind is ConnectorClass.HEARTBEAT:
        return not name.startswith(("source.", "consumer.")) or name.startswith("source.cluster.")
    return True


def _without_echoes(connector: Settings) -> Settings:
    """Without source.consumer.ssl.x, …, which MM2 derives from A.ssl.x: source.cluster.ssl.x is enough."""
    found = {}
    for name, setting in connector.items():
        side, _, rest = name.partition(".")
        kind, _, inner = rest.partition(".")
        echo = (
            side in ("source", "target")
            and kind in ("consumer", "producer", "admin")
            and connector.get(f"{side}.cluster.{inner}") == setting
        )
        # Other settings of a cluster belong to its worker, or have no effect.
        foreign = name.startswith(_CLUSTERS) and not is_client_config(rest.partition(".")[2])
        if not echo and not foreign:
            found[name] = setting
    return found


def _worker(
    layers: Layers, target: str, connectors: list[OutlinedConnector], notes: list[str]
) -> OutlinedWorker:
    """One worker for all flows to the target, named after the first source; MM2 has one for each flow."""
    first, *others = dict.fromkeys(each.source for each in _by_weight(connectors))
    given = layers.worker(target)
    settings = {
        name: setting.value
        for name, setting in given.items()
        if _is_workers(name) and not _is_echo(given, name)
    }
    for name, found in layers.top().items():
        if name.startswith("config.providers"):
            settings[name] = found.value
    settings.setdefault("group.id", f"{first}-mm2")
    for kind, plural in STORAGE.items():
        settings.setdefault(f"{kind}.storage.topic", f"mm2-{plural}.{first}.internal")
    if others:
        notes += [
            f"{source}->{target}: one worker runs all flows to {target}; it does not read the offsets that "
            f"MM2 stored in mm2-offsets.{source}.internal"
            for source in others
        ]
        connectors = [
            OutlinedConnector(
                name=f"{each.pair}.{each.kind}",
                kind=each.kind,
                source=each.source,
                target=each.target,
                config=each.config,
            )
            for each in connectors
        ]
    return OutlinedWorker(target=target, settings=settings, connectors=tuple(connectors))


def _by_weight(connectors: Iterable[OutlinedConnector]) -> list[OutlinedConnector]:
    """Heartbeat connectors last."""
    return sorted(connectors, key=lambda each: each.kind is ConnectorClass.HEARTBEAT)


def _is_workers(name: str) -> bool:
    """Whether it is a setting of a worker. MM2 also passes others: `task…`, and all of the target's."""
    kind, _, inner = name.partition(".")
    if kind in ("consumer", "producer", "admin"):
        return client_option(Scope(kind), inner) is not None
    return client_option(Scope.WORKER, name) is not None or name.startswith(OPEN_FAMILIES)


def _is_echo(worker: Settings, name: str) -> bool:
    kind, _, inner = name.partition(".")
    if kind not in ("consumer", "producer", "admin"):
        return False
    if inner == "bootstrap.servers":
        return worker.get(inner) == worker[name]
    return False
