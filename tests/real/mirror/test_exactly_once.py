"""Exactly once: records and offsets in one transaction, zombies fenced, nothing seen of what was aborted."""

from __future__ import annotations

import threading

import pytest

from heliograph.client.produce.transactions import Coordinator
from heliograph.errors import Fenced
from heliograph.mm2.connect.offsets import source_offset_key, source_offset_value
from heliograph.model import PartitionState, TopicPartition
from support.clusters.grouping import client
from support.clusters.reading import offsets, read_all
from support.clusters.writing import New, Writer, create_topics, numbered
from support.flows.mirroring import TARGET, Flow
from support.flows.transacting import COMMITTED, ENABLED, lease_of, stored, task, visible
from support.waiting import eventually


def test_records_and_their_offsets_are_committed_together(flow: Flow) -> None:
    topic = flow.create(partitions=3)
    for number in range(3):
        Writer(flow.source, topic).batch(numbered(range(100), partition=number))
    aborted = Writer(flow.source, topic, transactional=flow.alias)
    aborted.begin()
    aborted.batch(numbered(range(100, 150)))
    aborted.abort()

    first = flow.mirror_once(ENABLED, **COMMITTED)
    positions = stored(flow)
    Writer(flow.source, topic).batch(numbered(range(200, 230)))
    second = flow.mirror_once(ENABLED, **COMMITTED)

    assert (first.records, second.records) == (300, 30)
    assert flow.assert_mirrored(topic) == 330
    assert positions == {
        TopicPartition(topic, 0): 151,  # behind the marker of what was aborted
        TopicPartition(topic, 1): 100,
        TopicPartition(topic, 2): 100,
    }
    assert stored(flow)[TopicPartition(topic, 0)] == 181
    assert offsets(flow.target, flow.remote(topic), 1)[1] > 100  # the commit takes an offset


def test_a_marker_that_was_written_once_more_is_no_strangers_but_a_record_is(flow: Flow) -> None:
    """A coordinator that takes over writes the markers of a decided transaction again. Here it is that of a
    transaction without records."""
    topic = flow.create()
    remote = TopicPartition(flow.remote(topic), 0)
    create_topics(flow.target, {remote.topic: 1, flow.offsets_topic: 5})
    write = Writer(flow.source, topic).batch

    with task(flow.config(ENABLED, **COMMITTED), lease_of(flow, topic, 0)) as running:
        write(numbered(range(3)))
        eventually(lambda: running.receipt(topic).position, lambda at: at == 3)
        with client(flow.target, TARGET) as other:
            coordinator = Coordinator(other, f"{flow.alias}-other", timeout_ms=10_000)
            identity = coordinator.init()
            coordinator.add(identity, [remote])
            coordinator.end(identity, commit=True, version=1)
        write(numbered(range(3, 6)))
        eventually(lambda: running.receipt(topic).position, lambda at: at == 6)
        Writer(flow.target, remote.topic).batch([New(b"somebody else's")] * 4)
        write(numbered(range(6, 9)))
        eventually(lambda: running.receipt(topic).foreign, lambda others: others == 4)

    assert running.failure is None
    assert visible(flow, topic) == 13


@pytest.mark.parametrize("version", [1, 2])
def test_a_zombie_is_fenced_and_its_successor_goes_on_where_it_had_committed(
    flow: Flow, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Version 1 of transactions by a client that does not speak the second."""
    if version == 1:
        monkeypatch.setattr(Coordinator, "version", lambda self: 1)
    topic = flow.create()
    create_topics(flow.target, {flow.remote(topic): 1, flow.offsets_topic: 5})
    mirror = flow.config(ENABLED, **COMMITTED)
    writer = Writer(flow.source, topic)

    with task(mirror, lease_of(flow, topic, 0)) as zombie:
        for start in range(0, 500, 100):
            writer.batch(numbered(range(start, start + 100)))
            eventually(
                lambda: zombie.receipt(topic).position, lambda at, end=start + 100: at == end
            )
        assert stored(flow)[TopicPartition(topic, 0)] == 500
        assert zombie.transaction.version == version
        with task(mirror, lease_of(flow, topic, 500)) as successor:
            writer.batch(numbered(range(500, 600)))
            eventually(lambda: successor.receipt(topic).position, lambda at: at == 600)
            eventually(lambda: zombie.failure, lambda e: e is not None)

    assert isinstance(zombie.failure, Fenced)
    assert zombie.receipt(topic).position == 500
    assert successor.failure is None
    assert flow.assert_mirrored(topic) == 600
    receipt = successor.receipt(topic)
    assert (receipt.state, receipt.foreign) == (PartitionState.RUNNING, 0)


@pytest.mark.parametrize("version", [1, 2])
def test_a_refused_batch_leaves_nothing_to_be_seen_and_holds_up_no_other_partition(
    flow: Flow, version: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    if version == 1:
        monkeypatch.setattr(Coordinator, "version", lambda self: 1)
    good, bad = flow.create("good"), flow.create("bad")
    create_topics(flow.target, {flow.offsets_topic: 5, flow.remote(good): 1})
    recent = {"message.timestamp.before.max.ms": "3600000"}
    create_topics(flow.target, {flow.remote(bad): 1}, configs=recent)
    mirror = flow.config(ENABLED, **COMMITTED)
    writer = Writer(flow.source, good)
    for start in range(0, 300, 100):
        writer.batch(numbered(range(start, start + 100)))
    old = Writer(flow.source, bad)
    old.batch([New(value=b"taken", key=b"now")])
    old.batch([New(value=b"refused", key=b"1970", timestamp=1000)])
    old.batch([New(value=b"behind it", key=b"now")])

    with task(mirror, lease_of(flow, good, 0), lease_of(flow, bad, 0)) as running:
        failed = eventually(
            lambda: running.receipt(bad), lambda r: r.state is PartitionState.FAILED
        )
        eventually(lambda: running.receipt(good).position, lambda at: at == 300)
        writer.batch(numbered(range(300, 400)))
        eventually(lambda: running.receipt(good).position, lambda at: at == 400)

    assert running.failure is None
    assert "INVALID_TIMESTAMP" in (failed.error or "")
    assert "source offset 1" in (failed.error or "")
    assert flow.assert_mirrored(good, target_isolation="read_committed") == 400
    assert running.receipt(good).foreign == 0
    found = read_all(flow.target, flow.remote(bad))[0]
    assert [record.value for record in found] in ([], [b"taken"])
    assert "transaction aborted" in caplog.text
    assert stored(flow)[TopicPartition(good, 0)] == 400
    assert stored(flow).get(TopicPartition(bad, 0), 0) == len(found)


def test_a_transaction_is_committed_when_data_stops_whatever_the_interval(flow: Flow) -> None:
    topic = flow.create()
    settings = {
        **ENABLED,
        f"{flow.name}.transaction.boundary": "interval",
        f"{flow.name}.producer.override.transaction.timeout.ms": "3000",
    }

    with flow.running(settings, **COMMITTED) as mirror:
        Writer(flow.source, topic).batch(numbered(range(100)))
        eventually(lambda: visible(flow, topic), lambda records: records == 100)
        mirror.wait_for_records(100)
        assert stored(flow) == {TopicPartition(topic, 0): 100}


def test_offsets_stored_behind_an_open_transaction_are_waited_for(flow: Flow) -> None:
    """Were they missed, their records would be mirrored twice."""
    create_topics(flow.target, {flow.offsets_topic: 1})
    config = flow.config(ENABLED, **COMMITTED).flows[0]
    other = Writer(flow.target, flow.offsets_topic, transactional=f"{flow.alias}-other")
    other.begin()
    other.batch([New(key=b"[]", value=b"{}")])
    key = source_offset_key(config.connector_name, config.source, "orders", 0)
    mine = Writer(flow.target, flow.offsets_topic)
    mine.batch([New(key=key, value=source_offset_value(41))])
    ending = threading.Timer(0.5, other.abort)
    ending.start()

    assert stored(flow) == {TopicPartition("orders", 0): 42}
    ending.join()
