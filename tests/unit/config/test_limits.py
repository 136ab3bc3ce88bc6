"""What a task may take, from the settings that Kafka's own clients have for it."""

from __future__ import annotations

import pytest

from heliograph.config.mirror_config import InternalTopic, Limits
from heliograph.errors import ConfigError
from heliograph.plan.internal_topics import internal_topics
from support.configurations.mm2_files import BASE, Reader


def test_defaults_are_kafkas_but_for_the_size_of_a_fetch(mm2: Reader) -> None:
    assert mm2(BASE).flows[0].limits == Limits(
        fetch_max_bytes=8 << 20,
        partition_fetch_bytes=1 << 20,
        fetch_min_bytes=1,
        fetch_max_wait_ms=500,
        buffer_memory=32 << 20,
        request_bytes=1 << 20,
        bytes_per_second=0,
    )


def test_settings_of_consumer_and_producer_stand_where_mm2_has_them(mm2: Reader) -> None:
    mirror = mm2(
        BASE
        + "us.consumer.fetch.max.bytes = 1\nus->eu.consumer.max.partition.fetch.bytes = 2\n"
        + "us->eu.source.consumer.fetch.min.bytes = 3\nus.consumer.fetch.max.wait.ms = 4\n"
        + "eu.producer.buffer.memory = 5\neu.producer.max.request.size = 6\n"
        + "us->eu.producer.override.max.request.size = 7\nthrottle.bytes.per.second = 8\n"
    )

    assert mirror.warnings == ()
    assert mirror.flows[0].limits == Limits(
        fetch_max_bytes=1,
        partition_fetch_bytes=2,
        fetch_min_bytes=3,
        fetch_max_wait_ms=4,
        buffer_memory=5,
        request_bytes=7,
        bytes_per_second=8,
    )


def test_a_producer_that_no_flow_has_is_pointed_out(mm2: Reader) -> None:
    (warning,) = mm2(BASE + "us.producer.buffer.memory = 5\n").warnings

    assert warning.startswith("us.producer.buffer.memory: has no effect: no flow to us is enabled")


@pytest.mark.parametrize(
    "line",
    [
        "us.consumer.fetch.max.bytes = 0",
        "eu.producer.buffer.memory = 0",
        "throttle.bytes.per.second = -1",
        "oversize.record.policy = skip",
        "quarantine.topic = a b",
    ],
)
def test_a_limit_that_cannot_be_kept_is_refused(mm2: Reader, line: str) -> None:
    with pytest.raises(ConfigError, match=line.partition(" ")[0]):
        mm2(f"{BASE}{line}\n")


def test_records_go_into_quarantine_only_with_that_policy(mm2: Reader) -> None:
    quarantine = "us->eu.oversize.record.policy = quarantine\n"
    default = mm2(BASE + quarantine).flows[0]
    named = mm2(
        f"{BASE}{quarantine}quarantine.topic = left.out\nquarantine.topic.replication.factor = 1\n"
    ).flows[0]

    assert mm2(BASE).flows[0].quarantine is None
    assert default.quarantine == InternalTopic(
        name="mm2-quarantine.us.internal", partitions=1, replication_factor=3
    )
    assert named.quarantine is not None
    assert (named.quarantine.name, named.quarantine.replication_factor) == ("left.out", 1)
    (placed,) = (each for each in internal_topics(named) if each.topic == named.quarantine)
    assert (placed.alias, placed.option) == ("eu", "quarantine.topic.replication.factor")


def test_no_mirror_copies_a_quarantine_topic(mm2: Reader) -> None:
    flow = mm2(BASE).flows[0]

    assert not flow.should_replicate("mm2-quarantine.eu.internal", flow.topic_filter())
