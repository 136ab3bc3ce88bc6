from __future__ import annotations

from heliograph.policy.config_filter import DefaultConfigPropertyFilter


def test_by_default_settings_of_the_cluster_do_not_follow() -> None:
    properties = DefaultConfigPropertyFilter.of()

    assert properties.should_replicate_config_property("retention.ms")
    assert not properties.should_replicate_config_property("min.insync.replicas")
    assert not properties.should_replicate_config_property("message.timestamp.type")


def test_the_topics_own_timestamp_limits_follow_as_in_4_3() -> None:
    """The default excludes the brokers' names of them, which no topic has."""
    properties = DefaultConfigPropertyFilter.of()

    assert properties.should_replicate_config_property("message.timestamp.before.max.ms")
    assert not properties.should_replicate_config_property("log.message.timestamp.before.max.ms")


def test_exclusions_are_patterns_for_the_whole_name() -> None:
    properties = DefaultConfigPropertyFilter.of([r"delete\.retention\..*"])

    assert not properties.should_replicate_config_property("delete.retention.ms")
    assert properties.should_replicate_config_property("min.insync.replicas")
    assert DefaultConfigPropertyFilter.of([]).should_replicate_config_property("anything")


def test_only_source_means_the_sources_defaults() -> None:
    for value, expected in [("source", True), ("target", False), ("Source", False)]:
        properties = DefaultConfigPropertyFilter.of(use_defaults_from=value)
        assert properties.should_replicate_source_default("retention.ms") is expected
