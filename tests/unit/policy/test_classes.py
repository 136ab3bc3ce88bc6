from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

import pytest

from heliograph.errors import ConfigError, InvalidPattern
from heliograph.policy import classes
from heliograph.policy.identity import IdentityReplicationPolicy
from heliograph.policy.naming import DefaultReplicationPolicy
from heliograph.policy.rename import RenameReplicationPolicy

MIRROR = "org.apache.kafka.connect.mirror."


class Shout(DefaultReplicationPolicy):
    def __init__(self, settings: Mapping[str, str]) -> None:
        super().__init__()
        self.alias = settings["source.cluster.alias"]

    def format_remote_topic(self, source_alias: str, topic: str) -> str:
        return f"{self.alias.upper()}.{topic}"


class Short:
    def __init__(self, settings: Mapping[str, str]) -> None:
        self.limit = int(settings["limit"])

    def should_replicate_topic(self, topic: str) -> bool:
        return len(topic) < self.limit

    should_replicate_group = should_replicate_topic

    def should_replicate_config_property(self, name: str) -> bool:
        return len(name) < self.limit

    def should_replicate_source_default(self, name: str) -> bool:
        return True


@pytest.fixture(autouse=True)
def module() -> Iterator[None]:
    """What a user has on PYTHONPATH."""
    ours = ModuleType("acme")
    ours.__dict__.update(Shout=Shout, Short=Short)
    sys.modules["acme"] = ours
    yield
    del sys.modules["acme"]


@pytest.mark.parametrize("name", [MIRROR + "DefaultReplicationPolicy", "DefaultReplicationPolicy"])
def test_the_default_policy_takes_the_separator(name: str) -> None:
    settings = {
        "replication.policy.separator": "_",
        "replication.policy.internal.topic.separator.enabled": "False",
    }

    assert classes.replication_policy(name, settings, "us") == DefaultReplicationPolicy(
        separator="_", internal_topic_separator_enabled=False
    )


@pytest.mark.parametrize(
    "name",
    [
        MIRROR + "IdentityReplicationPolicy",
        "IdentityReplicationPolicy",
        "io.strimzi.kafka.connect.mirror.IdentityReplicationPolicy",
        "com.amazonaws.kafka.samples.CustomMM2ReplicationPolicy",
    ],
)
def test_policies_that_keep_names_are_one(name: str) -> None:
    assert classes.replication_policy(name, {}, "us") == IdentityReplicationPolicy(
        source_alias="us"
    )


def test_renaming_is_set_by_two_options() -> None:
    settings = {
        "replication.policy.topic.map": "orders:sales.orders",
        "replication.policy.topic.rename": "(.*)-prod => $1-dr",
    }

    policy = classes.replication_policy("RenameReplicationPolicy", settings, "us")

    assert isinstance(policy, RenameReplicationPolicy)
    assert policy.format_remote_topic("us", "orders") == "sales.orders"
    assert policy.format_remote_topic("us", "refunds-prod") == "refunds-dr"


def test_renaming_without_its_policy_is_refused_not_ignored() -> None:
    with pytest.raises(ConfigError, match=r"topic\.map: without effect under Identity"):
        classes.replication_policy(
            "IdentityReplicationPolicy", {"replication.policy.topic.map": "a:b"}, "us"
        )


def test_filters_read_their_lists() -> None:
    settings = {
        "topics": "orders.*, refunds",
        "groups": " ",
        "config.properties.exclude": "a.*",
        "use.defaults.from": "source",
    }

    topics = classes.topic_filter(MIRROR + "DefaultTopicFilter", settings)
    groups = classes.group_filter("DefaultGroupFilter", settings)
    configs = classes.config_property_filter("DefaultConfigPropertyFilter", settings)

    assert topics.accepts("refunds")
    assert not topics.accepts("orders.replica")
    assert groups.why_not("g") == "groups is empty, which matches nothing"
    assert not configs.should_replicate_config_property("abc")
    assert configs.should_replicate_source_default("abc")
    with pytest.raises(InvalidPattern):
        classes.topic_filter("DefaultTopicFilter", {"topics": "*"})


def test_a_users_policy_is_called_with_the_settings() -> None:
    policy = classes.replication_policy("acme:Shout", {}, "us")

    assert policy.format_remote_topic("us", "orders") == "US.orders"
    assert policy.checkpoints_topic("us") == "us.checkpoints.internal"


def test_a_users_policies_are_the_same_if_they_say_so() -> None:
    first, second = (classes.replication_policy("acme:Shout", {}, "us") for _ in range(2))

    assert first == second
    assert hash(first) == hash(second)


def test_a_users_filters_are_asked() -> None:
    settings = {"limit": "3"}

    topics = classes.topic_filter("acme:Short", settings)
    groups = classes.group_filter("acme:Short", settings)
    configs = classes.config_property_filter("acme:Short", settings)

    assert topics.accepts("ab")
    assert topics.why_not("abc") == "acme:Short does not replicate it"
    assert groups.accepts("ab")
    assert not configs.should_replicate_config_property("abc")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "com.acme.MyPolicy",
            r"com.acme.MyPolicy is not built in, and Java classes cannot run here; write a Python class "
            r".*format_remote_topic\(source_alias, topic\), .*derive it from .*name it as module:Class",
        ),
        ("nowhere.at.all:X", "module nowhere.at.all cannot be imported .*is it on PYTHONPATH"),
        ("acme:Absent", "the module acme has no class Absent"),
        (
            "acme:Short",
            r"acme:Short lacks format_remote_topic\(source_alias, topic\), topic_source",
        ),
    ],
)
def test_a_policy_that_cannot_be_had_says_how_to_port_it(name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=f"replication.policy.class: .*{message}"):
        classes.replication_policy(name, {}, "us")


def test_a_class_that_fails_on_its_settings_is_named() -> None:
    with pytest.raises(
        ConfigError, match=r"topic.filter.class: acme:Short could not be created .*limit"
    ):
        classes.topic_filter("acme:Short", {})


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("raise SystemExit('bye')", "cannot be imported .SystemExit: bye."),
        (
            "def __getattr__(name): raise SystemExit(1)",
            "cannot be read from its module .SystemExit",
        ),
        (
            "class F:\n  def __init__(self, s): raise SystemExit(2)\n  should_replicate_topic = len",
            "could not be created from the settings .SystemExit: 2.",
        ),
        ("class B(BaseException): ...\nraise B('x')", "cannot be imported .B: x."),
    ],
)
def test_a_class_that_wants_to_end_the_process_is_an_error_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, sentence: str
) -> None:
    (tmp_path / "leaving.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "leaving", raising=False)

    with pytest.raises(ConfigError, match=sentence):
        classes.topic_filter("leaving:F", {})


def test_a_method_that_wants_to_end_the_process_is_an_error_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "going.py").write_text(
        "class F:\n  def __init__(self, s): ...\n  def should_replicate_topic(self, t): raise SystemExit(3)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(
        ConfigError, match=r"going:F: should_replicate_topic failed .SystemExit: 3."
    ):
        classes.topic_filter("going:F", {}).accepts("orders")


@pytest.mark.parametrize(
    "name",
    [
        "unittest.__main__:x-",
        "acme:",
        ":Short",
        "acme:Short:x",
        "acme :Short",
        "acme:Short.x",
        ".acme:Short",
    ],
)
def test_a_python_class_has_one_form_and_no_other_is_imported(name: str) -> None:
    with pytest.raises(ConfigError, match="expected a Python class as module:Class"):
        classes.topic_filter(name, {"limit": "3"})


def test_only_modules_that_are_listed_are_imported() -> None:
    settings = {"limit": "3"}

    assert classes.topic_filter("acme:Short", settings, frozenset({"acme"})).accepts("ab")
    for modules in (frozenset[str](), frozenset({"acm"}), frozenset({"acme.more"})):
        with pytest.raises(ConfigError, match=r"rest\.connector\.allowed\.modules"):
            classes.topic_filter("acme:Short", settings, modules)
