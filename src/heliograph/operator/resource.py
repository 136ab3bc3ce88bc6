"""Reads a KafkaMirrorMaker2 as it comes from the API server: worker, connectors, Secrets that it refers to.

What Strimzi would refuse is refused with Strimzi's sentence; `status` shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from heliograph.config.formats.connect_json import NamedConnector
from heliograph.config.formats.properties import PropertiesFile
from heliograph.config.formats.strimzi import parse_strimzi
from heliograph.config.formats.strimzi_clusters import PROVIDER
from heliograph.errors import ConfigError

GROUP, PLURAL = "kafka.strimzi.io", "kafkamirrormaker2s"
_PLACEHOLDER = re.compile(r"\$\{([\w-]+):([^/:}]*)/([^/:}]+):[^}]*\}")
_SECRET_PROVIDER = "KubernetesSecretConfigProvider"
_CONFIG_MAP_PROVIDER = "KubernetesConfigMapConfigProvider"
_SECTIONS = ("sourceConnector", "checkpointConnector", "heartbeatConnector")

#: Lines of the text that this module writes are no lines of the user's file: fields have paths as well.
_FILE = "the-resource"
_LINE = re.compile(rf" \({_FILE}:\d+\)")

Object = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirror:
    """`spec` is the resource's; `secrets` and `config_maps` are names in its namespace."""

    name: str
    namespace: str
    uid: str
    api_version: str
    generation: int
    replicas: int
    annotations: Mapping[str, str]
    spec: Mapping[str, Any]
    worker: PropertiesFile
    connectors: tuple[NamedConnector, ...]
    secrets: tuple[str, ...]
    config_maps: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def full_name(self) -> str:
        """As Strimzi names pods and services."""
        return f"{self.name}-mirrormaker2"


def read_mirror(resource: Object) -> Mirror:
    """Raises ConfigError with every problem."""
    metadata, spec = resource["metadata"], resource.get("spec") or {}
    try:
        found = parse_strimzi(_text(resource), _FILE)
    except ConfigError as e:
        raise ConfigError([_LINE.sub("", each) for each in e.problems]) from None
    files = [found.worker, *(each.file for each in found.connectors)]
    secrets, config_maps = referred(files)
    return Mirror(
        name=metadata["name"],
        namespace=metadata["namespace"],
        uid=metadata["uid"],
        api_version=resource["apiVersion"],
        generation=metadata.get("generation", 0),
        replicas=replicas_of(spec),
        annotations=metadata.get("annotations") or {},
        spec=spec,
        worker=found.worker,
        connectors=found.connectors,
        secrets=secrets,
        config_maps=config_maps,
        warnings=tuple(
            _LINE.sub("", each) for each in found.warnings if "outside of Kubernetes" not in each
        ),
    )


def replicas_of(spec: Mapping[str, Any]) -> int:
    """Strimzi's default is 3 workers; here one runs and a second stands by."""
    given = spec.get("replicas")
    return 2 if given is None else int(given)


def referred(files: Iterable[PropertiesFile]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the Secrets and the ConfigMaps that placeholders need. Another namespace's cannot be mounted
    and are left out: the worker says which one it lacks."""
    kinds: dict[str, set[str]] = {_SECRET_PROVIDER: set(), _CONFIG_MAP_PROVIDER: set()}
    for file in files:
        classes = {PROVIDER: _SECRET_PROVIDER, **_providers(file)}
        for found in file.properties.values():
            for provider, _, name in _PLACEHOLDER.findall(found.value):
                if (kind := classes.get(provider)) in kinds:
                    kinds[kind].add(name)
    return tuple(sorted(kinds[_SECRET_PROVIDER])), tuple(sorted(kinds[_CONFIG_MAP_PROVIDER]))


def _providers(file: PropertiesFile) -> dict[str, str]:
    prefix, suffix = "config.providers.", ".class"
    return {
        name.removeprefix(prefix).removesuffix(suffix): found.value.rpartition(".")[2]
        for name, found in file.properties.items()
        if name.startswith(prefix) and name.endswith(suffix)
    }


def auto_restarts(mirror: Mirror) -> dict[str, int | None]:
    """Names of the connectors with `autoRestart`, with the most restarts; None: any number."""
    found: dict[str, int | None] = {}
    for section, connector in sections(mirror):
        wanted = section.get("autoRestart") or {}
        if wanted.get("enabled"):
            found[connector] = wanted.get("maxRestarts")
    return found


def sections(mirror: Mirror) -> Sequence[tuple[Mapping[str, Any], str]]:
    """Each connector's section of the resource, with the connector's name."""
    target = (mirror.spec.get("target") or {}).get("alias") or mirror.spec.get("connectCluster")
    found = []
    for each in mirror.spec.get("mirrors") or ():
        source = (each.get("source") or {}).get("alias") or each.get("sourceCluster")
        for name in _SECTIONS:
            if each.get(name) is not None:
                java = f"Mirror{name[0].upper()}{name[1:]}"
                found.append(
                    (each[name], f"{source}->{each.get('targetCluster') or target}.{java}")
                )
    return found


def _text(resource: Object) -> str:
    """As a file: what the API server adds is no part of the configuration."""
    metadata = {name: resource["metadata"][name] for name in ("name", "namespace")}
    kept = {"apiVersion": resource["apiVersion"], "kind": resource["kind"], "metadata": metadata}
    return yaml.safe_dump({**kept, "spec": resource.get("spec")}, sort_keys=False)
