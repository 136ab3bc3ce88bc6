"""JSON, YAML and environments, damaged: read, or refused with a list of problems."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.config.connectors.read_connectors import Connector, read_connector
from heliograph.config.connectors.worker import WorkerConfig, load_worker
from heliograph.config.formats.convert.conversion import convert
from heliograph.config.formats.convert.outline import Converted
from heliograph.config.formats.format import Form
from heliograph.config.formats.load import LoadOptions, load
from heliograph.config.mirror_config import MirrorConfig
from heliograph.config.options import OPTIONS
from heliograph.errors import ConfigError
from support.configurations.forms_files import CHECKPOINT, SOURCE, WORKER, worker
from support.configurations.strimzi_files import SECRETS, V1, V1BETA2
from support.fuzz.laws import at_most, survives
from support.fuzz.mutation import mutants

JSON = [
    json.dumps({"name": "a", "config": SOURCE}).encode(),
    json.dumps(CHECKPOINT, indent=1).encode(),
]
YAML = [V1.encode(), V1BETA2.encode()]
NAMES = sorted({name for _, name in OPTIONS})
PREFIXES = ["", "source.cluster.", "target.consumer.", "producer.override.", "admin.", "source."]
VALUES = [
    "",
    ",",
    "-1",
    "9" * 500,
    "(",
    "[" * 500,
    "${env:A}",
    "${x:",
    "a:b:c",
    "\x00",
    "\ud800",
    "true",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forms")
    (folder / "secrets.yaml").write_text(SECRETS)
    return folder


def check(folder: Path, name: str, data: bytes) -> None:
    path = folder / name
    path.write_bytes(data)
    options = LoadOptions(secrets=[folder / "secrets.yaml"])
    outcome = survives(lambda: load(path, options, {}), len(data), anyway=16 << 20)
    assert isinstance(outcome, MirrorConfig | ConfigError)
    for to in Form:
        made = survives(lambda to=to: convert(path, to), len(data), anyway=16 << 20)  # type: ignore[misc]
        assert isinstance(made, Converted | ConfigError)


@at_most(40)
@given(data=mutants(JSON, most=4) | st.binary(max_size=60))
def test_damaged_connectors_are_read_or_their_problems_are_reported(
    folder: Path, data: bytes
) -> None:
    check(folder, "connector.json", data)


@at_most(40)
@given(data=mutants(YAML, most=4) | st.binary(max_size=60))
def test_a_damaged_resource_is_read_or_its_problems_are_reported(folder: Path, data: bytes) -> None:
    check(folder, "mirror.yaml", data)


@at_most(20)
@given(data=mutants([SECRETS.encode()], most=4) | st.binary(max_size=60))
def test_secrets_may_hold_anything(folder: Path, data: bytes) -> None:
    (folder / "damaged.yaml").write_bytes(data)
    (folder / "good.yaml").write_text(V1)
    options = LoadOptions(secrets=[folder / "damaged.yaml"])
    outcome = survives(lambda: load(folder / "good.yaml", options, {}), len(data), anyway=16 << 20)
    assert isinstance(outcome, MirrorConfig | ConfigError)


SETTINGS = st.dictionaries(
    st.tuples(st.sampled_from(PREFIXES), st.sampled_from(NAMES)).map("".join),
    st.sampled_from(VALUES),
    max_size=4,
)


@at_most(60)
@given(SETTINGS)
def test_a_connector_with_strange_values_has_problems_and_never_raises(
    strange: dict[str, str],
) -> None:
    found = survives(
        lambda: read_connector("a", {**SOURCE, **strange}, worker()), 1000, anyway=16 << 20
    )
    assert isinstance(found, Connector)


@at_most(40)
@given(mutants([WORKER.encode()], most=4), SETTINGS)
def test_a_damaged_worker_is_read_or_its_problems_are_reported(
    folder: Path, data: bytes, strange: dict[str, str]
) -> None:
    path = folder / "worker.properties"
    path.write_bytes(data)
    environment = {
        f"CONNECT_{name.upper().replace('.', '_')}": text for name, text in strange.items()
    }
    outcome = survives(lambda: load_worker(path, environment), len(data), anyway=16 << 20)
    assert isinstance(outcome, WorkerConfig | ConfigError)
