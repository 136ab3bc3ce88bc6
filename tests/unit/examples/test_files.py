"""The users' files of the stories are accepted as they are, with the guides' host names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heliograph.config.connectors.read_connectors import mirror_of
from heliograph.config.connectors.worker import load_worker
from heliograph.config.formats.load import load
from support.configurations.forms_files import worker
from support.repository import ROOT

EXAMPLES = ROOT / "examples"
VALUES = {
    "KAFKA_SOURCE_BROKERS": "kafka1:9092",
    "KAFKA_TARGET_BROKERS": "es:9093",
    "KAFKA_TARGET_APIKEY": "secret",
}
#: The file, the topics that it mirrors, and the settings that it has warnings about.
MIRRORS = {
    "local_to_event_streams/files/mm2-env.properties": ("products", ["mm2-env.properties"]),
    "event_streams_to_local/files/mirror-maker.properties": ("orders", []),
    "strimzi_to_event_streams/files/kafka-to-es-mm2.properties": ("products", []),
    "event_streams_to_strimzi/files/es-to-strimzi-mm2.properties": (
        "products.*",
        ["source->target.topics.blacklist"],
    ),
    "strimzi_to_local/files/strimzi-mm2.properties": ("orders", []),
}


@pytest.mark.parametrize("file", MIRRORS)
def test_a_mirror_of_a_guide_is_read_with_no_other_warning(file: str) -> None:
    topics, warnings = MIRRORS[file]

    mirror = load(EXAMPLES / file, environment=VALUES)

    (flow,) = mirror.flows
    assert (flow.name, flow.topics) == ("source->target", (topics,))
    assert [warning.partition(":")[0] for warning in mirror.warnings] == warnings


def test_the_file_for_event_hubs_is_read_with_its_access_data(tmp_path: Path) -> None:
    files = EXAMPLES / "event_hubs" / "files"
    access = files / "properties" / "template_access.properties"
    text = (files / "config" / "mm2-config.properties").read_text()
    config = tmp_path / "mm2-config.properties"
    config.write_text(text.replace("/properties/access.properties", str(access)))

    mirror = load(config, environment={})

    assert mirror.cluster("target").bootstrap_servers == ("host.servicebus.windows.net:9093",)
    assert mirror.flows[0].topics == ("topic1", "topic2")


def test_the_worker_and_the_connectors_of_the_workshop_are_read() -> None:
    files = EXAMPLES / "msk_workshop" / "files"
    lab = load_worker(
        files / "connect-distributed-iam-auth.properties", {"CONNECT_BOOTSTRAP_SERVERS": "b:9098"}
    )
    configs = {}
    for file in sorted(files.glob("*.json")):
        config = json.loads(file.read_text())
        sides = ("source.cluster.bootstrap.servers", "target.cluster.bootstrap.servers")
        assert [config[side] for side in sides] == ["", ""], "the lab fills them in with sed"
        configs[config["name"]] = config | dict.fromkeys(sides, "b:9098")

    mirror = mirror_of(configs, lab)

    assert mirror.problems == ()
    assert [flow.name for flow in mirror.flows] == ["mm2-msc"]
    assert mirror.flows[0].tasks_max == 4
    assert [flow.name for flow in mirror.group_flows] == ["mm2-cpc"]
    assert [beats.name for beats in mirror.heartbeats] == ["mm2-hbc"]


def test_the_connector_of_the_tutorial_is_read() -> None:
    file = EXAMPLES / "compose_tutorial" / "files" / "connectors.json"
    posted = json.loads(file.read_text())

    mirror = mirror_of(
        {posted["name"]: posted["config"]}, worker("bootstrap.servers = broker:29092\n")
    )

    assert (mirror.problems, mirror.warnings) == ((), ())
    assert mirror.flows[0].target_topic("to_replicate") == "source.to_replicate"
