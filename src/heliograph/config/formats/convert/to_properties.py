"""Writes an outline as mm2.properties, where the connectors of a pair of clusters share their settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from heliograph.config.connectors.connector_class import ConnectorClass
from heliograph.config.formats.connect_json import RUNNING
from heliograph.config.formats.convert.from_properties import SHARED
from heliograph.config.formats.convert.outline import (
    Converted,
    Outline,
    OutlinedConnector,
    OutlinedWorker,
)
from heliograph.config.formats.convert.to_connect import properties_text
from heliograph.config.options import OPTIONS, Scope
from heliograph.config.options.kafka_clients import client_option
from heliograph.config.options.values import BYTE_ARRAY_CONVERTER
from heliograph.config.resolve.layers import is_client_config

FILE = "mm2.properties"
_CONVERTERS = ("key.converter", "value.converter", "header.converter")
_CLIENTS = ("producer", "consumer", "admin")
_STORES = ("offset.storage.", "config.storage.", "status.storage.")


def to_properties(outline: Outline) -> Converted:
    writing = _Writing(list(outline.notes))
    for worker in outline.workers:
        writing.worker(worker)
    pairs: dict[tuple[str, str], list[OutlinedConnector]] = {}
    for worker in outline.workers:
        for each in worker.connectors:
            pairs.setdefault((each.source, each.target), []).append(each)
    aliases = dict.fromkeys(alias for pair in pairs for alias in pair)
    for connectors in pairs.values():
        writing.pair(connectors)
    text = {"clusters": ", ".join(aliases), **writing.top, **writing.clusters}
    for source in aliases:
        for target in aliases:
            if source != target and (source, target) not in pairs:
                writing.flows[f"{source}->{target}.emit.heartbeats.enabled"] = "false"
    return Converted(
        files={FILE: properties_text(text | writing.flows)},
        notes=tuple(dict.fromkeys(writing.notes)),
    )


class _Writing:
    def __init__(self, notes: list[str]) -> None:
        self.notes = notes
        self.top: dict[str, str] = {}
        self.clusters: dict[str, str] = {}
        self.flows: dict[str, str] = {}

    def worker(self, worker: OutlinedWorker) -> None:
        target = worker.target
        named = [each.config.get("target.cluster.bootstrap.servers") for each in worker.connectors]
        servers = worker.settings.get("bootstrap.servers")
        if servers is not None and any(each not in (None, servers) for each in named):
            self.notes.append(
                f"{target}: its worker belongs to another cluster ({servers}); in mm2.properties the worker "
                f"belongs to the target and stores offsets there"
            )
        for each in worker.connectors:
            self._cluster(each.target, each.below("target.cluster."), each.name)
            self._cluster(each.source, each.below("source.cluster."), each.name)
        for name, value in worker.settings.items():
            self._of_worker(target, name, value)

    def _cluster(self, alias: str, settings: Mapping[str, str], connector: str) -> None:
        for name, value in settings.items():
            known = self.clusters.setdefault(f"{alias}.{name}", value)
            if known != value:
                self.notes.append(
                    f"connector {connector}: {alias}.{name} differs from another connector's; mm2.properties "
                    "has one value"
                )

    def _of_worker(self, target: str, name: str, value: str) -> None:
        kind, _, inner = name.partition(".")
        if name.startswith("config.providers"):
            self.top[name] = value
        elif name in _CONVERTERS:
            if value.strip().rpartition(".")[2] != "ByteArrayConverter":
                self.notes.append(
                    f"{name}: left out; mm2.properties allows only {BYTE_ARRAY_CONVERTER}"
                )
        elif kind in _CLIENTS and client_option(Scope(kind), inner) is not None:
            # Clients inherit the setting from their cluster.
            if self.clusters.get(f"{target}.{inner}") != value:
                self.clusters[f"{target}.{name}"] = value
        elif is_client_config(name):
            self.clusters.setdefault(f"{target}.{name}", value)
        elif (Scope.WORKER, name) in OPTIONS or name.startswith(_STORES):
            self.clusters[f"{target}.{name}"] = value
        else:
            self.notes.append(
                f"{name}: left out; mm2.properties does not have this setting of workers"
            )

    def pair(self, connectors: Iterable[OutlinedConnector]) -> None:
        by_kind: dict[ConnectorClass, OutlinedConnector] = {}
        order = list(ConnectorClass)
        for each in sorted(connectors, key=lambda each: order.index(each.kind)):
            if by_kind.setdefault(each.kind, each) is not each:
                self.notes.append(
                    f"connector {each.name}: left out; mm2.properties has one {each.kind} for {each.pair}"
                )
        first = next(iter(by_kind.values()))
        prefix = f"{first.pair}."
        self.flows |= {prefix + name: value for name, value in self._switches(by_kind).items()}
        for name in dict.fromkeys(name for each in by_kind.values() for name in each.config):
            if not name.startswith(("source.cluster.", "target.cluster.", "config.providers")):
                self.flows[prefix + name] = self._one_value(name, by_kind)
        for each in by_kind.values():
            self._note_losses(each)

    def _switches(self, by_kind: Mapping[ConnectorClass, OutlinedConnector]) -> dict[str, str]:
        source = by_kind.get(ConnectorClass.SOURCE)
        checkpoint = by_kind.get(ConnectorClass.CHECKPOINT)
        runs = source is not None and source.state == RUNNING
        found = {"enabled": "true" if runs else "false"}
        if source is not None and checkpoint is None:
            found["emit.checkpoints.enabled"] = "false"
        if source is None and checkpoint is not None:
            self.notes.append(
                f"connector {checkpoint.name}: left out; mm2.properties cannot follow groups without "
                "mirroring records"
            )
        beats = ConnectorClass.HEARTBEAT in by_kind
        found["emit.heartbeats.enabled"] = "true" if beats else "false"
        return found

    def _one_value(self, name: str, by_kind: Mapping[ConnectorClass, OutlinedConnector]) -> str:
        """The source connector's value, if it has one; connectors with another value get a note."""
        having = [each for each in by_kind.values() if name in each.config]
        value = having[0].config[name]
        for each in by_kind.values():
            its = each.config.get(name, _default(name) if _is_read(name, each.kind) else value)
            if its != value:
                self.notes.append(
                    f"connector {each.name}: {name} differs from that of {having[0].name}; mm2.properties "
                    f"has one value for {each.pair}"
                )
        return value

    def _note_losses(self, connector: OutlinedConnector) -> None:
        if connector.state != RUNNING:
            self.notes.append(
                f"connector {connector.name}: {connector.state} cannot be expressed; mm2.properties only has "
                "enabled"
            )
        if connector.name != connector.kind and connector.kind is ConnectorClass.SOURCE:
            self.notes.append(
                f"connector {connector.name}: its offsets are stored under that name; MM2 reads those of "
                f"{connector.kind}, so it starts without stored offsets"
            )


def _is_read(name: str, kind: ConnectorClass) -> bool:
    """Whether a connector that does not set it has a default of its own for it."""
    if name in SHARED:
        return kind is not ConnectorClass.HEARTBEAT
    return name.startswith("replication.policy.")


def _default(name: str) -> str | None:
    option = OPTIONS.get((Scope.CONNECTOR, name))
    return None if option is None else option.default
