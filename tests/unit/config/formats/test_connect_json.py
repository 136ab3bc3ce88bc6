from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.config.formats.connect_json import connectors_in, read_connectors
from heliograph.config.formats.load import LoadOptions, load
from heliograph.config.formats.text.json_text import parse_json
from heliograph.config.formats.text.node import Node
from heliograph.errors import ConfigError
from support.configurations.forms_files import CHECKPOINT, HEARTBEAT, SOURCE, WORKER


def plain(node: Node) -> object:
    match node.value:
        case dict() as fields:
            return {key: plain(each) for key, each in fields.items()}
        case list() as items:
            return [plain(each) for each in items]
    return node.value


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(JSON, st.sampled_from([None, 2]))
def test_json_is_read_as_pythons_own_reader_does(value: object, indent: int | None) -> None:
    document, warnings = parse_json(json.dumps(value, indent=indent), "x.json")
    assert plain(document.root) == value
    assert warnings == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "x.json: empty; expected a JSON document"),
        ("{", "x.json:1: not JSON: expected a key in double quotes; the file ends here"),
        ('{\n"a" 1}', "x.json:2: not JSON: expected a colon after 'a'"),
        ('{\n\n"a": }', "x.json:3: not JSON: expected a value"),
        ("{\n'a': 1}", "x.json:2: not JSON: expected a key in double quotes"),
        ('{"a": 1,\n}', "x.json:2: not JSON: expected a key in double quotes"),
        ("[1,\n2", "x.json:2: not JSON: expected a comma or ] after a value; the file ends here"),
        (
            '{"a": "b\n"}',
            "x.json:1: not JSON: expected a closing double quote, and no control characters before it",
        ),
        ("{}\n{}", "x.json:2: not JSON: expected the end of the document"),
        ("[" * 60, "x.json:1: not JSON: expected at most 50 levels of nesting"),
    ],
)
def test_broken_json_is_reported_with_its_line(text: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_json(text, "x.json")
    assert caught.value.problems == [told]


@pytest.mark.parametrize(
    "document",
    [
        {"name": "mm2", "config": SOURCE},
        {"name": "mm2", "config": {**SOURCE, "name": "mm2"}},
        {"config": {**SOURCE, "name": "mm2"}},
        {**SOURCE, "name": "mm2"},
        [{**SOURCE, "name": "mm2"}],
        {"mm2": {"info": {"name": "mm2", "config": SOURCE, "tasks": [], "type": "source"}}},
    ],
)
def test_every_shape_that_connect_takes_or_gives(document: object) -> None:
    (found,) = connectors_in(json.dumps(document), "x.json", "x")
    assert found.name == "mm2"
    assert {name: value for name, value in found.config.items() if name != "name"} == SOURCE


def test_a_bare_configuration_without_a_name_is_called_like_its_file() -> None:
    (found,) = connectors_in(json.dumps(SOURCE), "mm2-msc.json", "mm2-msc")
    assert found.name == "mm2-msc"


def test_numbers_and_booleans_are_settings_and_null_is_none() -> None:
    text = '{"name":"a","config":{"connector.class":"x","tasks.max":4,"enabled":true,"topics":null,"x":0.5}}'
    (found,) = connectors_in(text, "x.json", "x")
    assert found.config == {"connector.class": "x", "tasks.max": "4", "enabled": "true", "x": "0.5"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("7", "expected {"),
        ('{"name": "a"}', "x.json:1: expected {"),
        (
            '{"config": {"connector.class": "x"}}',
            "name: missing; expected the connector's name (x.json:1)",
        ),
        ('{"name": "a",\n"config": []}', "config: expected a mapping, found a list (x.json:2)"),
        (
            '{"name": "a", "config": {\n"connector.class": "x",\n"topics": ["a"]}}',
            "topics: expected text, a number, true or false, found a list (x.json:3)",
        ),
        (
            '{"name": "a", "config": {"connector.class": "x",\n"name": "b"}}',
            "name: expected 'a' in config as well, found 'b' (x.json:2)",
        ),
        (
            '{"name": "a", "initial_state": "ASLEEP", "config": {}}',
            "initial_state: expected RUNNING, PAUSED, STOPPED, found 'ASLEEP' (x.json:1)",
        ),
    ],
)
def test_json_that_is_not_a_connector_is_reported_with_its_line(text: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        connectors_in(text, "x.json", "x")
    assert told in caught.value.problems[0]


def write(folder: Path, **configs: object) -> Path:
    for name, config in configs.items():
        (folder / f"{name.replace('_', '-')}.json").write_text(json.dumps(config, indent=1))
    return folder


def test_a_folder_of_files_is_one_mirror(tmp_path: Path) -> None:
    write(tmp_path, mm2_msc=SOURCE, mm2_cpc=CHECKPOINT, mm2_hbc=HEARTBEAT)
    mirror = load(tmp_path, environment={})
    assert [flow.name for flow in mirror.flows] == ["mm2-msc"]
    assert [flow.name for flow in mirror.group_flows] == ["mm2-cpc"]
    assert [beats.name for beats in mirror.heartbeats] == ["mm2-hbc"]


def test_all_problems_of_a_folder_are_reported_together(tmp_path: Path) -> None:
    write(tmp_path, a={"name": "x", "config": SOURCE}, b={"name": "x", "config": SOURCE})
    (tmp_path / "c.json").write_text("{")
    with pytest.raises(ConfigError) as caught:
        read_connectors(tmp_path)
    assert caught.value.problems == [
        "c.json:1: not JSON: expected a key in double quotes; the file ends here",
        "x: expected one connector of that name, found two, in a.json and b.json",
    ]


def test_without_a_worker_it_is_that_of_dedicated_mode_at_the_target(tmp_path: Path) -> None:
    mirror = load(write(tmp_path, mm2=SOURCE) / "mm2.json", environment={})
    (flow,) = mirror.flows
    assert (flow.group_id, flow.offsets_topic.name) == ("us-mm2", "mm2-offsets.us.internal")
    assert (flow.offsets_topic.replication_factor, flow.offsets_alias) == (-1, "eu")


def test_a_worker_may_be_given(tmp_path: Path) -> None:
    (tmp_path / "worker.properties").write_text(WORKER)
    options = LoadOptions(worker=tmp_path / "worker.properties")
    (flow,) = load(write(tmp_path, mm2=SOURCE) / "mm2.json", options, {}).flows
    assert (flow.group_id, flow.offsets_topic.name) == ("connect-cluster", "connect-offsets")


def test_problems_of_settings_have_the_line_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mm2.json"
    path.write_text(
        json.dumps(
            {**SOURCE, "tasks.max": "x", "target.cluster.bootstrap.servers": "eu1"}, indent=1
        )
    )
    with pytest.raises(ConfigError) as caught:
        load(path, environment={})
    assert caught.value.problems == [
        "tasks.max: expected a whole number of at least 1, found 'x' (mm2.json:7)",
        "target.cluster.bootstrap.servers: expected host:port, found 'eu1' (mm2.json:6)",
    ]


def test_a_paused_connector_does_not_run_and_gives_a_warning(tmp_path: Path) -> None:
    paused = {"name": "mm2-cpc", "config": CHECKPOINT, "initial_state": "PAUSED"}
    mirror = load(
        write(tmp_path, a={"name": "mm2-msc", "config": SOURCE}, b=paused), environment={}
    )
    assert (len(mirror.flows), mirror.group_flows) == (1, ())
    assert mirror.warnings == ("connector mm2-cpc: does not run, since its state is PAUSED",)


def test_only_targets_that_are_served(tmp_path: Path) -> None:
    asia = {
        **SOURCE,
        "target.cluster.alias": "asia",
        "target.cluster.bootstrap.servers": "asia1:9092",
    }
    folder = write(tmp_path, a=SOURCE, b=asia)
    assert [flow.target for flow in load(folder, LoadOptions(clusters=["asia"]), {}).flows] == [
        "asia"
    ]
    with pytest.raises(ConfigError) as caught:
        load(folder, LoadOptions(clusters=["asai"]), {})
    assert caught.value.problems == [
        "--clusters: 'asai' is not a target of this configuration (asia, eu); did you mean asia?"
    ]
