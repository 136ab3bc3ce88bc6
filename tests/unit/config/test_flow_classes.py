"""Policies and filters that a flow names by class."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import pytest

from heliograph.errors import ConfigError
from support.configurations.mm2_files import BASE, Reader

OWN = """\
from heliograph.policy.naming import DefaultReplicationPolicy

class Policy(DefaultReplicationPolicy):
    def __init__(self, settings):
        super().__init__()
        object.__setattr__(self, "settings", settings)
    def format_remote_topic(self, source_alias, topic):
        return f"{source_alias}-{self.settings['suffix']}-{topic}"
    def __reduce__(self):
        raise TypeError("not to be pickled")

class Topics:
    def __init__(self, settings):
        self._topics = settings["topics"]
    def should_replicate_topic(self, topic):
        return topic.endswith(self._topics)
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_classes_of_a_test.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "own_classes_of_a_test", raising=False)


@pytest.mark.parametrize("package", ["org.apache.kafka.connect.mirror.", ""])
def test_the_identity_policy_keeps_names(mm2: Reader, package: str) -> None:
    mirror = mm2(f"{BASE}replication.policy.class = {package}IdentityReplicationPolicy\n")

    (flow,) = mirror.flows
    assert flow.target_topic("orders") == "orders"
    assert flow.target_topic("heartbeats") == "us.heartbeats"
    assert mirror.warnings == ()


def test_policies_hold_for_internal_topics_and_heartbeats(mm2: Reader) -> None:
    """MirrorSourceConfigTest.testOffsetSyncsTopic"""
    text = BASE + "replication.policy.separator = _\n"
    names = [
        (flow.offset_syncs.topic.name, flow.checkpoints.topic.name)
        for settings in (
            "",
            "offset-syncs.topic.location = target\n",
            "replication.policy.internal.topic.separator.enabled = false\n",
        )
        for flow in mm2(text + settings).flows
        if flow.offset_syncs and flow.checkpoints
    ]

    assert names == [
        ("mm2-offset-syncs_eu_internal", "us_checkpoints_internal"),
        ("mm2-offset-syncs_us_internal", "us_checkpoints_internal"),
        ("mm2-offset-syncs.eu.internal", "us.checkpoints.internal"),
    ]


def test_a_flow_has_one_policy_object(mm2: Reader) -> None:
    """MirrorConnectorConfigTest.testReplicationPolicy"""
    (flow,) = mm2(BASE).flows

    assert flow.policy is flow.policy


@pytest.mark.usefixtures("own")
def test_own_classes_get_the_flows_settings_and_the_flow_still_travels(mm2: Reader) -> None:
    mirror = mm2(
        BASE + "us->eu.replication.policy.class = own_classes_of_a_test:Policy\n"
        "us->eu.topic.filter.class = own_classes_of_a_test:Topics\n"
        "us->eu.suffix = dr\nus->eu.topics = *!\nus->eu.tasks.mx = 3\n"
        "replication.policy.colour = blue\ncolour = red\n"
    )

    flow = pickle.loads(pickle.dumps(mirror)).flows[0]
    assert flow.target_topic("orders") == "us-dr-orders"
    assert flow.topic_filter().accepts("a*!")
    assert not flow.topic_filter().accepts("a")
    assert mirror.warnings == (
        "us->eu.tasks.mx: unknown setting, ignored; did you mean us->eu.tasks.max? "
        "(mm2.properties:9)",
        "colour: unknown setting, ignored (mm2.properties:11)",
    )


@pytest.mark.usefixtures("own")
def test_own_classes_see_no_settings_of_clients(mm2: Reader) -> None:
    (flow,) = mm2(
        BASE + "topic.filter.class = own_classes_of_a_test:Topics\ntopics = a\n"
        "us.client.id = x\nus.consumer.client.id = y\nus->eu.admin.client.id = z\n"
    ).flows

    assert dict(flow.classes.settings) == {
        "enabled": "true",
        "source.cluster.alias": "us",
        "target.cluster.alias": "eu",
        "topic.filter.class": "own_classes_of_a_test:Topics",
        "topics": "a",
    }


def test_a_java_class_is_an_error_with_a_remedy(mm2: Reader) -> None:
    (problem,) = mm2.problems(BASE + "us->eu.group.filter.class = com.acme.Groups\n")

    assert problem.startswith(
        "us->eu.group.filter.class: com.acme.Groups is not built in, and Java classes cannot run "
        "here; "
    )
    assert problem.endswith("name it as module:Class (mm2.properties:5)")


def test_a_class_that_cannot_be_imported_is_one_error_with_its_line(mm2: Reader) -> None:
    (problem,) = mm2.problems(BASE + "replication.policy.class = no_such_module:Policy\n")

    assert problem == (
        "replication.policy.class: no_such_module:Policy: the module no_such_module cannot be "
        "imported (ModuleNotFoundError: No module named 'no_such_module'); is it on PYTHONPATH? "
        "(mm2.properties:5)"
    )


def test_renaming_needs_its_policy(mm2: Reader) -> None:
    setting = "us->eu.replication.policy.topic.map = orders:sales.orders\n"

    (problem,) = mm2.problems(BASE + setting)
    assert problem.startswith("us->eu.replication.policy.topic.map: without effect under ")
    assert problem.endswith("(mm2.properties:5)")

    (flow,) = mm2(BASE + setting + "replication.policy.class = RenameReplicationPolicy\n").flows
    assert flow.target_topic("orders") == "sales.orders"


def test_defaults_of_the_source_are_a_matter_of_the_flow(mm2: Reader) -> None:
    top = mm2(BASE + "use.defaults.from = source\n")
    flow = mm2(BASE + "us->eu.use.defaults.from = source\n").flows[0]

    assert not top.flows[0].config_property_filter().should_replicate_source_default("x")
    assert flow.config_property_filter().should_replicate_source_default("x")


def test_filters_match_as_in_mm2(mm2: Reader) -> None:
    """MirrorSourceConfigTest.testTopicMatching, .testListOfTopics, .testConfigPropertyMatching,
    MirrorCheckpointConfigTest.testGroupMatching"""
    (flow,) = mm2(
        BASE + "topics = topic1, topic2\ngroups = group1\nconfig.properties.exclude = prop2\n"
    ).flows

    topics, groups = flow.topic_filter(), flow.group_filter()
    properties = flow.config_property_filter()
    assert [topics.accepts(name) for name in ("topic1", "topic2", "topic3")] == [True, True, False]
    assert [groups.accepts(name) for name in ("group1", "group2")] == [True, False]
    assert properties.should_replicate_config_property("prop1")
    assert not properties.should_replicate_config_property("prop2")


def test_a_blank_list_of_topics_matches_nothing(mm2: Reader) -> None:
    """MirrorSourceConfigTest.testNoTopics, .testAllTopics"""
    nothing = mm2(BASE + "topics =\n").flows[0].topic_filter()
    everything = mm2(BASE + "topics = .*\n").flows[0].topic_filter()

    assert not any(nothing.accepts(name) for name in ("topic1", "topic2", ""))
    assert all(everything.accepts(name) for name in ("topic1", "topic2"))


@pytest.mark.parametrize(
    ("option", "written", "meant"),
    [
        (
            "replication.policy.class",
            "org.apache.kafka.connect.mirror.IdentiyReplicationPolicy",
            "did you mean IdentityReplicationPolicy? Write "
            "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
        ),
        (
            "replication.policy.class",
            "org.apache.kafka.connect.IdentityReplicationPolicy",
            "did you mean IdentityReplicationPolicy? Write ",
        ),
        ("replication.policy.class", "RenamReplicationPolicy", "Write RenameReplicationPolicy"),
        ("topic.filter.class", "x.DefaultTopicFiltr", "did you mean DefaultTopicFilter?"),
    ],
)
def test_a_misspelt_built_in_class_is_named_before_any_recipe(
    mm2: Reader, option: str, written: str, meant: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        mm2(f"{BASE}{option} = {written}\n")

    (problem,) = raised.value.problems
    assert f"{written} is not built in; " in problem
    assert meant in problem
    assert "Python" not in problem


def test_another_class_needs_one_of_the_users(mm2: Reader) -> None:
    with pytest.raises(ConfigError, match="write a Python class"):
        mm2(f"{BASE}replication.policy.class = com.example.CustomReplicationPolicy\n")
