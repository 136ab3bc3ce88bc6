"""Decides which of several settings is in force: MM2's prefixes, in MM2's order of precedence.

Mirrors `MirrorMakerConfig` (clusterProps, workerConfig, connectorBaseConfig) and
`MirrorConnectorConfig` (client configs) of Kafka 4.3. Nothing is parsed or checked here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from heliograph.config.formats.properties import PropertiesFile, Property
from heliograph.config.options import OPTIONS, WORKER_TOP_LEVEL_PREFIXES, Scope
from heliograph.config.options.kafka_clients import is_security
from heliograph.model import ClientKind


@dataclass(frozen=True, slots=True)
class Setting:
    """A value, and the key under which the user wrote it."""

    key: str
    found: Property

    @property
    def value(self) -> str:
        return self.found.value


Settings = dict[str, Setting]

_CLIENT_KIND = re.compile(r"(consumer|producer|admin)")


def is_client_config(name: str) -> bool:
    """CLIENT_CONFIG_DEF: settings that consumers, producers and admin clients inherit from their cluster."""
    return name == "bootstrap.servers" or (is_security(name) and name != "security.providers")


#: New names of renamed options, by old name.
RENAMED = {
    option.name: option.renamed_to for option in OPTIONS.values() if option.renamed_to is not None
}


class Layers:
    """The effective settings of clusters, workers and connectors of one file."""

    def __init__(self, file: PropertiesFile) -> None:
        self._all: Settings = {key: Setting(key, found) for key, found in file.properties.items()}

    def top(self) -> Settings:
        return dict(self._all)

    def cluster(self, alias: str) -> Settings:
        """`alias.x` as x; client settings that are not set come from the top level."""
        own = self._below(f"{alias}.")
        for inherited in (own, self._all):
            for name, setting in list(inherited.items()):
                if is_client_config(name):
                    for derived in (f"producer.{name}", f"consumer.{name}", f"admin.{name}", name):
                        own.setdefault(derived, setting)
        return own

    def worker(self, target: str) -> Settings:
        """The worker of the target; settings that the top level may have take precedence there."""
        top = {
            name: setting
            for name, setting in self._all.items()
            if name.startswith(WORKER_TOP_LEVEL_PREFIXES)
        }
        return self.cluster(target) | top

    def connector(self, source: str, target: str) -> Settings:
        """Top level, then both clusters, then `source->target.`; the last one takes precedence."""
        settings = {
            name: setting for name, setting in self._all.items() if _reaches_connectors(name)
        }
        for side, alias in (("source", source), ("target", target)):
            for name, setting in self.cluster(alias).items():
                infix = "." if _CLIENT_KIND.match(name) else ".cluster."
                settings[f"{side}{infix}{name}"] = setting
        settings |= self._below(f"{source}->{target}.")
        return with_todays_names(settings)

    def source_consumer(self, source: str, target: str) -> Settings:
        """The consumer of a flow. `A.consumer.x` becomes source.consumer.x, so it takes precedence over
        `A->B.consumer.x`."""
        return client_settings(self.connector(source, target), "source", "consumer")

    def target_producer(self, source: str, target: str) -> Settings:
        """The producer of Connect's tasks: the worker's settings, and the connector's overrides, which take
        precedence (`Worker.baseProducerConfigs`)."""
        own = below(self.connector(source, target), "producer.override.")
        return below(self.worker(target), "producer.") | own

    def clients(self, alias: str) -> dict[ClientKind, Settings]:
        """The clients of a cluster, for all flows."""
        cluster = self.cluster(alias)
        return {kind: below(cluster, f"{kind}.") for kind in ClientKind}

    def flow_clients(self, source: str, target: str, side: str) -> dict[ClientKind, Settings]:
        """The clients of one flow on one side of it. Records are written by the worker's producer."""
        connector = self.connector(source, target)
        clients = {kind: client_settings(connector, side, kind) for kind in ClientKind}
        if side == "target":
            clients[ClientKind.PRODUCER] = self.target_producer(source, target)
        return clients

    def _below(self, prefix: str) -> Settings:
        return below(self._all, prefix)


def client_settings(connector: Settings, side: str, kind: str) -> Settings:
    """Settings of a connector's own client, lowest precedence first; for the source's consumer:

    source.cluster.x (client settings only) < consumer.x < source.consumer.x
    """
    lowest = {
        name: setting
        for name, setting in below(connector, f"{side}.cluster.").items()
        if is_client_config(name)
    }
    return lowest | below(connector, f"{kind}.") | below(connector, f"{side}.{kind}.")


def with_todays_names(connector: Settings) -> Settings:
    """An old name is read if the new one is not set, as up to Kafka 3.9."""
    found = dict(connector)
    for name in found.keys() & RENAMED.keys():
        found.setdefault(RENAMED[name], found[name])
    return found


def _reaches_connectors(name: str) -> bool:
    """Connectors get only those top-level settings that are in their ConfigDefs."""
    option = OPTIONS.get((Scope.CONNECTOR, name))
    if option is not None:
        return not option.flow_only
    if name.startswith(("config.providers", "replication.policy")):
        return True
    return is_client_config(name) and name != "bootstrap.servers"


def below(settings: Settings, prefix: str) -> Settings:
    """Settings whose names start with `prefix`, without the prefix."""
    return {
        name.removeprefix(prefix): setting
        for name, setting in settings.items()
        if name.startswith(prefix)
    }
