from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import javaproperties
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from heliograph.cli.main import app
from heliograph.config.formats.connect_json import NamedConnector
from heliograph.config.formats.convert.conversion import convert, read_outline
from heliograph.config.formats.convert.from_connectors import outline_connectors
from heliograph.config.formats.convert.outline import Converted
from heliograph.config.formats.convert.to_connect import properties_text
from heliograph.config.formats.convert.to_properties import to_properties
from heliograph.config.formats.convert.to_strimzi import to_strimzi
from heliograph.config.formats.format import Form
from heliograph.config.formats.load import LoadOptions, load
from heliograph.config.formats.properties import PropertiesFile, Property, parse_properties
from heliograph.config.mirror_config import FlowConfig, MirrorConfig
from support.configurations.forms_files import CHECKPOINT, HEARTBEAT, SOURCE
from support.configurations.mm2_files import BASE
from support.configurations.strimzi_files import SECRETS, V1, V1BETA2

JAAS = (
    "org.apache.kafka.common.security.plain.PlainLoginModule required "
    'username="u" password="${file:/run/secret:KEY}";'
)
SECURED = (
    f"eu.security.protocol = SASL_SSL\neu.sasl.mechanism = PLAIN\neu.sasl.jaas.config = {JAAS}\n"
    "config.providers = file\n"
    "config.providers.file.class = org.apache.kafka.common.config.provider.FileConfigProvider\n"
)


def write(folder: Path, converted: Converted) -> None:
    for name, text in converted.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "connectors.json").unlink(missing_ok=True)


def gist(flow: FlowConfig) -> FlowConfig:
    """What a flow does, whatever it is called and wherever its connectors are configured."""
    return replace(
        flow,
        name="",
        connector_name="",
        classes=replace(flow.classes, settings=()),
        config_topic=None,
        status_topic=None,
        checkpoints=flow.checkpoints and replace(flow.checkpoints, connector_name=""),
    )


# ── there and back ───────────────────────────────────────────────────────────────────────────


VALUES = {
    "us->eu.topics": st.sampled_from(["orders", "a, b", r"x\\.y.*", ".*"]),
    "us->eu.topics.exclude": st.sampled_from(["private.*", "a, b"]),
    "groups": st.sampled_from(["app", ".*"]),
    "us->eu.groups.exclude": st.just("console.*"),
    "tasks.max": st.integers(1, 9).map(str),
    "us->eu.replication.factor": st.sampled_from(["-1", "3"]),
    "refresh.topics.interval.seconds": st.integers(1, 99).map(str),
    "emit.checkpoints.interval.seconds": st.integers(1, 99).map(str),
    "us->eu.sync.group.offsets.enabled": st.sampled_from(["true", "false"]),
    "us->eu.replication.policy.separator": st.sampled_from(["_", "-"]),
    "offset-syncs.topic.location": st.sampled_from(["source", "target"]),
    "us.consumer.fetch.max.bytes": st.integers(1, 10**6).map(str),
    "us->eu.consumer.isolation.level": st.just("read_committed"),
    "eu.producer.buffer.memory": st.integers(1, 10**6).map(str),
    "us->eu.producer.override.max.request.size": st.integers(1, 10**6).map(str),
    "eu.offset.flush.interval.ms": st.integers(1, 10**5).map(str),
    "eu.offset.storage.replication.factor": st.sampled_from(["1", "-1"]),
    "eu.exactly.once.source.support": st.sampled_from(["enabled", "disabled"]),
    "eu.group.id": st.just("my-group"),
    "throttle.bytes.per.second": st.integers(0, 10**6).map(str),
    "us.security.protocol": st.just("SSL"),
    "us->eu.on.error": st.sampled_from(["fail", "quarantine"]),
    "us->eu.transforms": st.just(
        "mask\n"
        "us->eu.transforms.mask.type = org.apache.kafka.connect.transforms.MaskField$Value\n"
        "us->eu.transforms.mask.fields = name"
    ),
}
FILES = st.fixed_dictionaries({}, optional=VALUES).map(
    lambda found: BASE + "".join(f"{name} = {value}\n" for name, value in found.items())
)


@settings(max_examples=40)
@given(FILES)
def test_a_file_of_flows_does_the_same_as_connectors_and_back_again(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    folder = tmp_path_factory.mktemp("there")
    original = folder / "mm2.properties"
    original.write_text(text)
    wanted = load(original, environment={})
    (flow,) = wanted.flows

    connect = folder / "connect"
    write(connect, convert(original, Form.CONNECT))
    options = LoadOptions(worker=connect / "eu" / "worker.properties")
    found = load(connect / "eu", options, {})
    (copied,), (followed,) = found.flows, found.group_flows
    assert gist(copied) == replace(gist(flow), checkpoints=None)
    assert gist(followed).checkpoints == gist(flow).checkpoints
    assert followed.offset_syncs == flow.offset_syncs
    assert found.cluster("us", copied.name).security == wanted.cluster("us").security

    back = folder / "back.properties"
    outline = read_outline(connect / "eu", connect / "eu" / "worker.properties")
    back.write_text(to_properties(outline).files["mm2.properties"])
    (again,) = load(back, environment={}).flows
    assert gist(again) == replace(
        gist(flow), config_topic=None, status_topic=None, classes=gist(again).classes
    )


@pytest.mark.parametrize("text", [V1, V1BETA2])
def test_a_resource_comes_back_as_it_was(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.yaml").write_text(text)
    first = convert(tmp_path / "a.yaml", Form.STRIMZI).files["kafka-mirror-maker-2.yaml"]
    (tmp_path / "b.yaml").write_text(first)
    second = convert(tmp_path / "b.yaml", Form.STRIMZI).files["kafka-mirror-maker-2.yaml"]
    assert first == second


def test_a_resource_of_v1_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(V1)
    (tmp_path / "secrets.yaml").write_text(SECRETS)
    made = convert(tmp_path / "a.yaml", Form.STRIMZI)
    assert made.notes == ()
    (tmp_path / "b.yaml").write_text(made.files["kafka-mirror-maker-2.yaml"])
    options = LoadOptions(secrets=[tmp_path / "secrets.yaml"])

    def read(name: str) -> MirrorConfig:
        return load(tmp_path / name, options, {})

    assert [gist(flow) for flow in read("a.yaml").flows] == [
        gist(flow) for flow in read("b.yaml").flows
    ]
    assert read("a.yaml").clusters == read("b.yaml").clusters


def test_connectors_of_a_resource_run_with_the_secrets_beside_them(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(V1)
    (tmp_path / "secrets.yaml").write_text(SECRETS)
    write(tmp_path / "connect", convert(tmp_path / "a.yaml", Form.CONNECT))
    options = LoadOptions(
        worker=tmp_path / "connect" / "worker.properties", secrets=[tmp_path / "secrets.yaml"]
    )
    found = load(tmp_path / "connect", options, {})
    wanted = load(tmp_path / "a.yaml", LoadOptions(secrets=[tmp_path / "secrets.yaml"]), {})
    assert found.flows == wanted.flows
    assert found.clusters == wanted.clusters


# ── secrets ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("to", Form)
def test_placeholders_are_never_filled_in(tmp_path: Path, to: Form) -> None:
    (tmp_path / "mm2.properties").write_text(BASE + SECURED)
    made = convert(tmp_path / "mm2.properties", to)
    assert any("${file:/run/secret:KEY}" in text for text in made.files.values())
    (tmp_path / "a.yaml").write_text(V1 + "---\n" + SECRETS)
    made = convert(tmp_path / "a.yaml", to)
    assert not any("s3cret" in text for text in made.files.values())


# ── what a format cannot express ──────────────────────────────────────────────────────────────────────


def named(**configs: dict[str, str]) -> list[NamedConnector]:
    return [
        NamedConnector(
            name.replace("_", "-"),
            PropertiesFile(
                name=f"{name}.json", properties={k: Property(v, 1) for k, v in config.items()}
            ),
        )
        for name, config in configs.items()
    ]


def test_what_properties_cannot_say_is_named() -> None:
    outline = outline_connectors(
        named(
            first={**SOURCE, "topics": "a", "tasks.max": "4"},
            second={**SOURCE, "topics": "b"},
            groups={**CHECKPOINT, "topics": "c", "tasks.max": "1"},
        ),
        parse_properties("listeners = http://x:1\nkey.converter = JsonConverter\n", "w"),
    )
    made = to_properties(outline)
    assert made.notes == (
        "listeners: left out; mm2.properties does not have this setting of workers",
        "key.converter: left out; mm2.properties allows only "
        "org.apache.kafka.connect.converters.ByteArrayConverter",
        "connector second: left out; mm2.properties has one MirrorSourceConnector for us->eu",
        "connector groups: topics differs from that of first; mm2.properties has one value for us->eu",
        "connector groups: tasks.max differs from that of first; mm2.properties has one value for us->eu",
        "connector first: its offsets are stored under that name; MM2 reads those of "
        "MirrorSourceConnector, so it starts without stored offsets",
    )
    found = javaproperties.loads(made.files["mm2.properties"])
    assert (found["us->eu.topics"], found["us->eu.emit.heartbeats.enabled"]) == ("a", "false")


def test_groups_without_records_and_a_worker_elsewhere_are_named() -> None:
    worker = parse_properties("bootstrap.servers = us1:9092\n", "w")
    notes = to_properties(outline_connectors(named(groups=CHECKPOINT), worker)).notes
    assert any("its worker belongs to another cluster (us1:9092)" in note for note in notes)
    assert any("cannot follow groups without mirroring records" in note for note in notes)


def test_what_strimzi_cannot_say_is_named() -> None:
    outline = outline_connectors(
        named(
            mm2_msc={**SOURCE, "source.cluster.ssl.truststore.location": "/x.jks",
                     "source.cluster.security.protocol": "SSL"},
            mm2_hbc=HEARTBEAT,
        ),
        None,
    )  # fmt: skip
    made = to_strimzi(outline)
    assert made.notes == (
        "connector mm2-hbc: left out; Strimzi (v1) has no heartbeat connector",
        "us: ssl.truststore.location: left out; put it into a Secret and name that in "
        "tls.trustedCertificates",
        "connector mm2-msc: Strimzi names it us->eu.MirrorSourceConnector, and does not read offsets stored "
        "under the old name",
    )
    resource = yaml.safe_load(made.files["kafka-mirror-maker-2.yaml"])
    assert resource["spec"]["mirrors"][0]["source"]["tls"] == {}


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_value_is_written_so_that_java_reads_it(value: str) -> None:
    assert javaproperties.loads(properties_text({"a.b": value})) == {"a.b": value}


# ── the command ──────────────────────────────────────────────────────────────────────────────


def test_the_exit_code_tells_whether_everything_was_converted(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(V1)
    runner = CliRunner()
    whole = runner.invoke(app, ["convert", str(tmp_path / "a.yaml"), "--to", "connect"])
    assert whole.exit_code == 0
    assert "us->eu.MirrorSourceConnector" in whole.stdout
    (tmp_path / "mm2.properties").write_text(BASE)
    lossy = runner.invoke(app, ["convert", str(tmp_path / "mm2.properties"), "--to", "strimzi"])
    assert lossy.exit_code == 1
    assert "not expressed: connector MirrorHeartbeatConnector" in lossy.stderr
    assert yaml.safe_load_all(lossy.stdout)


def test_the_command_writes_files_and_never_over_others(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(V1)
    arguments = [
        "convert",
        str(tmp_path / "a.yaml"),
        "--to",
        "connect",
        "-o",
        str(tmp_path / "out"),
    ]
    runner = CliRunner()
    assert runner.invoke(app, arguments).exit_code == 0
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert written == [
        "us-eu.MirrorCheckpointConnector.json",
        "us-eu.MirrorSourceConnector.json",
        "worker.properties",
    ]
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "out").iterdir())
    again = runner.invoke(app, arguments)
    assert again.exception is not None
    assert "exists already" in str(again.exception)
