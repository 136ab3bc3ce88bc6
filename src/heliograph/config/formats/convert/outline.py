"""Defines the outline of a configuration: for each target a worker, and the connectors that it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from heliograph.config.connectors.connector_class import (
    ConnectorClass,
    connector_class,
    not_a_connector,
)
from heliograph.config.formats.connect_json import RUNNING
from heliograph.errors import ConfigError

#: Names of Connect's internal topics in MM2: mm2-<plural>.<source>.internal
STORAGE = {"config": "configs", "offset": "offsets", "status": "status"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlinedConnector:
    """`config` as in Connect, without `name`, `connector.class` and aliases."""

    name: str
    kind: ConnectorClass
    source: str
    target: str
    config: Mapping[str, str]
    state: str = RUNNING

    @property
    def pair(self) -> str:
        return f"{self.source}->{self.target}"

    def below(self, prefix: str) -> dict[str, str]:
        return {
            name.removeprefix(prefix): value
            for name, value in self.config.items()
            if name.startswith(prefix)
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlinedWorker:
    """The settings of a worker.properties, and its connectors, all to `target`."""

    target: str
    settings: Mapping[str, str]
    connectors: tuple[OutlinedConnector, ...]
    name: str | None = None  # of the resource


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """`notes`: what an outline cannot express; `warnings`: from reading the configuration."""

    workers: tuple[OutlinedWorker, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """`files` by name, the main one first. `notes`: what the format cannot express."""

    files: Mapping[str, str]
    notes: tuple[str, ...]
    warnings: tuple[str, ...] = ()


def outlined(name: str, config: Mapping[str, str], state: str = RUNNING) -> OutlinedConnector:
    """Raises ConfigError if it is not a connector of MM2."""
    rest = dict(config)
    rest.pop("name", None)
    class_name = rest.pop("connector.class", "").strip()
    kind = connector_class(class_name)
    if kind is None:
        raise ConfigError(f"connector {name}: connector.class: {not_a_connector(class_name)}")
    if "source.cluster.alias" not in rest:
        raise ConfigError(f"connector {name}: source.cluster.alias: missing")
    return OutlinedConnector(
        name=name,
        kind=kind,
        source=rest.pop("source.cluster.alias").strip(),
        target=rest.pop("target.cluster.alias", "target").strip(),
        config=rest,
        state=state,
    )
