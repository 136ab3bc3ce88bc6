"""Loads a mirror from any format, which the file name decides:

mm2.properties             `mm2_properties.py`
*.json, a folder of them   connectors of Connect, `connect_json.py`
*.yaml, *.yml              a KafkaMirrorMaker2 of Strimzi, `strimzi.py`
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heliograph.config.connectors.implied_worker import implied_worker
from heliograph.config.connectors.read_connectors import Connector, assemble, connector_of
from heliograph.config.connectors.worker import WorkerConfig, load_worker, worker_of
from heliograph.config.formats import mm2_properties
from heliograph.config.formats.connect_json import RUNNING, NamedConnector, read_connectors
from heliograph.config.formats.format import Form, form_of
from heliograph.config.formats.kubernetes import KubernetesSecrets, read_kubernetes
from heliograph.config.formats.strimzi import parse_strimzi
from heliograph.config.formats.text.files import read_text
from heliograph.config.mirror_config import MirrorConfig
from heliograph.config.resolve.near_match import did_you_mean
from heliograph.config.resolve.same_cause import told_once
from heliograph.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """Options of the command line. `clusters`: aliases of the targets to serve; `worker`: a
    worker.properties for connectors; `secrets`: files or folders of Secrets and ConfigMaps."""

    clusters: Sequence[str] = ()
    worker: Path | None = None
    secrets: Sequence[Path] = ()


def load(
    path: Path, options: LoadOptions | None = None, environment: Mapping[str, str] = os.environ
) -> MirrorConfig:
    """Raises ConfigError with every problem."""
    options = options or LoadOptions()
    match form_of(path):
        case Form.PROPERTIES:
            _refuse_worker(options)
            secrets = read_kubernetes(options.secrets)
            return mm2_properties.load(path, options.clusters, environment, secrets)
        case Form.CONNECT:
            return _of_connect(path, options, environment)
        case Form.STRIMZI:
            _refuse_worker(options)
            return _of_strimzi(path, options, environment)


def _refuse_worker(options: LoadOptions) -> None:
    if options.worker is not None:
        raise ConfigError(
            "--worker: only for connectors in JSON; other formats contain the worker's settings"
        )


def _of_connect(path: Path, options: LoadOptions, environment: Mapping[str, str]) -> MirrorConfig:
    named = read_connectors(path)
    secrets = read_kubernetes(options.secrets)
    if options.worker is not None:
        worker = load_worker(options.worker, environment, secrets)
        made = [connector_of(each.name, each.file, worker, served=False) for each in named]
        return _checked(named, made, worker, options, worker.warnings)
    workers = [implied_worker(each, environment, secrets) for each in named]
    made = [connector_of(e.name, e.file, w) for e, w in zip(named, workers, strict=True)]
    return _checked(named, made, workers[0], options)


def _of_strimzi(path: Path, options: LoadOptions, environment: Mapping[str, str]) -> MirrorConfig:
    found = parse_strimzi(read_text(path), path.name)
    secrets = KubernetesSecrets((*read_kubernetes(options.secrets).given, *found.secrets))
    worker = worker_of(found.worker, environment, secrets)
    made = [connector_of(each.name, each.file, worker, served=False) for each in found.connectors]
    return _checked(found.connectors, made, worker, options, (*found.warnings, *worker.warnings))


def _checked(
    named: Iterable[NamedConnector],
    made: Iterable[Connector],
    worker: WorkerConfig,
    options: LoadOptions,
    warnings: Sequence[str] = (),
) -> MirrorConfig:
    """Raises ConfigError if any connector has a problem; leaves out connectors not RUNNING or not served."""
    notes = list(warnings)
    states = {each.name: each.state for each in named}
    wanted = []
    targets = set()
    for each in made:
        settings = each.flow or each.heartbeats
        if settings is not None:
            targets.add(settings.target)
        if states[each.name] != RUNNING:
            notes.append(
                f"connector {each.name}: does not run, since its state is {states[each.name]}"
            )
        elif settings is None or not options.clusters or settings.target in options.clusters:
            wanted.append(each)
    mirror = assemble(wanted, worker)
    problems = [sentence for _, sentences in mirror.problems for sentence in sentences]
    problems += [
        f"--clusters: {alias!r} is not a target of this configuration ({', '.join(sorted(targets))})"
        f"{did_you_mean(alias, targets)}"
        for alias in options.clusters
        if alias not in targets and not problems
    ]
    if not problems and not (mirror.flows or mirror.group_flows or mirror.heartbeats):
        problems.append("Nothing to run: no connector is both enabled and RUNNING")
    if problems:
        raise ConfigError(told_once(problems))
    return replace(mirror, warnings=tuple(dict.fromkeys([*notes, *mirror.warnings])))
