"""Kafka's own Connect worker and ours take over from each other, on the same topics."""

from __future__ import annotations

from heliograph.mm2.connect.configs import (
    SessionKeyRecord,
    TaskConfigRecord,
    TasksCommitRecord,
    read_config_record,
)
from heliograph.mm2.connect.status import read_status_record
from heliograph.mm2.malformed import Malformed
from support.clusters.reading import offsets, read_all, topics_of
from support.clusters.writing import numbered, write
from support.flows.mirroring import Flow
from support.java.connect_worker import java_worker
from support.rest.workers import connector, worker, worker_properties
from support.waiting import eventually

_AT_ONCE = 100
_TIME_TO_STOP = {
    "task.shutdown.graceful.timeout.ms": "30000",
    "offset.flush.timeout.ms": "30000",
    "scheduled.rebalance.max.delay.ms": "0",
}


def mirror(flow: Flow, topic: str, share: int) -> None:
    """Write another share of records, and wait until it is on the target."""
    write(flow.source, topic, numbered(range(share * _AT_ONCE, (share + 1) * _AT_ONCE)))
    eventually(
        lambda: (
            flow.remote(topic) in topics_of(flow.target)
            and offsets(flow.target, flow.remote(topic))[1]
        ),
        lambda end: end >= (share + 1) * _AT_ONCE,
    )


def assert_javas_records_are_ours(flow: Flow, properties: dict[str, str]) -> None:
    """Golden: what Java has written is understood, and would be written so by us."""
    kinds = set()
    for record in read_all(flow.target, properties["config.storage.topic"])[0]:
        found = read_config_record(record.key, record.value)
        assert not isinstance(found, Malformed), (found, record)
        kinds.add(type(found))
        if not isinstance(found, SessionKeyRecord):
            assert (found.key(), found.value()) == (record.key, record.value)
    assert {TaskConfigRecord, TasksCommitRecord} <= kinds
    by_partition = read_all(flow.target, properties["status.storage.topic"])
    statuses = [record for records in by_partition.values() for record in records]
    assert statuses
    for record in statuses:
        status = read_status_record(record.key, record.value)
        assert not isinstance(status, Malformed), (status, record)
        assert (status.key(), status.value()) == (record.key, record.value)


def test_java_and_we_take_over_from_each_other_without_loss_or_doubles(flow: Flow) -> None:
    topic = flow.create("orders")
    properties = worker_properties(flow) | _TIME_TO_STOP
    with java_worker(properties, flow.folder) as java:
        config = connector(flow, "Source") | {"name": "msc"}
        assert java.ask("PUT", "/connectors/msc/config", config)[0] == 201
        assert java.ask("PUT", "/connectors/hbc/config", connector(flow, "Heartbeat"))[0] == 201
        java.await_running("msc", tasks=1)
        assert java.ask("PUT", "/connectors/hbc/pause")[0] == 202
        mirror(flow, topic, 0)
    assert_javas_records_are_ours(flow, properties)

    with worker(flow) as ours:
        assert sorted(ours.herder.connectors()) == ["hbc", "msc"]
        assert ours.herder.config("msc") == config
        ours.await_state("msc", "RUNNING", tasks=1)
        ours.await_state("hbc", "PAUSED", tasks=1)
        mirror(flow, topic, 1)
        ours.create("cpc", connector(flow, "Checkpoint"), "STOPPED")
        ours.await_state("cpc", "STOPPED", tasks=0)

    with java_worker(properties, flow.folder) as java:
        assert sorted(java.ask("GET", "/connectors")[1]) == ["cpc", "hbc", "msc"]
        java.await_running("msc", tasks=1)
        assert java.ask("GET", "/connectors/cpc/status")[1]["connector"]["state"] == "STOPPED"
        mirror(flow, topic, 2)

    values = [record.value for record in read_all(flow.target, flow.remote(topic))[0]]
    assert values == [record.value for record in numbered(range(3 * _AT_ONCE))]
