from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from heliograph.config.metrics_config import MetricsConfig, Names
from heliograph.metrics.exposition import expose
from heliograph.metrics.vocabularies.compatible import quoted
from support.snapshots import SNAPSHOT

ONE = replace(SNAPSHOT, partitions=SNAPSHOT.partitions[:1])
SOURCE, CHECKPOINT = (
    f"kafka_connect_mirror_mirror{each}connector" for each in ("source", "checkpoint")
)
#: What the dashboards ask for: a series, and the regular expressions of its labels. cAdvisor gives the rest;
#: the queue of the reporter's dashboard asks for a label of the JMX exporter, and is empty with MM2, too.
ASKED = {
    Names.STRIMZI_JMX: (
        ("kafka_connect_worker_connector_count", {}),
        ("kafka_connect_worker_task_count", {}),
        *((f"{SOURCE}_{each}_rate", {}) for each in ("record", "byte")),
        *(
            (f"{SOURCE}_{what}_ms{part}", {"topic": "us.orders", "partition": "0"})
            for what in ("record_age", "replication_latency")
            for part in ("", "_avg", "_min", "_max")
        ),
        (
            "kafka_consumer_fetch_manager_records_lag",
            {"clientid": '.*replication-consumer"', "topic": "orders", "partition": "0"},
        ),
        ("kafka_consumer_incoming_byte_total", {}),
        ("kafka_producer_outgoing_byte_total", {}),
        (
            f"{CHECKPOINT}_checkpoint_latency_ms",
            {"source": "us", "target": "eu", "topic": "us.orders", "partition": "0", "group": ".+"},
        ),
        ("kafka_producer_buffer_available_bytes", {"clientid": '".*SourceConnector-[0-9]+"'}),
        (
            "kafka_connect_connector_task_offset_commit_avg_time_ms",
            {"connector": '".*SourceConnector"', "task": "[0-9]+"},
        ),
        (
            "kafka_connect_source_task_source_record_active_count",
            {"connector": '".*SourceConnector"'},
        ),
        ("kafka_connect_coordinator_assigned_connectors", {}),
        ("kafka_connect_coordinator_assigned_tasks", {}),
        ("kafka_connect_worker_rebalance_rebalancing", {}),
        ("jvm_memory_used_bytes", {}),
        ("jvm_gc_collection_seconds_sum", {}),
        ("jvm_threads_current", {}),
        ("kafka_connect_connector_status", {"status": "failed"}),
        ("kafka_connect_worker_connector_failed_task_count", {}),
    ),
    Names.STRIMZI_REPORTER: (
        ("kafka_connect_connect_worker_metrics_connector_count", {}),
        ("kafka_connect_connect_worker_metrics_task_count", {}),
        (f"{SOURCE}_record_rate", {}),
        (f"{SOURCE}_record_age_ms_avg", {}),
        (
            "kafka_consumer_consumer_fetch_manager_metrics_records_lag",
            {"client_id": ".*replication-consumer", "topic": "orders", "partition": "0"},
        ),
        ("kafka_consumer_consumer_metrics_incoming_byte", {}),
        ("kafka_producer_producer_metrics_outgoing_byte", {}),
        (f"{CHECKPOINT}_checkpoint_latency_ms", {"group": "my:group"}),
        ("kafka_producer_producer_metrics_buffer_available_bytes", {"client_id": ".+"}),
        (
            "kafka_connect_connector_task_metrics_offset_commit_avg_time_ms",
            {"connector": ".*SourceConnector", "task": "[0-9]+"},
        ),
        ("kafka_connect_connect_coordinator_metrics_assigned_connectors", {}),
        ("kafka_connect_connect_coordinator_metrics_assigned_tasks", {}),
        ("kafka_connect_connect_worker_rebalance_metrics_rebalancing", {}),
        ("jvm_memory_used_bytes", {}),
    ),
    Names.MSK: (
        (
            "kafka_connect_mirror_source_connector_replication_latency_ms_avg",
            {"topic": ".+", "partition": "0", "destination": "eu"},
        ),
        ("kafka_consumer_fetch_manager_records_lag", {"topic": "orders", "partition": "0"}),
        ("kafka_connect_mirror_source_connector_record_age_ms_avg", {}),
        ("kafka_consumer_fetch_manager_fetch_latency_avg", {"clientId": ".+"}),
        ("kafka_connect_source_task_source_record_active_count", {"connector": ".+"}),
        ("kafka_consumer_incoming_byte_total", {"clientId": ".+"}),
    ),
}


def _text(*names: Names) -> str:
    return expose(ONE, MetricsConfig(names=frozenset(names))).text.decode()


@pytest.mark.parametrize("names", Names)
def test_a_vocabulary_is_this_text(names: Names) -> None:
    lines = [
        line
        for line in _text(names).splitlines()
        if not line.startswith("#") and not line.startswith("heliograph_")
    ]

    assert lines == (Path(__file__).parent / f"{names}.txt").read_text().splitlines()


@pytest.mark.parametrize("names", Names)
def test_every_series_that_the_dashboards_ask_for_is_there(names: Names) -> None:
    series = [s for f in text_string_to_metric_families(_text(names)) for s in f.samples]
    missing = [
        (name, labels)
        for name, labels in ASKED[names]
        if not any(
            each.name == name
            and all(re.fullmatch(p, each.labels.get(label, "")) for label, p in labels.items())
            for each in series
        )
    ]

    assert missing == []


def test_a_series_of_two_vocabularies_is_given_once_with_the_labels_of_both() -> None:
    """So that a sum over all series counts it once."""
    lines = _text(*Names).splitlines()

    (lag,) = [x for x in lines if x.startswith("kafka_consumer_fetch_manager_records_lag{")]
    assert 'clientId="' in lag
    assert 'clientid="' in lag
    assert len([x for x in lines if x.startswith("kafka_connect_source_task_source_")]) == 1


def test_the_lag_is_not_added_to_its_maximum() -> None:
    """Strimzi's rules do that: `records-lag-max` matches the pattern of `records-lag`."""
    lines = _text(Names.STRIMZI_JMX).splitlines()

    assert [x for x in lines if "_objectname" in x] == []
    assert len([x for x in lines if x.startswith("kafka_consumer_fetch_manager_records_lag{")]) == 1


def test_every_group_has_a_checkpoint_latency_of_its_own() -> None:
    """In MM2 one sensor serves all groups of a task."""
    (flow,) = SNAPSHOT.flows
    assert flow.groups is not None
    first = flow.groups.latencies["my:group", "us.orders", 0]
    both = {("a", "us.orders", 0): first, ("b", "us.orders", 0): first._replace(last=9.0)}
    snapshot = replace(
        SNAPSHOT, flows=(replace(flow, groups=replace(flow.groups, latencies=both)),)
    )
    text = expose(snapshot, MetricsConfig()).text.decode()

    values = re.findall(rf'^{CHECKPOINT}_checkpoint_latency_ms{{group="(.)".*}} (.+)$', text, re.M)
    assert dict(values) == {"a": "10.0", "b": "9000.0"}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("MirrorSourceConnector", "MirrorSourceConnector"),
        ("mm2-offset.syncs 1%", "mm2-offset.syncs 1%"),
        ("us->eu", '"us->eu"'),
        ("a|b", '"a|b"'),
        ("a:b", '"a:b"'),
        ('a"b*', '"a\\"b\\*"'),
    ],
)
def test_values_are_quoted_as_jmx_quotes_them(value: str, shown: str) -> None:
    assert quoted(value) == shown
