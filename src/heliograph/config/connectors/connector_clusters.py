"""Reads the clusters of a connector, and how its clients log in there.

The rules are drawn in `read_connectors.py`.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace

from heliograph.config.clusters import Logins, checked_servers
from heliograph.config.connectors.connector_class import ConnectorClass
from heliograph.config.connectors.worker import WorkerConfig
from heliograph.config.formats.properties import PropertiesFile, Property
from heliograph.config.options import OPTIONS, Scope
from heliograph.config.resolve.layers import (
    Setting,
    Settings,
    below,
    client_settings,
    is_client_config,
)
from heliograph.model import ClientKind, ClusterConfig
from heliograph.permitted import Permitted
from heliograph.security import JAAS

_SERVERS = "bootstrap.servers"
_OVERRIDE = "producer.override."
#: Settings whose secrets a login sends to the server.
_LOGIN = frozenset({JAAS, "sasl.oauthbearer.client.credentials.client.secret"})


@dataclass(frozen=True, slots=True)
class ConnectorClusters:
    """Collects problems and warnings. `permitted`: what a connector created through REST may name."""

    name: str
    file: PropertiesFile
    worker: WorkerConfig
    settings: Settings
    problems: list[str]
    warnings: list[str]
    permitted: Permitted | None = None

    def read(self, kind: ConnectorClass, source: str, target: str) -> tuple[ClusterConfig, ...]:
        """Target and source; a heartbeat connector never connects to its source."""
        found = [self._target(target)]
        if kind is not ConnectorClass.HEARTBEAT:
            found.append(self._cluster(source, "source"))
        return tuple(found)

    def _cluster(self, alias: str, side: str, producer: Settings | None = None) -> ClusterConfig:
        clients = {kind: client_settings(self.settings, side, kind) for kind in ClientKind}
        servers = self._servers(side, clients)
        of_worker: frozenset[ClientKind] = frozenset()
        if producer is not None:
            clients[ClientKind.PRODUCER] = producer
            of_worker = frozenset({ClientKind.PRODUCER})
        return self._secured(alias, servers, clients, f"{side}.cluster.", of_worker)

    def _secured(
        self,
        alias: str,
        servers: tuple[str, ...],
        clients: Mapping[ClientKind, Settings],
        missing: str,
        of_worker: Container[ClientKind],
    ) -> ClusterConfig:
        """`of_worker`: kinds of clients that log in as the worker's producer does."""
        own = None if self._overridden() else of_worker
        logins = Logins(
            self.file.name,
            self.problems,
            self.warnings,
            missing,
            self.file.properties.__contains__,
            lambda kind: None if own is not None and kind in own else self.permitted,
        )
        cluster = ClusterConfig(
            alias=alias, bootstrap_servers=servers, properties=_properties(clients)
        )
        return logins.secured(cluster, clients)

    def _servers(self, side: str, clients: Mapping[ClientKind, Settings]) -> tuple[str, ...]:
        used = [ClientKind.ADMIN, *([ClientKind.CONSUMER] if side == "source" else [])]
        settings = [its[_SERVERS] for kind in used if _SERVERS in (its := clients[kind])]
        if not settings or not any(setting.value.strip() for setting in settings):
            self._problem(
                f"{side}.cluster.{_SERVERS}", "missing; expected host:port of one or more brokers"
            )
            return ()
        first, *others = [checked_servers(each, self.file.name, self.problems) for each in settings]
        if any(set(other) != set(first) for other in others):
            self._problem(
                settings[-1].key,
                f"expected the addresses of {settings[0].key}, since a flow reads topics and records from "
                f"one cluster",
            )
        return first

    def _target(self, alias: str) -> ClusterConfig:
        """MM2's own clients and the worker's producer both reach the target; if they name different brokers,
        the producer's are used for all."""
        producer = self.producer()
        self._keep_the_workers_login()
        servers = checked_servers(producer[_SERVERS], self.file.name, self.problems)
        named = self._cluster(alias, "target", producer)
        if set(servers) == set(named.bootstrap_servers) or not named.bootstrap_servers:
            return named
        written = producer[_SERVERS]
        other = client_settings(self.settings, "target", ClientKind.ADMIN)[_SERVERS]
        self.warnings.append(
            f"connector {self.name}: its target is {written.found.shown.strip()}, to which the worker's "
            f"producer writes ({written.key} in {written.found.at(self.file.name)}), not "
            f"{other.found.shown.strip()} ({other.key}); if these are two clusters, set "
            f"producer.override.{_SERVERS}"
        )
        clients = dict.fromkeys(ClientKind, producer)
        return self._secured(alias, servers, clients, _OVERRIDE, frozenset(ClientKind))

    def _keep_the_workers_login(self) -> None:
        """A connector created through REST may not send the worker's own login to another address or over
        another protocol. In Connect it may, unless the override policy forbids it."""
        if self.permitted is None:
            return
        overridden, own = self._overridden(), below(self.of_worker(), "producer.")
        kept = [name for name in own if name in _LOGIN and name not in overridden]
        if overridden and kept:
            self._problem(
                f"{_OVERRIDE}{overridden[0]}",
                f"a connector created through REST may not change it and keep the worker's "
                f"producer.{kept[0]}; set {_OVERRIDE}{kept[0]} as well",
            )

    def _overridden(self) -> list[str]:
        """Settings of address and login of the worker's producer that the connector overrides."""
        return [name for name in below(self.settings, _OVERRIDE) if is_client_config(name)]

    def producer(self) -> Settings:
        """`Worker.baseProducerConfigs`: of settings without a prefix, only bootstrap.servers."""
        worker = self.of_worker()
        default = Setting(_SERVERS, Property(",".join(self.worker.cluster.bootstrap_servers), 0))
        base = {_SERVERS: worker.get(_SERVERS, default)}
        return base | below(worker, "producer.") | below(self.settings, _OVERRIDE)

    def of_worker(self) -> Settings:
        """The worker's settings, each with the file it is in."""
        return {
            name: Setting(each.key, replace(each.found, place=each.found.at(self.worker.name)))
            for name, each in self.worker.settings.items()
        }

    def _problem(self, key: str, sentence: str) -> None:
        self.problems.append(f"{key}: {sentence} ({self.file.where(key)})")


def _properties(clients: Mapping[ClientKind, Settings]) -> tuple[tuple[str, str], ...]:
    """Named by kind of client, as in a file of flows."""
    return tuple(
        (f"{kind}.{name}", setting.value)
        for kind, settings in clients.items()
        for name, setting in settings.items()
        if name != _SERVERS and (is_client_config(name) or (Scope(kind), name) in OPTIONS)
    )
