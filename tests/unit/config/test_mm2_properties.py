from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import pytest

from heliograph.config.mirror_config import MirrorConfig
from heliograph.config.mm2_properties import load
from heliograph.errors import ConfigError
from heliograph.model import ClusterConfig, IsolationLevel, OffsetReset, Timestamps

BASE = """\
clusters = us, eu
us.bootstrap.servers = us1:9092, us2:9092
eu.bootstrap.servers = eu1:9092
us->eu.enabled = true
"""


class Reader(Protocol):
    def __call__(self, text: str, clusters: Sequence[str] = ()) -> MirrorConfig: ...


@pytest.fixture
def mm2(tmp_path: Path) -> Reader:
    def read(text: str, clusters: Sequence[str] = ()) -> MirrorConfig:
        path = tmp_path / "mm2.properties"
        path.write_text(text)
        return load(path, clusters)

    return read


def problems(mm2: Reader, text: str, clusters: Sequence[str] = ()) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        mm2(text, clusters)
    return caught.value.problems


def test_a_short_file_gives_a_flow_with_mm2s_defaults(mm2: Reader) -> None:
    mirror = mm2(BASE)

    (flow,) = mirror.flows
    assert (flow.name, flow.source, flow.target) == ("us->eu", "us", "eu")
    assert flow.topics == (".*",)
    assert flow.topics_exclude == (r"mm2.*\.internal", r".*\.replica", "__.*")
    assert (flow.replication_factor, flow.tasks_max) == (2, 1)
    assert flow.isolation_level is IsolationLevel.READ_UNCOMMITTED
    assert flow.auto_offset_reset is OffsetReset.EARLIEST
    assert flow.refresh_interval_seconds == 600
    assert flow.timestamps is Timestamps.READER
    assert flow.connector_name == "MirrorSourceConnector"
    assert flow.offsets_topic == "mm2-offsets.us.internal"
    assert flow.offset_storage_replication_factor == 3
    assert flow.offset_storage_partitions == 25
    assert flow.offset_flush_interval_ms == 60_000
    assert (mirror.epoch_seconds, mirror.once_timeout_seconds) == (3600, 60)
    assert mirror.clusters == (
        ClusterConfig(alias="us", bootstrap_servers=("us1:9092", "us2:9092")),
        ClusterConfig(alias="eu", bootstrap_servers=("eu1:9092",)),
    )
    assert mirror.warnings == ()


def test_the_products_file_of_the_local_scenario_is_read(mm2: Reader) -> None:
    mirror = mm2(
        "clusters=source, target\n"
        "source.bootstrap.servers=kafka1:9092,kafka2:9093,kafka3:9094\n"
        "target.bootstrap.servers=kafka4:9092\n"
        "# enable and configure individual replication flows\n"
        "source->target.enabled=true\n"
        "source->target.topics=products\n"
        "tasks.max=10\n"
    )

    flow = mirror.flow("source->target")
    assert (flow.topics, flow.tasks_max) == (("products",), 10)
    assert flow.target_topic("products") == "source.products"
    assert flow.should_replicate("products", flow.topic_filter())
    assert not flow.should_replicate("orders", flow.topic_filter())


def test_the_flow_wins_over_the_top_level(mm2: Reader) -> None:
    text = BASE + (
        "topics = a\ntasks.max = 2\nreplication.factor = 1\nus->eu.topics = b, c\n"
        "us->eu.timestamps = create\nus->eu.refresh.topics.enabled = FALSE\n"
        "us->eu.replication.policy.separator = _\n"
    )

    flow = mm2(text).flow("us->eu")

    assert (flow.topics, flow.tasks_max, flow.replication_factor) == (("b", "c"), 2, 1)
    assert flow.timestamps is Timestamps.CREATE
    assert flow.refresh_interval_seconds is None
    assert flow.target_topic("orders") == "us_orders"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (["us->eu.consumer"], "us->eu.consumer"),
        (["us->eu.consumer", "us.consumer"], "us.consumer"),
        (["us->eu.source.consumer", "us.consumer", "us->eu.consumer"], "us->eu.source.consumer"),
        (["eu.consumer", "us->eu.target.consumer", "consumer"], None),
    ],
)
def test_consumer_settings_have_mm2s_precedence(
    mm2: Reader, settings: list[str], expected: str | None
) -> None:
    lines = [
        f"{prefix}.auto.offset.reset = {'latest' if prefix == expected else 'none'}\n"
        for prefix in settings
    ]

    flow = mm2(BASE + "".join(lines)).flow("us->eu")

    assert flow.auto_offset_reset.value == ("earliest" if expected is None else "latest")


def test_the_consumer_prefix_of_an_alias_called_source_is_the_aliass(mm2: Reader) -> None:
    text = BASE.replace("us,", "source,").replace("us.", "source.").replace("us->", "source->")

    mirror = mm2(text + "source.consumer.isolation.level = read_committed\n")

    assert mirror.flow("source->eu").isolation_level is IsolationLevel.READ_COMMITTED
    assert mirror.warnings == ()


def test_worker_settings_come_from_the_target_and_storage_also_from_the_top(mm2: Reader) -> None:
    flow = mm2(
        BASE
        + "eu.offset.flush.interval.ms = 1000\neu.offset.storage.partitions = 5\n"
        + "eu.offset.storage.replication.factor = 2\noffset.storage.replication.factor = 1\n"
        + "us.offset.storage.partitions = 7\neu.offset.storage.topic = offsets\n"
    ).flow("us->eu")

    assert flow.offset_flush_interval_ms == 1000
    assert flow.offset_storage_partitions == 5
    assert flow.offset_storage_replication_factor == 1
    assert flow.offsets_topic == "offsets"


def test_only_flows_to_the_served_targets_are_taken(mm2: Reader) -> None:
    text = BASE + "eu->us.enabled = true\n"

    assert [flow.name for flow in mm2(text).flows] == ["us->eu", "eu->us"]
    assert [flow.name for flow in mm2(text, ["us"]).flows] == ["eu->us"]


def test_enabled_at_the_top_level_counts_for_all_pairs_as_in_mm2(mm2: Reader) -> None:
    text = BASE.replace("us->eu.enabled", "enabled")

    assert [flow.name for flow in mm2(text).flows] == ["us->eu", "eu->us"]
    assert "No source->target" in problems(mm2, text + "emit.heartbeats.enabled = false\n")[0]


def test_bootstrap_servers_may_have_a_protocol_or_be_ipv6_or_stand_at_the_top(mm2: Reader) -> None:
    mirror = mm2(
        "clusters = us, eu\nbootstrap.servers = PLAINTEXT://h-1.x:1, [::1]:9092,\n"
        "us->eu.enabled = true\n"
    )

    assert mirror.cluster("eu").bootstrap_servers == ("h-1.x:1", "[::1]:9092")


def test_an_alias_with_odd_characters_works(mm2: Reader) -> None:
    odd = "B-_~\\:?#[]@!$&'()*+\\=\\\"<>{}|^`618"

    mirror = mm2(BASE.replace("eu1", "h").replace("eu", odd))

    assert mirror.flows[0].target == "B-_~:?#[]@!$&'()*+=\"<>{}|^`618"


def test_without_clusters_there_is_nothing_to_say_but_that(mm2: Reader) -> None:
    assert problems(mm2, "cluster = a, b\n") == [
        "clusters: missing in mm2.properties; expected the aliases of the clusters, such as "
        "clusters = us, eu; did you mean cluster?"
    ]


def test_all_problems_of_a_file_are_told_at_once(mm2: Reader) -> None:
    found = problems(
        mm2,
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
        "uss->eu.topics: 'uss' is not one of clusters (us, eu); did you mean us? "
        "(mm2.properties:4)",
        "us->eu.enabled: expected true or false, found 'yes' (mm2.properties:5)",
        "us->eu.tasks.max: expected a whole number of at least 1, found '0' (mm2.properties:6)",
        "us.consumer.isolation.level: expected read_uncommitted or read_committed, "
        "found 'committed' (mm2.properties:7)",
        "us->eu.replication.factor: expected a whole number from -2147483648 to 2147483647, "
        "found 'two' (mm2.properties:8)",
        "us.bootstrap.servers: expected host:port, found 'us1' (mm2.properties:2)",
        "eu.bootstrap.servers: expected a port from 1 to 65535, found 'eu1:kafka' "
        "(mm2.properties:3)",
        "--clusters: 'ue' is not one of clusters in mm2.properties (us, eu)",
    ]


def test_a_cluster_without_bootstrap_servers_is_an_error_that_sees_the_misspelling(
    mm2: Reader,
) -> None:
    found = problems(mm2, BASE.replace("eu.bootstrap.servers", "eu.bootstrap.server"))

    assert found == [
        "eu.bootstrap.servers: missing in mm2.properties; expected host:port of one or more "
        "brokers; did you mean it with eu.bootstrap.server?"
    ]


@pytest.mark.parametrize("clusters", ["us", "us,, eu", "us, eu,"])
def test_odd_lists_of_clusters_are_errors(mm2: Reader, clusters: str) -> None:
    assert problems(mm2, BASE.replace("us, eu", clusters))[0].startswith("clusters: expected ")


def test_no_enabled_flow_is_an_error_that_says_what_would_enable_one(mm2: Reader) -> None:
    assert problems(mm2, BASE.replace("true", "false")) == [
        "No source->target replication flows: none is enabled in mm2.properties; "
        "found us->eu.enabled = false (mm2.properties:4); "
        "set one of: us->eu.enabled = true, eu->us.enabled = true"
    ]
    assert problems(mm2, BASE, ["us"]) == [
        "No source->target replication flows: none is enabled in mm2.properties towards us; "
        "set one of: eu->us.enabled = true"
    ]


def test_a_bad_regular_expression_is_an_error_with_item_and_position(mm2: Reader) -> None:
    found = problems(mm2, BASE + "us->eu.topics = ok, fo(o\ntopics.exclude = *.tmp\n")

    assert found == [
        "us->eu.topics: item 2, 'fo(o', is not a regular expression: missing ), at character 5 "
        "(mm2.properties:5)",
        "topics.exclude: item 1, '*.tmp', is not a regular expression: nothing to repeat, "
        "at character 1; a regular expression for anything is .* (mm2.properties:6)",
    ]


def test_other_brokers_for_one_flow_are_reported_not_silently_left_out(mm2: Reader) -> None:
    found = mm2(BASE + "us->eu.source.cluster.bootstrap.servers = elsewhere:9092\n")

    assert found.warnings == (
        "us->eu.source.cluster.bootstrap.servers: is not read in this version; a flow's clusters are "
        "those of its aliases (mm2.properties:5)",
    )


def test_an_open_bracket_is_blamed_on_the_item_that_opens_it(mm2: Reader) -> None:
    found = problems(mm2, BASE + "us->eu.topics = orders(, foo\n")

    assert found == [
        "us->eu.topics: item 1, 'orders(', is not a regular expression: missing ), at character 8 "
        "(mm2.properties:5)",
    ]


def test_security_settings_are_refused_without_printing_secrets(mm2: Reader) -> None:
    found = problems(
        mm2,
        BASE + "eu.security.protocol = SASL_SSL\neu.sasl.jaas.config = password=hunter2;\n"
        "us->eu.source.consumer.ssl.truststore.password = hunter2\n",
    )

    assert [problem.split(": ")[0] for problem in found] == [
        "eu.security.protocol, eu.sasl.jaas.config",
        "us->eu.source.consumer.ssl.truststore.password",
    ]
    assert all("TLS and SASL are not supported by this version" in problem for problem in found)
    assert "hunter2" not in "".join(found)


def test_what_is_so_anyway_is_not_refused(mm2: Reader) -> None:
    mirror = mm2(
        BASE + "security.protocol = plaintext\neu.exactly.once.source.support = disabled\n"
        "replication.policy.class = org.apache.kafka.connect.mirror.DefaultReplicationPolicy\n"
    )

    assert mirror.warnings == ()
    assert mirror.cluster("us").properties == (("security.protocol", "plaintext"),)


@pytest.mark.parametrize(
    "setting",
    [
        "replication.policy.class = org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
        "us->eu.topic.filter.class = com.acme.Filter",
        "us->eu.transforms = mask",
        "eu.exactly.once.source.support = enabled",
        "config.providers = file",
    ],
)
def test_settings_that_would_lead_records_astray_are_refused(mm2: Reader, setting: str) -> None:
    key = setting.split(" = ")[0]

    (problem,) = problems(mm2, f"{BASE}{setting}\n")

    assert problem.startswith(f"{key}: not supported by this version; ")
    assert problem.endswith("(mm2.properties:5)")


@pytest.mark.parametrize(
    ("key", "warning"),
    [
        ("us->eu.topcs", "unknown setting, ignored; did you mean us->eu.topics?"),
        ("us.consumer.isolaton.level", "did you mean us.consumer.isolation.level?"),
        ("us.consumer.zzz", "us.consumer.zzz: unknown setting, ignored (mm2"),
        ("consumer.fetch.max.bytes", "no effect at the top level, as in MM2; write us.consumer."),
        ("offset.flush.interval.ms", "no effect here; write eu.offset.flush.interval.ms ("),
        ("eu.tasks.max", "no effect here; write us->eu.tasks.max or tasks.max ("),
        ("us->eu.epoch.seconds", "no effect here; write epoch.seconds ("),
        ("us->us.topics", "a flow from a cluster to itself is never mirrored"),
        ("uss.consumer.x", "'uss' is not one of clusters; did you mean us.consumer.x?"),
        ("colour", "colour: unknown setting, ignored (mm2.properties:5)"),
    ],
)
def test_a_setting_without_effect_is_reported_with_the_right_place(
    mm2: Reader, key: str, warning: str
) -> None:
    (found,) = mm2(f"{BASE}{key} = 5\n").warnings

    assert found.startswith(f"{key}: ")
    assert warning in found
    assert "(mm2.properties:5)" in found


def test_known_settings_of_later_versions_share_one_warning(mm2: Reader) -> None:
    mirror = mm2(
        BASE + "sync.topic.acls.enabled = false\nemit.checkpoints.enabled = true\n"
        "us->eu.groups = .*\neu.producer.linger.ms = 5\nstatus.storage.replication.factor = 1\n"
        "offset.storage.segment.bytes = 9\n"
    )

    assert mirror.warnings == (
        "mm2.properties: known, but without effect in this version: emit.checkpoints.enabled "
        "(line 6), us->eu.groups (line 7), eu.producer.linger.ms (line 8), "
        "status.storage.replication.factor (line 9), offset.storage.segment.bytes (line 10)",
    )


def test_every_setting_is_read_or_reported(mm2: Reader) -> None:
    """Nothing is passed over: a line more is a problem, a warning, or another configuration."""
    plain = mm2(BASE)
    keys = ["topics", "us->eu.zzz", "zzz", "eu.zzz", "us->eu.admin.zzz", "eu.group.id", "name"]

    for key in keys:
        mirror = mm2(f"{BASE}{key} = 1\n")
        assert mirror.warnings or mirror.flows != plain.flows, key


def test_asking_for_what_is_not_there_is_a_key_error(mm2: Reader) -> None:
    mirror = mm2(BASE)

    with pytest.raises(KeyError, match="asia"):
        mirror.cluster("asia")
    with pytest.raises(KeyError, match="eu->us"):
        mirror.flow("eu->us")
