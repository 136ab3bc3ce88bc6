"""Writes an outline as resources for Strimzi: a KafkaMirrorMaker2 (v1) for each target."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from heliograph.config.connectors.connector_class import ConnectorClass
from heliograph.config.formats.connect_json import RUNNING
from heliograph.config.formats.convert.outline import (
    Converted,
    Outline,
    OutlinedConnector,
    OutlinedWorker,
)
from heliograph.config.formats.convert.strimzi_access import access_fields
from heliograph.config.formats.strimzi import KIND, STORAGE_FIELDS
from heliograph.config.formats.strimzi_clusters import ALLOWED, FORBIDDEN, PROVIDER, PROVIDER_CLASS
from heliograph.config.formats.strimzi_connectors import PATTERNS
from heliograph.config.options.kafka_clients import is_security
from heliograph.config.options.values import BYTE_ARRAY_CONVERTER

FILE = "kafka-mirror-maker-2.yaml"
_SECTIONS = {
    ConnectorClass.SOURCE: "sourceConnector",
    ConnectorClass.CHECKPOINT: "checkpointConnector",
}
_OWN_PROVIDER = {
    "config.providers": PROVIDER,
    f"config.providers.{PROVIDER}.class": PROVIDER_CLASS,
}


def to_strimzi(outline: Outline) -> Converted:
    notes = list(outline.notes)
    resources = [_resource(worker, notes) for worker in outline.workers]
    text = "---\n".join(
        yaml.safe_dump(each, sort_keys=False, allow_unicode=True, width=100) for each in resources
    )
    return Converted(files={FILE: text}, notes=tuple(dict.fromkeys(notes)))


def _resource(worker: OutlinedWorker, notes: list[str]) -> dict[str, Any]:
    name = worker.name or re.sub(r"[^a-z0-9-]+", "-", f"mirror-to-{worker.target}".lower())
    return {
        "apiVersion": "kafka.strimzi.io/v1",
        "kind": KIND,
        "metadata": {"name": name.strip("-")},
        "spec": {
            "replicas": 1,
            "target": _target(worker, notes),
            "mirrors": _mirrors(worker, notes),
        },
    }


def _target(worker: OutlinedWorker, notes: list[str]) -> dict[str, Any]:
    """From the worker's settings; a connector that reaches the target in another way gets a note."""
    settings = dict(worker.settings)
    servers = settings.pop("bootstrap.servers", "")
    for each in worker.connectors:
        its = each.below("target.cluster.")
        for setting in ("bootstrap.servers", "security.protocol", "sasl.jaas.config"):
            here = servers if setting == "bootstrap.servers" else settings.get(setting)
            if setting in its and here is not None and its[setting] != here:
                notes.append(
                    f"connector {each.name}: target.cluster.{setting} differs from the worker's; the worker "
                    "of a KafkaMirrorMaker2 belongs to its target"
                )
    found: dict[str, Any] = {"alias": worker.target, "bootstrapServers": servers}
    for name, field in STORAGE_FIELDS.items():
        found[field] = settings.pop(name, "")
    found |= access_fields(settings, worker.target, notes)
    if config := _worker_config(settings, notes):
        found["config"] = config
    return found


def _worker_config(settings: Mapping[str, str], notes: list[str]) -> dict[str, str]:
    config = {}
    for name, value in settings.items():
        kind, _, inner = name.partition(".")
        echo = kind in ("producer", "consumer", "admin") and settings.get(inner) == value
        if is_security(name) and name not in ALLOWED:
            continue  # tls and authentication
        if echo or _OWN_PROVIDER.get(name) == value or _is_default(name, value):
            continue
        if kind in ("producer", "consumer", "admin") and is_security(inner):
            notes.append(f"{name}: left out; Strimzi has one login for all clients of a cluster")
        elif name.startswith(FORBIDDEN) and name not in ALLOWED:
            notes.append(f"{name}: left out; Strimzi sets it itself")
        else:
            config[name] = value
    return config


def _is_default(name: str, value: str) -> bool:
    return name.endswith(".converter") and value == BYTE_ARRAY_CONVERTER


def _mirrors(worker: OutlinedWorker, notes: list[str]) -> list[dict[str, Any]]:
    return [
        _mirror([each for each in worker.connectors if each.source == source], notes)
        for source in dict.fromkeys(each.source for each in worker.connectors)
        if any(each.source == source and each.kind in _SECTIONS for each in worker.connectors)
        or _note_heartbeats(worker, source, notes)
    ]


def _note_heartbeats(worker: OutlinedWorker, source: str, notes: list[str]) -> bool:
    """A mirror with heartbeats only cannot be expressed."""
    notes.extend(_no_heartbeats(each) for each in worker.connectors if each.source == source)
    return False


def _no_heartbeats(connector: OutlinedConnector) -> str:
    return f"connector {connector.name}: left out; Strimzi (v1) has no heartbeat connector"


def _mirror(connectors: Sequence[OutlinedConnector], notes: list[str]) -> dict[str, Any]:
    sections: dict[str, OutlinedConnector] = {}
    for each in connectors:
        if each.kind not in _SECTIONS:
            notes.append(_no_heartbeats(each))
        elif sections.setdefault(_SECTIONS[each.kind], each) is not each:
            notes.append(
                f"connector {each.name}: left out; Strimzi has one {each.kind} for {each.pair}"
            )
    patterns = _patterns(list(sections.values()))
    mirror: dict[str, Any] = {"source": _source(list(sections.values()), notes)}
    for section, each in sections.items():
        mirror[section] = _section(each, patterns, notes)
    for setting, value in patterns.items():
        mirror[PATTERNS[setting][0]] = value
    return mirror


def _patterns(connectors: Sequence[OutlinedConnector]) -> dict[str, str]:
    """Patterns that all connectors of the mirror share; others stay in their sections."""
    return {
        setting: connectors[0].config[setting]
        for setting in PATTERNS
        if setting in connectors[0].config
        and all(each.config.get(setting) == connectors[0].config[setting] for each in connectors)
    }


def _source(connectors: Sequence[OutlinedConnector], notes: list[str]) -> dict[str, Any]:
    first, *others = connectors
    settings = first.below("source.cluster.")
    notes += [
        f"connector {each.name}: source.cluster.* differs from that of {first.name}; a mirror has one source"
        for each in others
        if each.below("source.cluster.") != settings
    ]
    found: dict[str, Any] = {
        "alias": first.source,
        "bootstrapServers": settings.pop("bootstrap.servers", ""),
    }
    found |= access_fields(settings, first.source, notes)
    config = {n: v for n, v in settings.items() if not is_security(n) or n in ALLOWED}
    return found | ({"config": config} if config else {})


def _section(
    connector: OutlinedConnector, patterns: Mapping[str, str], notes: list[str]
) -> dict[str, Any]:
    config = {
        name: value
        for name, value in connector.config.items()
        if not name.startswith(("source.cluster.", "target.cluster.", "config.providers"))
        and name not in patterns
    }
    section: dict[str, Any] = {}
    if "tasks.max" in config:
        tasks = config.pop("tasks.max").strip()
        section["tasksMax"] = int(tasks) if tasks.isdecimal() else tasks
    if connector.state != RUNNING:
        section["state"] = connector.state.lower()
    if connector.name != f"{connector.pair}.{connector.kind}":
        notes.append(
            f"connector {connector.name}: Strimzi names it {connector.pair}.{connector.kind}, and does not "
            "read offsets stored under the old name"
        )
    return section | ({"config": config} if config else {})
