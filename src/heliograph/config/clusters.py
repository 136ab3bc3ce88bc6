"""How to reach each cluster, out of `alias.x` and the top level."""

from __future__ import annotations

from dataclasses import dataclass

from heliograph.config.addresses import host_port
from heliograph.config.layers import Layers, Setting, Settings, is_client_config
from heliograph.config.near_match import near
from heliograph.config.properties import PropertiesFile
from heliograph.config.values import InvalidValue, parse_list
from heliograph.model import ClusterConfig


@dataclass(frozen=True, slots=True)
class Clusters:
    """Reads clusters; collects problems."""

    file: PropertiesFile
    layers: Layers
    problems: list[str]

    def read(self, alias: str) -> ClusterConfig:
        settings = self.layers.cluster(alias)
        properties = [
            (name, setting.value)
            for name, setting in settings.items()
            if name != "bootstrap.servers" and not _is_handed_down(name, setting, alias)
        ]
        return ClusterConfig(
            alias=alias,
            bootstrap_servers=self._bootstrap_servers(alias, settings),
            properties=tuple(properties),
        )

    def _bootstrap_servers(self, alias: str, settings: Settings) -> tuple[str, ...]:
        setting = settings.get("bootstrap.servers")
        servers = [] if setting is None else [s for s in parse_list(setting.value) if s]
        if setting is None or not servers:
            key = f"{alias}.bootstrap.servers"
            known = [k for k in self.file.properties if "->" not in k and k != key]
            misspelt = near(key, known) if setting is None else None
            hint = f"; did you mean it with {misspelt}?" if misspelt else ""
            self.problems.append(
                f"{key}: missing in {self.file.name}; expected host:port of one or more brokers"
                f"{hint}"
            )
            return ()
        if setting.found.broken:
            return ()
        return tuple(self._host_port(server, setting) for server in servers)

    def _host_port(self, server: str, setting: Setting) -> str:
        try:
            return host_port(server)
        except InvalidValue as invalid:
            shown = server if setting.found.written is None else setting.found.shown
            self.problems.append(
                f"{setting.key}: expected {invalid.expected}, found {shown!r} "
                f"({self.file.where(setting.key)})"
            )
            return server


def _is_handed_down(name: str, setting: Setting, alias: str) -> bool:
    """True for `consumer.ssl.x` that MM2 derives from `alias.ssl.x`; the user did not write it."""
    return setting.key != f"{alias}.{name}" and not is_client_config(name)
