"""All problems of a file are reported together, with key, line and remedy; texts are exact."""

from __future__ import annotations

import pytest

from support.configurations.mm2_files import BASE, Reader


def test_without_clusters_there_is_nothing_to_say_but_that(mm2: Reader) -> None:
    assert mm2.problems("cluster = a, b\n") == [
        "clusters: missing in mm2.properties; expected the aliases of the clusters, such as "
        "clusters = us, eu; did you mean cluster?"
    ]


def test_all_problems_of_a_file_are_reported_together(mm2: Reader) -> None:
    found = mm2.problems(
        "clusters = us, eu, us\n"
        "us.bootstrap.servers = us1\n"
        "eu.bootstrap.servers = eu1:kafka\n"
        "uss->eu.topics = x\n"
        "us->eu.enabled = yes\n"
        "us->eu.tasks.max = 0\n"
        "us.consumer.isolation.level = committed\n"
        "us->eu.replication.factor = two\n",
        ["ue"],
    )

    assert found == [
        "clusters: expected 'us' once, found 'us, eu, us' (mm2.properties:1)",
        "--clusters: 'ue' is not one of clusters in mm2.properties (us, eu)",
        "uss->eu.topics: 'uss' is not one of clusters (us, eu); did you mean us? "
        "(mm2.properties:4)",
        "us->eu.enabled: expected true or false, found 'yes' (mm2.properties:5)",
        "us->eu.tasks.max: expected a whole number of at least 1, found '0' (mm2.properties:6)",
        "us.consumer.isolation.level: expected read_uncommitted or read_committed, "
        "found 'committed' (mm2.properties:7)",
        "us->eu.replication.factor: expected a whole number from 1 to 32767, or -1 for the broker's default, "
        "found 'two' (mm2.properties:8)",
        "us.bootstrap.servers: expected host:port, found 'us1' (mm2.properties:2)",
        "eu.bootstrap.servers: expected a port from 1 to 65535, found 'eu1:kafka' "
        "(mm2.properties:3)",
    ]


def test_a_cluster_without_bootstrap_servers_is_an_error_that_sees_the_misspelling(
    mm2: Reader,
) -> None:
    found = mm2.problems(BASE.replace("eu.bootstrap.servers", "eu.bootstrap.server"))

    assert found == [
        "eu.bootstrap.servers: missing in mm2.properties; expected host:port of one or more "
        "brokers; is eu.bootstrap.server misspelt?"
    ]


@pytest.mark.parametrize("clusters", ["us", "us,, eu", "us, eu,"])
def test_odd_lists_of_clusters_are_errors(mm2: Reader, clusters: str) -> None:
    assert mm2.problems(BASE.replace("us, eu", clusters))[0].startswith("clusters: expected ")


def test_a_bad_regular_expression_is_an_error_with_item_and_position(mm2: Reader) -> None:
    found = mm2.problems(BASE + "us->eu.topics = ok, fo(o\ntopics.exclude = *.tmp\n")

    assert found == [
        "us->eu.topics: item 2, 'fo(o', is not a regular expression: missing ), at character 5 "
        "(mm2.properties:5)",
        "topics.exclude: item 1, '*.tmp', is not a regular expression: nothing to repeat, "
        "at character 1; the regular expression that matches anything is .* (mm2.properties:6)",
    ]


def test_an_open_bracket_is_reported_for_the_item_that_opens_it(mm2: Reader) -> None:
    found = mm2.problems(BASE + "us->eu.topics = orders(, foo\n")

    assert found == [
        "us->eu.topics: item 1, 'orders(', is not a regular expression: missing ), at character 8 "
        "(mm2.properties:5)",
    ]


@pytest.mark.parametrize(
    ("setting", "remedy"),
    [
        (
            "us->eu.source.cluster.alias = usa",
            "the alias is the one in clusters; leave the setting out",
        ),
    ],
)
def test_settings_that_would_lead_records_astray_are_refused(
    mm2: Reader, setting: str, remedy: str
) -> None:
    key = setting.split(" = ")[0]

    assert mm2.problems(f"{BASE}{setting}\n") == [
        f"{key}: not supported by this version; {remedy} (mm2.properties:5)"
    ]


def test_an_invalid_security_protocol_is_an_error_that_names_it(mm2: Reader) -> None:
    """MirrorMakerConfigTest.testInvalidSecurityProtocol, .testClientInvalidSecurityProtocol,
    MirrorConnectorConfigTest.testInvalidSecurityProtocol"""
    for key in ("security.protocol", "eu.security.protocol", "us->eu.security.protocol"):
        assert mm2.problems(f"{BASE}{key} = abc\n") == [
            f"{key}: expected PLAINTEXT or SSL or SASL_PLAINTEXT or SASL_SSL, found 'abc' "
            "(mm2.properties:5)"
        ]


def test_a_security_protocol_may_be_written_in_small_letters(mm2: Reader) -> None:
    """MirrorMakerConfigTest.testCaseInsensitiveSecurityProtocol, MirrorConnectorConfigTest's"""
    mirror = mm2(BASE + "security.protocol = plaintext\n")

    assert mirror.cluster("eu").properties == (("security.protocol", "plaintext"),)
    assert mm2(BASE + "security.protocol = ssl\n").cluster("eu").security.tls is not None


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("us->eu.offset-syncs.topic.location = something", "source or target"),
        ("us->eu.offset.translation = guess", "exact or syncs"),
        ("us->eu.exactly.once.support = maybe", "requested or required"),
        ("metric.names.formats = legacy, newer", "one or more of legacy, new"),
        ("refresh.topics.interval.seconds = 0", "a whole number of at least 1, or -1 for never"),
        ("us->eu.errors.tolerance = some", "none or all"),
        ("eu.status.storage.partitions = 0", "a whole number of at least 1, or -1 for the broker's "
         "default"),
        ("offset.lag.max = ten", "a whole number"),
        ("offset.lag.max = " + "9" * 5000,
         "a whole number of at most 9223372036854775807"),
        ("heartbeats.topic.replication.factor = 99999",
         "a whole number from 1 to 32767, or -1 for the broker's default"),
        ("key.converter = org.apache.kafka.connect.json.JsonConverter",
         "ByteArrayConverter, since records are copied as they are"),
        ("us->eu.replication.policy.separator = /",
         "letters, digits, dots, underscores or hyphens"),
    ],
)  # fmt: skip
def test_a_value_that_its_option_does_not_take_is_an_error(
    mm2: Reader, setting: str, expected: str
) -> None:
    key, value = setting.split(" = ")

    assert mm2.problems(f"{BASE}{setting}\n") == [
        f"{key}: expected {expected}, found {value!r} (mm2.properties:5)"
    ]


@pytest.mark.parametrize(
    "name", ["topics", "topics.exclude", "groups", "groups.exclude", "config.properties.exclude"]
)
def test_every_list_of_regular_expressions_is_checked(mm2: Reader, name: str) -> None:
    assert mm2.problems(f"{BASE}us->eu.{name} = a, b[\n") == [
        f"us->eu.{name}: item 2, 'b[', is not a regular expression: unterminated character set, "
        "at character 3 (mm2.properties:5)"
    ]


def test_a_bad_setting_of_all_flows_is_reported_once(mm2: Reader) -> None:
    found = mm2.problems(BASE + "eu->us.enabled = true\ntopics = fo(o\n")

    assert found == [
        "topics: item 1, 'fo(o', is not a regular expression: missing ), at character 5 "
        "(mm2.properties:6)"
    ]


def test_a_bad_value_of_an_old_name_is_reported_under_that_name(mm2: Reader) -> None:
    assert mm2.problems(BASE + "us->eu.groups.blacklist = *\n") == [
        "us->eu.groups.blacklist: item 1, '*', is not a regular expression: nothing to repeat, at "
        "character 1; the regular expression that matches anything is .* (mm2.properties:5)"
    ]
