"""Compose files, manifests and the chart, as far as they can be read without the programs that run them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from heliograph.config.formats.load import load
from support.repository import ROOT

_DEPLOY = ROOT / "deploy"
_CHART = _DEPLOY / "helm" / "heliograph"
_MANIFEST = _DEPLOY / "kubernetes" / "heliograph.yaml"


def _objects() -> dict[str, Any]:
    return {each["kind"]: each for each in yaml.safe_load_all(_MANIFEST.read_text())}


def test_the_manifests_file_is_a_configuration(tmp_path: Path) -> None:
    file = tmp_path / "mm2.properties"
    file.write_text(_objects()["ConfigMap"]["data"]["mm2.properties"])

    config = load(file, environment={"TARGET_PASSWORD": "x"})

    assert [each.name for each in config.flows] == ["source->target"]


def test_the_default_file_of_the_chart_is_a_configuration(tmp_path: Path) -> None:
    values = yaml.safe_load((_CHART / "values.yaml").read_text())
    file = tmp_path / "mm2.properties"
    file.write_text(values["config"]["files"]["mm2.properties"])

    assert [each.name for each in load(file).flows] == ["source->target"]


def test_pods_have_no_rights_and_nothing_to_gain_them_with() -> None:
    pod = _objects()["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]

    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert container["securityContext"]["readOnlyRootFilesystem"] is True


def test_every_value_is_in_the_schema_and_every_name_of_the_schema_has_a_value() -> None:
    values = yaml.safe_load((_CHART / "values.yaml").read_text())
    schema = json.loads((_CHART / "values.schema.json").read_text())

    assert _names(values, schema) == []


def _names(values: Any, schema: Any, path: str = "") -> list[str]:
    """Where values and schema differ in their names; `global` is Helm's own."""
    declared = schema.get("properties")
    if declared is None or not isinstance(values, dict):
        return []
    found = [f"{path}{name}" for name in values.keys() ^ (declared.keys() - {"global"})]
    for name in values.keys() & declared.keys():
        found += _names(values[name], declared[name], f"{path}{name}.")
    return found


def test_the_chart_carries_the_dashboards_and_alerts_themselves() -> None:
    files = {each.name: each.read_bytes() for each in (_CHART / "files").iterdir()}
    theirs = [
        *(_DEPLOY / "grafana").glob("*.json"),
        _DEPLOY / "prometheus" / "heliograph.rules.yml",
    ]

    assert files == {each.name: each.read_bytes() for each in theirs}


@pytest.mark.parametrize("name", ["compose.yaml", "connect-tutorial.yaml"])
def test_compose_files_mount_only_files_that_are_there(name: str) -> None:
    folder = _DEPLOY / "compose"
    services = yaml.safe_load((folder / name).read_text())["services"]
    mounted = [
        volume.split(":")[0]
        for service in services.values()
        for volume in service.get("volumes", ())
        if volume.startswith(".")
    ]

    assert [each for each in mounted if not (folder / each).exists()] == []


def test_the_tutorials_compose_file_differs_in_one_line() -> None:
    theirs = ROOT / "examples" / "compose_tutorial" / "files" / "docker-compose.yml"
    ours = (_DEPLOY / "compose" / "connect-tutorial.yaml").read_text().splitlines()
    lines = [line for line in ours if not line.startswith("#")]

    pairs = zip(lines, theirs.read_text().splitlines(), strict=True)
    changed = [(new.strip(), old.strip()) for new, old in pairs if new != old]

    assert changed == [
        ("image: localhost/heliograph:local", "image: confluentinc/cp-kafka-connect:6.2.0")
    ]


def test_the_compose_file_of_a_mirror_has_a_configuration_that_loads() -> None:
    config = load(_DEPLOY / "compose" / "mm2.properties")

    assert [each.name for each in config.flows] == ["source->target"]
