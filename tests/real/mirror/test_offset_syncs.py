"""Offset syncs as MM2's readers find them, in both places, and with a topic that cannot be written."""

from __future__ import annotations

import pytest

from heliograph.embedded import Cluster
from heliograph.mm2.offset_sync import ORIGIN_HEADER, OffsetSync, read_offset_sync
from heliograph.mm2.sync_store import OffsetSyncStore
from heliograph.model import TopicPartition
from support.clusters.reading import read_all, topics_of
from support.clusters.writing import Writer, create_topics, numbered, write
from support.flows.mirroring import TARGET, Flow, load_properties, mirror_once
from support.waiting import eventually

COMPACT = {"cleanup.policy": "compact"}


def syncs_topic(flow: Flow, location: str) -> tuple[Cluster, str]:
    if location == "source":
        return flow.source, f"mm2-offset-syncs.{TARGET}.internal"
    return flow.target, f"mm2-offset-syncs.{flow.alias}.internal"


def at(flow: Flow, location: str) -> dict[str, str]:
    return {f"{flow.name}.offset-syncs.topic.location": location}


def read_syncs(cluster: Cluster, name: str, topic: str) -> list[OffsetSync]:
    found = []
    for record in read_all(cluster, name)[0]:
        sync = read_offset_sync(record.key, record.value)
        assert isinstance(sync, OffsetSync), sync
        if sync.topic == topic:  # other tests write to it, too
            # Beyond MM2, and nothing that its readers look at.
            assert [name for name, _ in record.headers] == [ORIGIN_HEADER.decode()]
            found.append(sync)
    return found


@pytest.mark.parametrize("location", ["source", "target"])
def test_syncs_say_where_records_are(flow: Flow, location: str) -> None:
    """MirrorSourceTaskTest.testSendSyncEvent"""
    cluster, name = syncs_topic(flow, location)
    topic = flow.create(partitions=2)
    create_topics(flow.target, {flow.remote(topic): 2})
    write(flow.target, flow.remote(topic), numbered(range(7)))  # so that offsets differ
    write(flow.source, topic, *(numbered(range(n, n + 150)) for n in range(0, 600, 150)))

    flow.mirror_once(at(flow, location))

    syncs = read_syncs(cluster, name, topic)
    assert syncs
    assert all(sync.downstream == sync.upstream + 7 for sync in syncs)
    assert {sync.partition for sync in syncs} == {0}, "no sync without a record"
    # With the last commit, the last record's sync is there: nobody is left behind by more than that.
    store = OffsetSyncStore(must_read_to_end=True)
    for sync in syncs:
        store.apply(sync)
    store.reached_end()
    assert store.translate(TopicPartition(topic, 0), 600) == 607


def test_a_partition_that_goes_on_gets_more_syncs_while_it_does(flow: Flow) -> None:
    cluster, name = syncs_topic(flow, "target")
    topic = flow.create()
    write(flow.source, topic, numbered(range(10)))

    with flow.running(at(flow, "target"), offset_lag_max="0") as mirror:
        mirror.wait_for_records(10)
        eventually(lambda: read_syncs(cluster, name, topic), lambda syncs: syncs[-1:] != [])
        write(flow.source, topic, numbered(range(10, 25)))
        last = eventually(
            lambda: read_syncs(cluster, name, topic), lambda syncs: syncs[-1].upstream == 24
        )[-1]

    assert last == OffsetSync(topic, 0, 24, 24)


def test_a_marker_in_the_source_makes_a_sync(flow: Flow) -> None:
    """Upstream offsets were skipped: without a sync, readers would be ahead of the truth."""
    cluster, name = syncs_topic(flow, "target")
    topic = flow.create()
    writer = Writer(flow.source, topic, transactional=flow.alias)
    for start in (0, 10, 20):
        writer.begin()
        writer.batch(numbered(range(start, start + 10)))
        writer.commit()

    flow.mirror_once(at(flow, "target"))

    assert read_syncs(cluster, name, topic)[-1] == OffsetSync(topic, 0, 31, 29)


def test_a_missing_syncs_topic_is_said_once_and_does_not_hold_up_the_copy(
    flow: Flow, caplog: pytest.LogCaptureFixture
) -> None:
    cluster, name = syncs_topic(flow, "target")
    topic = flow.create()
    write(flow.source, topic, numbered(range(1000)))
    refused = {"offset-syncs.topic.replication.factor": "3"}  # of one broker: it is not created

    with flow.running(at(flow, "target") | refused, offset_lag_max="0") as mirror:
        mirror.wait_for_records(1000)
        write(flow.source, topic, numbered(range(1000, 1100)))
        mirror.wait_for_records(1100)
        said = eventually(lambda: caplog.text.count(f"{name}: UNKNOWN_TOPIC"), lambda n: n > 0)
        create_topics(cluster, {name: 1}, configs=COMPACT)
        eventually(
            lambda: read_syncs(cluster, name, topic),
            lambda syncs: bool(syncs) and syncs[-1].upstream == 1099,
        )

    assert said == 1
    assert "offset syncs: writing succeeds again after" in caplog.text
    assert flow.assert_mirrored(topic) == 1100


def test_no_syncs_are_written_where_none_are_wanted(flow: Flow) -> None:
    cluster, name = syncs_topic(flow, "target")
    write(flow.source, flow.create(), numbered(range(10)))

    written = flow.properties() | {f"{flow.name}.emit.offset-syncs.enabled": "false"}
    del written["offset-syncs.topic.replication.factor"]
    assert mirror_once(flow.spark, load_properties(flow.folder, written)).good

    assert name not in topics_of(cluster)
