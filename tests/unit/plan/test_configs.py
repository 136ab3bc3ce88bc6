from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from heliograph.plan.configs import new_topic_configs, plan_configs
from heliograph.policy.config_filter import (
    DEFAULT_CONFIG_PROPERTIES_EXCLUDE,
    DefaultConfigPropertyFilter,
)
from heliograph.wire.topic_configs import ConfigChange, ConfigEntry, ConfigSource

TARGET_DEFAULTS = DefaultConfigPropertyFilter.of()
SOURCE_DEFAULTS = DefaultConfigPropertyFilter.of(use_defaults_from="source")


def own(name: str, value: str) -> ConfigEntry:
    return ConfigEntry(name=name, value=value, source=ConfigSource.TOPIC)


def default(name: str, value: str) -> ConfigEntry:
    return ConfigEntry(name=name, value=value, source=ConfigSource.DEFAULT)


UPSTREAM = [own("name-1", "value-1"), default("name-2", "value-2"), own("min.insync.replicas", "2")]


def test_settings_are_synced_defaults_unset_and_excluded_ones_left_alone() -> None:
    """MirrorSourceConnectorTest.testConfigPropertyFiltering"""
    target = [own("name-2", "x"), own("min.insync.replicas", "1")]

    changes = plan_configs(UPSTREAM, target, TARGET_DEFAULTS)

    assert changes == [ConfigChange("name-1", "value-1"), ConfigChange("name-2", None)]


def test_a_new_topic_does_not_get_the_sources_defaults() -> None:
    """MirrorSourceConnectorTest.testConfigPropertyFilteringWithAlterConfigs"""
    assert new_topic_configs(UPSTREAM, TARGET_DEFAULTS) == {"name-1": "value-1"}


def test_a_new_topic_gets_the_sources_defaults_where_that_is_asked_for() -> None:
    """MirrorSourceConnectorTest.testConfigPropertyFilteringWithAlterConfigsAndSourceDefault"""
    configs = new_topic_configs(UPSTREAM, SOURCE_DEFAULTS)

    assert configs == {"name-1": "value-1", "name-2": "value-2"}


def test_a_new_topic_does_not_get_what_a_pattern_excludes() -> None:
    """MirrorSourceConnectorTest.testNewTopicConfigs"""
    source = [
        own("name-1", "value-1"),
        own("exclude_param.param1", "value-param1"),
        own("min.insync.replicas", "2"),
    ]
    patterns = DefaultConfigPropertyFilter.of(
        [*DEFAULT_CONFIG_PROPERTIES_EXCLUDE, "exclude_param.*"]
    )

    assert new_topic_configs(source, patterns) == {"name-1": "value-1"}


def test_the_sources_defaults_are_set_where_that_is_asked_for() -> None:
    changes = plan_configs(
        [default("retention.ms", "7")], [own("retention.ms", "9")], SOURCE_DEFAULTS
    )

    assert changes == [ConfigChange("retention.ms", "7")]


def test_what_equals_the_targets_default_is_set_all_the_same() -> None:
    """As MM2 does: the value stays when the target's default changes."""
    changes = plan_configs(
        [own("retention.ms", "7")], [default("retention.ms", "7")], TARGET_DEFAULTS
    )

    assert changes == [ConfigChange("retention.ms", "7")]


def test_brokers_files_are_their_own_but_their_dynamic_settings_follow() -> None:
    def entry(name: str, source: ConfigSource) -> ConfigEntry:
        return ConfigEntry(name=name, value="1", source=source)

    source = [
        entry("a", ConfigSource.STATIC_BROKER),
        entry("b", ConfigSource.DYNAMIC_BROKER),
        entry("c", ConfigSource.DYNAMIC_DEFAULT_BROKER),
        entry("d", ConfigSource.OTHER),
        ConfigEntry(name="e", value="1", source=ConfigSource.TOPIC, read_only=True),
        ConfigEntry(name="f", value=None, source=ConfigSource.TOPIC, sensitive=True),
    ]

    assert new_topic_configs(source, TARGET_DEFAULTS) == {"b": "1", "c": "1", "d": "1"}
    assert [change.name for change in plan_configs(source, [], TARGET_DEFAULTS)] == ["b", "c", "d"]


ENTRIES = st.builds(
    ConfigEntry,
    name=st.sampled_from(["a", "b", "c", "min.insync.replicas"]),
    value=st.sampled_from(["1", "2"]),
    source=st.sampled_from(ConfigSource),
    read_only=st.just(False),
    sensitive=st.just(False),
)
TOPICS = st.lists(ENTRIES, unique_by=lambda entry: entry.name)


@given(TOPICS, TOPICS, st.sampled_from([TARGET_DEFAULTS, SOURCE_DEFAULTS]))
def test_the_changes_leave_the_target_as_mm2_would(
    source: list[ConfigEntry], target: list[ConfigEntry], properties: DefaultConfigPropertyFilter
) -> None:
    """MM2 sends every setting: SET, or DELETE for a default."""
    before = {e.name: e.value for e in target if e.source is ConfigSource.TOPIC}
    mm2 = dict(before)
    for entry in source:
        if entry.source is ConfigSource.STATIC_BROKER or entry.name == "min.insync.replicas":
            continue
        if entry.source is ConfigSource.DEFAULT and properties is TARGET_DEFAULTS:
            mm2.pop(entry.name, None)
        else:
            mm2[entry.name] = entry.value

    ours = dict(before)
    for change in plan_configs(source, target, properties):
        assert ours.get(change.name) != change.value
        if change.value is None:
            del ours[change.name]
        else:
            ours[change.name] = change.value

    assert ours == mm2
    assert plan_configs(source, [own(n, v or "") for n, v in ours.items()], properties) == []
