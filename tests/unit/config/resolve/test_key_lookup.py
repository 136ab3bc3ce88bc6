from __future__ import annotations

import pytest

from heliograph.errors import ConfigError
from support.configurations.mm2_files import BASE, Reader


@pytest.mark.parametrize(
    ("key", "warning"),
    [
        ("us->eu.task.max", "unknown setting, ignored; did you mean us->eu.tasks.max?"),
        ("us.consumer.isolaton.level", "did you mean us.consumer.isolation.level?"),
        ("us.consumer.zzz", "us.consumer.zzz: unknown setting, ignored (mm2"),
        ("consumer.fetch.max.bytes", "no effect at the top level, as in MM2; write us.consumer."),
        ("offset.flush.interval.ms", "no effect here; write eu.offset.flush.interval.ms ("),
        ("eu.tasks.max", "no effect here; write us->eu.tasks.max or tasks.max ("),
        ("us->eu.epoch.seconds", "no effect here; write epoch.seconds ("),
        ("us->us.topics", "has no effect: a flow cannot have the same source and target"),
        ("uss.consumer.x", "'uss' is not one of clusters; did you mean us.consumer.x?"),
        ("colour", "colour: unknown setting, ignored (mm2.properties:5)"),
        (
            "us->eu.enable",
            "not a setting, although Kafka's documentation shows it; write us->eu.enabled (",
        ),
        ("groups.whitelist", "not a setting of MM2; write groups ("),
        ("us->eu.groups.whitelist", "not a setting of MM2; write us->eu.groups ("),
        (
            "us->eu.use.incremental.alter.configs",
            "removed in Kafka 4.0; configurations are always altered incrementally; leave it out",
        ),
        (
            "use.defaults.from",
            "has no effect at the top level, as in MM2; write us->eu.use.defaults.from (",
        ),
        (
            "eu.offset-syncs.topic.location",
            "has no effect here; write us->eu.offset-syncs.topic.location or "
            "offset-syncs.topic.location (",
        ),
        ("offset.syncs.topic.location", "did you mean offset-syncs.topic.location?"),
        (
            "us->eu.producer.linger.ms",
            "has an effect on offset syncs only, not on mirrored records, as in MM2; write "
            "eu.producer.linger.ms (",
        ),
        (
            "us->eu.target.consumer.isolation.level",
            "has an effect on internal topics only, not on mirrored records, as in MM2; write "
            "us.consumer.isolation.level (",
        ),
        (
            "us->eu.consumer.override.isolation.level",
            "has no effect, as in MM2; write us->eu.consumer.isolation.level (",
        ),
        ("us->eu.fetch.max.bytes", "no effect here; write us.consumer.fetch.max.bytes ("),
        ("us->eu.linger.ms", "no effect here; write eu.producer.linger.ms ("),
        ("eu.max.request.size", "no effect here; write eu.producer.max.request.size ("),
        ("producer.linger.ms", "at the top level, as in MM2; write eu.producer.linger.ms ("),
        (
            "config.storage.partitions",
            "has no effect, as in MM2; the topic of connector configurations always has 1 partition",
        ),
        ("us->eu.config.providers", "has no effect here; write config.providers ("),
        ("eu.ssl.truststore.pasword", "did you mean eu.ssl.truststore.password?"),
        ("us->eu.task.assigned.partitions", "unknown setting, ignored (mm2"),
    ],
)
def test_a_setting_without_effect_is_reported_with_the_right_place(
    mm2: Reader, key: str, warning: str
) -> None:
    (found,) = mm2(f"{BASE}{key} = 5\n").warnings

    assert found.startswith(f"{key}: ")
    assert warning in found
    assert "(mm2.properties:5)" in found


@pytest.mark.parametrize(
    "key",
    [
        "rest.users.file",
        "rest.certificate.roles",
        "rest.port",
        "listeners.https.ssl.keystore.location",
        "admin.listeners.https.ssl.truststore.location",
    ],
)
def test_settings_of_the_rest_server_are_known_in_the_file_of_run(mm2: Reader, key: str) -> None:
    found = mm2(f"{BASE}{key} = 5\n")

    assert found.warnings == ()
    assert dict(found.rest)[key] == "5"


def test_what_connectors_created_through_rest_may_name_has_no_effect_in_the_file_of_run(
    mm2: Reader,
) -> None:
    (found,) = mm2(f"{BASE}rest.connector.allowed.paths = /tmp\n").warnings

    assert found.startswith("rest.connector.allowed.paths: unknown setting, ignored")


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("us->eu.topcs", "unknown setting; did you mean us->eu.topics?"),
        ("us->eu.topic", "unknown setting; did you mean us->eu.topics?"),
        ("topic", "unknown setting; did you mean topics?"),
        ("us->eu.topics.exlude", "unknown setting; did you mean us->eu.topics.exclude?"),
        ("us.topics", "has no effect here; write us->eu.topics or topics"),
        ("topics.whitelist", "not a setting of MM2; write topics"),
        ("us->eu.topics.include", "not a setting of MM2; write us->eu.topics"),
        ("us->eu.topicsPattern", "a field of Strimzi; write us->eu.topics"),
        ("blacklist", "an option of MirrorMaker 1; write topics.exclude"),
    ],
)
def test_a_misspelt_choice_of_topics_is_refused(mm2: Reader, key: str, words: str) -> None:
    """MM2 ignores it, and mirrors every topic."""
    with pytest.raises(ConfigError) as raised:
        mm2(f"{BASE}{key} = orders\n")

    assert raised.value.problems == [
        f"{key}: refused, since without it topics would be mirrored that you did not choose: {words} "
        "(mm2.properties:5)"
    ]


@pytest.mark.parametrize(
    "line",
    [
        "us -> eu.topics = orders",
        "us ->eu.topics = orders",
        "us-> eu.topics: orders",
        r"us\ ->\ eu.topics = orders",
    ],
)
def test_a_flow_with_spaces_round_its_arrow_is_refused(mm2: Reader, line: str) -> None:
    with pytest.raises(ConfigError) as raised:
        mm2(f"{BASE}{line}\n")

    assert raised.value.problems == [
        "us->eu.topics: expected no space round ->; write us->eu.topics (mm2.properties:5)"
    ]


def test_a_value_may_begin_with_an_arrow(mm2: Reader) -> None:
    assert mm2(BASE + "us->eu.offset.storage.x = ->y\n").warnings != ()
    (flow,) = mm2(BASE + "us->eu.topics = ->y\n").flows
    assert flow.topics == ("->y",)


def test_a_consumers_setting_of_a_cluster_that_is_no_source_is_reported(mm2: Reader) -> None:
    line = "eu.consumer.isolation.level = read_committed\n"

    assert mm2(BASE + line).warnings == (
        "eu.consumer.isolation.level: has no effect: no flow from eu is enabled (mm2.properties:5)",
    )
    assert mm2(BASE + line + "eu->us.enabled = true\n").warnings == ()


def test_overrides_of_the_data_producer_are_known(mm2: Reader) -> None:
    (warning,) = mm2(BASE + "us->eu.producer.override.linger.ms = 5\n").warnings

    assert warning.startswith("mm2.properties: known, but without effect in this version")


def test_known_settings_of_later_versions_share_one_warning(mm2: Reader) -> None:
    mirror = mm2(
        BASE + "sync.topic.acls.enabled = false\nerrors.log.enable = true\n"
        "us->eu.admin.timeout.ms = 7\neu.producer.linger.ms = 5\n"
        "offset.storage.segment.bytes = 9\n"
    )

    assert mirror.warnings == (
        "mm2.properties: known, but without effect in this version: errors.log.enable (line 6), "
        "us->eu.admin.timeout.ms (line 7), eu.producer.linger.ms (line 8), "
        "offset.storage.segment.bytes (line 9)",
    )


def test_what_equals_the_default_or_is_switched_off_needs_no_warning(mm2: Reader) -> None:
    mirror = mm2(
        BASE + "key.converter = org.apache.kafka.connect.converters.ByteArrayConverter\n"
        "us->eu.value.converter = ByteArrayConverter\nadmin.timeout.ms = 60000\n"
        "dedicated.mode.enable.internal.rest = false\nexactly.once.support = requested\n"
    )

    assert mirror.warnings == ()


def test_every_setting_is_read_or_reported(mm2: Reader) -> None:
    """Nothing is passed over: a line more is a problem, a warning, or another configuration."""
    plain = mm2(BASE)
    keys = ["topics", "us->eu.zzz", "zzz", "eu.zzz", "us->eu.admin.zzz", "eu.group.id", "name"]

    for key in keys:
        mirror = mm2(f"{BASE}{key} = 1\n")
        assert mirror.warnings or mirror.flows != plain.flows, key


def test_other_brokers_for_one_flow_are_reported_not_silently_left_out(mm2: Reader) -> None:
    found = mm2(BASE + "us->eu.source.cluster.bootstrap.servers = elsewhere:9092\n")

    assert found.warnings == (
        "us->eu.source.cluster.bootstrap.servers: has no effect in this version; a flow uses the brokers "
        "of its two aliases (mm2.properties:5)",
    )


def test_what_is_so_anyway_is_not_refused(mm2: Reader) -> None:
    mirror = mm2(
        BASE + "security.protocol = plaintext\neu.exactly.once.source.support = disabled\n"
        "replication.policy.class = org.apache.kafka.connect.mirror.DefaultReplicationPolicy\n"
    )

    assert mirror.warnings == ()
    assert mirror.cluster("us").properties == (("security.protocol", "plaintext"),)
