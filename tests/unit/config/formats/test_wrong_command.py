from __future__ import annotations

from pathlib import Path

import pytest

from heliograph.config.connectors.worker import load_worker
from heliograph.config.formats.load import load
from heliograph.config.formats.properties import parse_properties
from heliograph.config.formats.wrong_command import is_workers
from heliograph.errors import ConfigError
from support.configurations.forms_files import WORKER
from support.configurations.mm2_files import BASE
from support.configurations.strimzi_files import V1

SPEC = V1.partition("spec:\n")[2]


def refusal_of_run(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    with pytest.raises(ConfigError) as raised:
        load(folder / name, environment={})
    return str(raised.value)


def refusal_of_serve(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    with pytest.raises(ConfigError) as raised:
        load_worker(folder / name, {})
    return str(raised.value)


@pytest.mark.parametrize(
    ("name", "text", "what", "command"),
    [
        ("mm2.properties", BASE, "flows of MirrorMaker 2's dedicated mode", "run mm2.properties"),
        ("mm2.json", "{}", "connectors in JSON", "run mm2.json"),
        ("mm2.yaml", V1, "a resource of Kubernetes", "run mm2.yaml"),
        ("msc.properties", "connector.class = x\n", "one connector", "run connector.json"),
        ("server.properties", "broker.id = 1\n", "a Kafka broker", "init writes"),
    ],
)
def test_serve_names_the_command_for_a_file_that_is_not_a_workers(
    tmp_path: Path, name: str, text: str, what: str, command: str
) -> None:
    said = refusal_of_serve(tmp_path, name, text)

    assert said.startswith(f"{name}: ")
    assert what in said
    assert f"heliograph {command}" in said


@pytest.mark.parametrize(
    ("name", "text", "what", "command"),
    [
        ("w.properties", WORKER, "a Connect worker", "serve w.properties"),
        ("w.properties", WORKER, "a Connect worker", "status w.properties"),
        (
            "w.properties",
            "offset.storage.file.filename = /x\n",
            "standalone",
            "run connectors.json",
        ),
        ("msc.properties", "connector.class = x\n", "one connector", "run connector.json"),
        (
            "m.yaml",
            "kind: Secret\nmetadata: {name: x}\n",
            "a Secret",
            "run mirror.yaml --secrets m.yaml",
        ),
        (
            "m.yaml",
            "kind: ConfigMap\nmetadata: {name: x}\n",
            "a ConfigMap",
            "mirror.yaml --secrets m.yaml",
        ),
        (
            "m.yaml",
            "kind: ConfigMap\nmetadata: {name: x}\ndata: {mm2.properties: clusters}\n",
            "a ConfigMap with the file mm2.properties",
            "run mm2.properties",
        ),
        ("m.yaml", "kind: KafkaConnector\nspec: {}\n", "a KafkaConnector", "run connector.json"),
        ("server.properties", "node.id = 1\nlog.dirs = /x\n", "a Kafka broker", "heliograph init"),
        (
            "client.properties",
            "bootstrap.servers = x:1\nsecurity.protocol = SSL\n",
            "settings of one client",
            "source.bootstrap.servers",
        ),
        ("m.yaml", SPEC, "only the spec of a KafkaMirrorMaker2", "kind: KafkaMirrorMaker2"),
        ("m.yaml", f"spec:\n{SPEC}", "a resource without kind", "kind: KafkaMirrorMaker2"),
    ],
)
def test_run_names_the_command_or_the_missing_part_for_a_file_without_flows(
    tmp_path: Path, name: str, text: str, what: str, command: str
) -> None:
    said = refusal_of_run(tmp_path, name, text)

    assert said.startswith(f"{name}: ")
    assert what in said
    assert command in said


def test_a_file_of_flows_that_lacks_its_clusters_is_still_told_so(tmp_path: Path) -> None:
    said = refusal_of_run(tmp_path, "mm2.properties", "cluster = us, eu\ngroup.id = x\n")

    assert said.startswith("clusters: missing in mm2.properties")


def test_flows_may_have_settings_of_a_worker() -> None:
    assert not is_workers(parse_properties(BASE + WORKER, "mm2.properties"))
    assert is_workers(parse_properties(WORKER, "worker.properties"))
