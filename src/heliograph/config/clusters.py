"""Reads how to reach each cluster: `alias.x`, and the top level where that is not set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from heliograph.config.formats.properties import PropertiesFile
from heliograph.config.options.addresses import host_port
from heliograph.config.options.kafka_clients import is_security
from heliograph.config.options.values import InvalidValue, parse_list
from heliograph.config.resolve.layers import Layers, Setting, Settings, is_client_config
from heliograph.config.resolve.near_match import near
from heliograph.config.security.connection import SecurityProblem, read_security, without_effect
from heliograph.model import ClientKind, ClusterConfig
from heliograph.permitted import Permitted
from heliograph.security import PLAINTEXT, Security, locations


@dataclass(frozen=True, slots=True)
class Clusters:
    """Reads clusters; collects problems and warnings."""

    file: PropertiesFile
    layers: Layers
    problems: list[str]
    warnings: list[str]

    def read(self, alias: str) -> ClusterConfig:
        settings = self.layers.cluster(alias)
        properties = [
            (name, setting.value)
            for name, setting in settings.items()
            if name != "bootstrap.servers" and not _is_handed_down(name, setting, alias)
        ]
        return self._secured(
            ClusterConfig(
                alias=alias,
                bootstrap_servers=self._bootstrap_servers(alias, settings),
                properties=tuple(properties),
            ),
            self.layers.clients(alias),
        )

    def of_flow(self, source: str, target: str, base: ClusterConfig) -> ClusterConfig:
        """The cluster with the logins of one flow's clients."""
        side = "source" if base.alias == source else "target"
        return self._secured(base, self.layers.flow_clients(source, target, side))

    def _secured(
        self, cluster: ClusterConfig, clients: Mapping[ClientKind, Settings]
    ) -> ClusterConfig:
        logins = Logins(
            self.file.name,
            self.problems,
            self.warnings,
            missing=f"{cluster.alias}.",
            own=lambda key: key.startswith(f"{cluster.alias}."),
        )
        return logins.secured(cluster, clients)

    def _bootstrap_servers(self, alias: str, settings: Settings) -> tuple[str, ...]:
        setting = settings.get("bootstrap.servers")
        servers = [] if setting is None else [s for s in parse_list(setting.value) if s]
        if setting is None or not servers:
            key = f"{alias}.bootstrap.servers"
            known = [k for k in self.file.properties if "->" not in k and k != key]
            misspelt = near(key, known) if setting is None else None
            hint = f"; is {misspelt} misspelt?" if misspelt else ""
            self.problems.append(
                f"{key}: missing in {self.file.name}; expected host:port of one or more brokers"
                f"{hint}"
            )
            return ()
        return checked_servers(setting, self.file.name, self.problems)


@dataclass(frozen=True, slots=True)
class Logins:
    """Reads how each kind of client logs in to a cluster; collects problems and warnings.

    `missing` is the prefix that messages put before a setting that is not set. Warnings about settings
    without effect are given for keys that are `own`: other keys belong to another cluster as well.
    `permitted`: what the login of a connector created through REST may name, by kind of client; None for a
    login that the operator configured.
    """

    file_name: str
    problems: list[str]
    warnings: list[str]
    missing: str
    own: Callable[[str], bool]
    permitted: Callable[[ClientKind], Permitted | None] = lambda _: None

    def secured(
        self, cluster: ClusterConfig, clients: Mapping[ClientKind, Settings]
    ) -> ClusterConfig:
        found = {kind: self._security(its, self.permitted(kind)) for kind, its in clients.items()}
        usual = found[ClientKind.ADMIN]
        return replace(
            cluster,
            security=usual,
            by_client=tuple(found.items()) if set(found.values()) != {usual} else (),
        )

    def _security(self, client: Settings, permitted: Permitted | None) -> Security:
        settings = {name: each for name, each in client.items() if is_security(name)}
        if any(setting.found.broken for setting in settings.values()):
            return PLAINTEXT  # the broken placeholder was reported
        values = {name: setting.value for name, setting in settings.items()}
        security, problems = read_security(values, {n: s.key for n, s in settings.items()})
        self.problems.extend(self._place(problem, settings) for problem in problems)
        self.warnings.extend(
            self._place(unread, settings)
            for unread in without_effect(values)
            if self.own(settings[unread.setting].key)
        )
        if permitted is None or security == PLAINTEXT:
            return security
        self.problems.extend(self._not_permitted(security, permitted, settings))
        return replace(security, permitted=permitted)

    def _not_permitted(
        self, security: Security, permitted: Permitted, settings: Settings
    ) -> Iterator[str]:
        """Messages do not show the value: it may have come from a config provider."""
        for location in locations(security):
            refused = permitted.refusal(location)
            if refused is not None:
                yield self._place(SecurityProblem(location.setting, refused), settings)

    def _place(self, problem: SecurityProblem, settings: Settings) -> str:
        setting = settings.get(problem.setting)
        if setting is None:
            return (
                f"{problem.describe(f'{self.missing}{problem.setting}', None)} ({self.file_name})"
            )
        shown = problem.describe(setting.key, setting.found.shown)
        return f"{shown} ({setting.found.at(self.file_name)})"


def _is_handed_down(name: str, setting: Setting, alias: str) -> bool:
    """Whether MM2 derives the setting, as `consumer.ssl.x` from `alias.ssl.x`; the user did not write it."""
    return setting.key != f"{alias}.{name}" and not is_client_config(name)


def checked_servers(setting: Setting, file_name: str, problems: list[str]) -> tuple[str, ...]:
    """The addresses in a setting; a bad address is added to `problems`."""
    servers = [] if setting.found.broken else [s for s in parse_list(setting.value) if s]
    return tuple(_host_port(server, setting, file_name, problems) for server in servers)


def _host_port(server: str, setting: Setting, file_name: str, problems: list[str]) -> str:
    try:
        return host_port(server)
    except InvalidValue as invalid:
        shown = server if setting.found.written is None else setting.found.shown
        problems.append(
            f"{setting.key}: expected {invalid.expected}, found {shown!r} "
            f"({setting.found.at(file_name)})"
        )
        return server
