"""Makes an outline of connectors and the worker that runs them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from heliograph.config.formats.connect_json import NamedConnector
from heliograph.config.formats.convert.outline import (
    STORAGE,
    Outline,
    OutlinedConnector,
    OutlinedWorker,
    outlined,
)
from heliograph.config.formats.properties import PropertiesFile
from heliograph.config.resolve.layers import is_client_config

_TARGET = "target.cluster."


def outline_connectors(
    named: Iterable[NamedConnector],
    worker: PropertiesFile | None,
    *,
    name: str | None = None,
    warnings: Sequence[str] = (),
) -> Outline:
    """Without `worker`, each target gets a worker as in dedicated mode. Raises ConfigError."""
    connectors = [outlined(each.name, each.config, each.state) for each in named]
    given = None
    if worker is not None:
        given = {key: found.value for key, found in worker.properties.items()}
    workers = []
    for target in dict.fromkeys(each.target for each in connectors):
        its = tuple(each for each in connectors if each.target == target)
        settings = given if given is not None else _implied(its)
        workers.append(OutlinedWorker(target=target, settings=settings, connectors=its, name=name))
    notes = []
    if given is not None and len(workers) > 1:
        targets = ", ".join(each.target for each in workers)
        notes.append(
            f"one worker runs connectors to several targets ({targets}); each target gets its own worker"
        )
    return Outline(workers=tuple(workers), notes=tuple(notes), warnings=tuple(warnings))


def _implied(connectors: Sequence[OutlinedConnector]) -> Mapping[str, str]:
    source = connectors[0].source
    found: dict[str, str] = {}
    for name, value in connectors[0].config.items():
        its = name.removeprefix(_TARGET)
        if its != name and is_client_config(its):
            found[its] = value
            if its != "bootstrap.servers":
                found[f"producer.{its}"] = value
        elif name.startswith("config.providers"):
            found[name] = value
    found["group.id"] = f"{source}-mm2"
    for kind, plural in STORAGE.items():
        found[f"{kind}.storage.topic"] = f"mm2-{plural}.{source}.internal"
    return found
