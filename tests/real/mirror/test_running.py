"""A mirror that runs on: what changes on the clusters meanwhile is noticed and followed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psutil

from heliograph.embedded import Cluster
from heliograph.spark.session import LocalSpark
from support.clusters.reading import assert_mirrored, offsets, read_all, topics_of
from support.clusters.writing import add_partitions, admin, create_topics, numbered, write
from support.flows.mirroring import Flow, Running, load_properties, mirror_once, new_alias
from support.flows.under_load import wait_for_all_values, writing
from support.waiting import PATIENCE_SECONDS, eventually

#: Short, but long enough that tasks on a busy machine copy something before it ends.
EPOCH_SECONDS = "3"


def leader(cluster: Cluster, topic: str, partition: int = 0) -> int:
    client = admin(cluster)
    return int(
        client.list_topics(topic, timeout=PATIENCE_SECONDS)
        .topics[topic]
        .partitions[partition]
        .leader
    )


def test_a_topic_created_while_running_is_mirrored_after_a_refresh(flow: Flow) -> None:
    first = flow.create("first")
    write(flow.source, first, numbered(range(3)))

    with flow.running(refresh_topics_interval_seconds="1") as mirror:
        mirror.wait_for_records(3)
        second = flow.create("second", partitions=2)
        write(flow.source, second, numbered(range(3)), numbered(range(4), partition=1))
        mirror.wait_for_records(10)

    assert flow.assert_mirrored(first, second) == 10


def test_a_mirror_without_any_topic_waits_for_the_first_one(flow: Flow) -> None:
    with flow.running(refresh_topics_interval_seconds="1") as mirror:
        eventually(lambda: topics_of(flow.target), lambda names: flow.offsets_topic in names)
        topic = flow.create()
        write(flow.source, topic, numbered(range(3)))
        mirror.wait_for_records(3)
        epochs = mirror.progress.epoch

    assert flow.assert_mirrored(topic) == 3
    assert epochs <= 2, "epochs without a partition follow each other in a busy loop"


def test_partitions_added_while_running_are_mirrored_from_their_beginning(flow: Flow) -> None:
    topic = flow.create(partitions=1)
    write(flow.source, topic, numbered(range(3)))

    with flow.running(refresh_topics_interval_seconds="1") as mirror:
        mirror.wait_for_records(3)
        add_partitions(flow.source, topic, 3)
        write(flow.source, topic, numbered(range(3, 5)), numbered(range(6), partition=2))
        mirror.wait_for_records(11)

    assert flow.assert_mirrored(topic) == 11
    assert sorted(read_all(flow.target, flow.remote(topic))) == [0, 1, 2]


def test_records_arrive_in_the_epoch_in_which_they_were_written(flow: Flow) -> None:
    """How soon: the latency of `make bench`."""
    topic = flow.create()
    write(flow.source, topic, numbered(range(1)))

    with flow.running() as mirror:
        mirror.wait_for_records(1)
        epoch = mirror.progress.epoch
        write(flow.source, topic, numbered(range(1, 2)))
        eventually(lambda: offsets(flow.target, flow.remote(topic)), lambda found: found[1] == 2)
        assert (mirror.progress.epoch, mirror.progress.restarts) == (epoch, 0)


def test_an_epoch_ends_when_asked_and_leaves_nothing_to_copy_again(flow: Flow) -> None:
    topic = flow.create(partitions=8)
    write(flow.source, topic, [r for p in range(8) for r in numbered(range(5), partition=p)])

    with flow.running() as mirror:
        mirror.wait_for_records(40)
        outcome = mirror.stop()

    assert outcome.records == 40
    assert flow.mirror_once().records == 0
    assert flow.assert_mirrored(topic) == 40


def connections_of_workers(cluster: Cluster) -> set[tuple[int, int]]:
    """(process, local port) of every connection from Spark's Python workers to this cluster's broker."""
    port = int(cluster.bootstrap_servers.rpartition(":")[2])
    found = set()
    for process in psutil.Process().children(recursive=True):
        try:
            if "pyspark" not in " ".join(process.cmdline()):
                continue
            for connection in process.net_connections("tcp"):
                if connection.raddr and connection.raddr.port == port:
                    found.add((process.pid, connection.laddr.port))
        except psutil.NoSuchProcess:
            continue
    return found


def test_connections_survive_from_one_epoch_to_the_next(flow: Flow) -> None:
    topic = flow.create(partitions=8)
    write(flow.source, topic, [r for p in range(8) for r in numbered(range(5), partition=p)])

    with flow.running({"epoch.seconds": EPOCH_SECONDS}) as mirror:
        mirror.wait_for_records(40)
        # Offsets and ranges are first written when the first epoch ends, by each worker.
        epoch = mirror.progress.epoch + 3
        eventually(lambda: mirror.progress.epoch, lambda now: now >= epoch)
        before = connections_of_workers(flow.target), connections_of_workers(flow.source)
        eventually(lambda: mirror.progress.epoch, lambda now: now >= epoch + 2)
        write(flow.source, topic, [r for p in range(8) for r in numbered(range(5), partition=p)])
        mirror.wait_for_records(80)
        after = connections_of_workers(flow.target), connections_of_workers(flow.source)

    assert all(before)
    assert before[0] <= after[0], "connections to the target were closed"
    assert before[1] <= after[1], "connections to the source were closed"
    assert len(after[0]) <= len(before[0]) + 2, "an epoch opens connections of its own"


def test_leaders_may_move_while_epochs_change_and_nothing_is_lost(
    three_brokers: Cluster, source_cluster: Cluster, spark: LocalSpark, tmp_path: Path
) -> None:
    """Without changes of epoch, on either side, and counted: make chaos"""
    flow = Flow(new_alias("leaders_and_epochs"), source_cluster, three_brokers, spark, tmp_path)
    topic = flow.create(partitions=3)
    extra = {
        "replication.factor": "3",
        "offset.storage.replication.factor": "3",
        "epoch.seconds": EPOCH_SECONDS,
    }

    with flow.running(extra) as mirror:
        move_leaders(mirror, three_brokers, flow, topic)
        wait_for_all_values(flow, topic, 3)


def move_leaders(mirror: Running, three: Cluster, flow: Flow, topic: str) -> None:
    """Stop and start the target's broker that leads partition 0 while a producer writes to the source."""
    remote = flow.remote(topic)
    with writing(flow.source, topic, 3):
        mirror.wait_for_records(50)
        first = leader(three, remote)
        three.stop_node(first)
        try:
            eventually(lambda: leader(three, remote), lambda now: now not in (first, -1))
            copied = mirror.progress.records
            mirror.wait_for_records(copied + 100)
        finally:
            three.start_node(first)
        copied = mirror.progress.records
        mirror.wait_for_records(copied + 50)


def test_two_flows_into_one_target_go_side_by_side(
    source_cluster: Cluster,
    three_brokers: Cluster,
    target_cluster: Cluster,
    spark: LocalSpark,
    tmp_path: Path,
) -> None:
    flows = [
        Flow(new_alias("two_flows"), cluster, target_cluster, spark, tmp_path)
        for cluster in (source_cluster, three_brokers)
    ]
    topics = [flow.create(partitions=2) for flow in flows]
    for flow, topic, count in zip(flows, topics, (10, 20), strict=True):
        write(flow.source, topic, numbered(range(count)), numbered(range(count), partition=1))
    both = flows[0].properties() | flows[1].properties()
    both["clusters"] = f"{flows[0].alias}, {flows[1].alias}, b"

    outcome = mirror_once(spark, load_properties(tmp_path, both))

    assert outcome.good, outcome
    assert outcome.records == 60
    for flow, topic in zip(flows, topics, strict=True):
        assert assert_mirrored(flow.source, flow.target, {topic: flow.remote(topic)}) > 0
        assert flow.offsets_topic in topics_of(flow.target)


def test_excluded_topics_are_not_mirrored(flow: Flow) -> None:
    wanted, excluded = flow.create("wanted"), flow.create("not-this")
    for topic in (wanted, excluded):
        write(flow.source, topic, numbered(range(3)))
    # What a mirror of the other direction brought, and what is internal to Kafka or MM2:
    create_topics(flow.source, {f"b.{flow.alias}-back": 1, f"{flow.alias}-x.replica": 1})

    outcome = flow.mirror_once(
        topics=f".*{flow.alias}-.*",
        topics_exclude=r".*-not-this, .*\.replica, __.*, mm2.*\.internal",
    )

    assert outcome.records == 3
    found = {name for name in topics_of(flow.target) if flow.alias in name}
    assert {name for name in found if not name.endswith(".internal")} == {flow.remote(wanted)}


def test_sparks_ui_names_the_query_and_describes_the_job_of_an_epoch(flow: Flow) -> None:
    topic = flow.create()
    write(flow.source, topic, numbered(range(3)))

    with flow.running() as mirror:
        mirror.wait_for_records(3)
        session = flow.spark.session()
        (query,) = session.streams.active
        jobs = eventually(
            lambda: [
                job.description().get()
                for job in _jobs(session)
                if job.description().isDefined() and flow.name in job.description().get()
            ],
            bool,
        )

    assert query.name.startswith("heliograph copy ")
    assert jobs[0].startswith("heliograph epoch ")
    assert jobs[0].endswith(f": {flow.name}; 1 partition")


def _jobs(session: Any) -> list[Any]:
    """As Spark's UI has them, which is off."""
    store = session.sparkContext._jsc.sc().statusStore()
    found = store.jobsList(None)
    return [found.apply(number) for number in range(found.size())]
