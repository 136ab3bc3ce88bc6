from __future__ import annotations

import pytest

from heliograph.config.mirror_config import InternalTopic
from heliograph.model import ClusterConfig, IsolationLevel, OffsetReset, Timestamps
from support.configurations.mm2_files import BASE, Reader


def internal(name: str, *, partitions: int = 1, replication_factor: int = 3) -> InternalTopic:
    return InternalTopic(name=name, partitions=partitions, replication_factor=replication_factor)


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
    assert flow.offsets_topic == internal("mm2-offsets.us.internal", partitions=25)
    assert flow.config_topic == internal("mm2-configs.us.internal")
    assert flow.status_topic == internal("mm2-status.us.internal", partitions=5)
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
    assert flow.offsets_topic == internal("offsets", partitions=5, replication_factor=1)


def test_only_flows_to_the_served_targets_are_taken(mm2: Reader) -> None:
    text = BASE + "eu->us.enabled = true\n"

    assert [flow.name for flow in mm2(text).flows] == ["us->eu", "eu->us"]
    assert [flow.name for flow in mm2(text, ["us"]).flows] == ["eu->us"]


def test_enabled_at_the_top_level_counts_for_all_pairs_as_in_mm2(mm2: Reader) -> None:
    text = BASE.replace("us->eu.enabled", "enabled")

    assert [flow.name for flow in mm2(text).flows] == ["us->eu", "eu->us"]
    assert "No source->target" in mm2.problems(text + "emit.heartbeats.enabled = false\n")[0]


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


def test_asking_for_what_is_not_there_is_a_key_error(mm2: Reader) -> None:
    mirror = mm2(BASE)

    with pytest.raises(KeyError, match="asia"):
        mirror.cluster("asia")
    with pytest.raises(KeyError, match="eu->us"):
        mirror.flow("eu->us")
