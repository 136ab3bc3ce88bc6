"""Internal topics on real brokers: written with acknowledgement, followed to their end again and again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from heliograph.client.fetch.log_tail import LogTail
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.record_writer import RecordWriter
from heliograph.embedded import Cluster
from heliograph.errors import BrokerError
from heliograph.records.decode import Record
from support.clusters.grouping import client
from support.clusters.reading import read_all
from support.clusters.writing import New, Writer, admin, create_topics, delete_records, write
from support.waiting import PATIENCE_SECONDS, eventually


@pytest.fixture
def cluster(target_cluster: Cluster) -> Iterator[ClusterClient]:
    with client(target_cluster) as made:
        yield made


def values(records: list[Record]) -> list[bytes | None]:
    return [record.value for record in records]


def test_a_tail_brings_what_is_new_each_time(
    target_cluster: Cluster, cluster: ClusterClient
) -> None:
    create_topics(target_cluster, {"tailed": 1})
    tail = LogTail(cluster, "tailed")

    assert tail.read_new() == []
    write(target_cluster, "tailed", [New(b"1"), New(b"2")])
    assert values(tail.read_new()) == [b"1", b"2"]
    assert tail.read_new() == []
    write(target_cluster, "tailed", [New(b"3")])
    assert values(tail.read_new()) == [b"3"]
    assert not tail.restarted
    assert not tail.missing


def test_a_tail_waits_for_its_topic_and_notices_when_it_is_created_again(
    target_cluster: Cluster, cluster: ClusterClient
) -> None:
    tail = LogTail(cluster, "reborn")
    assert tail.read_new() == []
    assert tail.missing

    create_topics(target_cluster, {"reborn": 1})
    write(target_cluster, "reborn", [New(b"old")])
    assert values(eventually(tail.read_new, bool)) == [b"old"]
    assert not tail.restarted

    deleting = admin(target_cluster)
    deleting.delete_topics(["reborn"])["reborn"].result(PATIENCE_SECONDS)
    eventually(lambda: "reborn" in cluster.refresh(["reborn"]).partitions, lambda there: not there)
    create_topics(target_cluster, {"reborn": 1})
    write(target_cluster, "reborn", [New(b"new"), New(b"newer")])  # longer than it was before

    assert values(tail.read_new()) == [b"new", b"newer"]
    assert tail.restarted


def test_a_tail_never_sees_what_was_aborted_or_is_open(
    target_cluster: Cluster, cluster: ClusterClient
) -> None:
    create_topics(target_cluster, {"undecided": 1})
    tail = LogTail(cluster, "undecided")
    writer = Writer(target_cluster, "undecided", transactional="undecided")
    writer.begin()
    writer.batch([New(b"aborted")])
    writer.abort()
    writer.begin()
    writer.batch([New(b"committed")])

    assert tail.read_new() == []
    writer.commit()
    assert values(eventually(tail.read_new, bool)) == [b"committed"]


def test_a_tail_goes_on_where_the_log_now_starts(
    target_cluster: Cluster, cluster: ClusterClient
) -> None:
    create_topics(target_cluster, {"trimmed": 1})
    tail = LogTail(cluster, "trimmed")
    write(target_cluster, "trimmed", [New(b"0"), New(b"1"), New(b"2")])
    delete_records(target_cluster, "trimmed", 2)

    assert values(tail.read_new()) == [b"2"]


def test_a_writer_waits_until_all_partitions_have_their_records(
    target_cluster: Cluster, cluster: ClusterClient
) -> None:
    create_topics(target_cluster, {"written": 3})
    writer = RecordWriter(cluster, "written")
    large = [Record(timestamp=n, key=b"%d" % n, value=bytes(100_000)) for n in range(12)]

    writer.write({0: large, 2: [Record(timestamp=5, key=b"k", value=None)]})
    cluster.refresh(["undecided"])  # another user of the client has asked for other topics since
    writer.write({2: [Record(timestamp=6, key=b"k", value=b"v")]})

    found = read_all(target_cluster, "written")
    assert [r.key for r in found[0]] == [b"%d" % n for n in range(12)]
    assert [(r.timestamp, r.key, r.value) for r in found[2]] == [(5, b"k", None), (6, b"k", b"v")]
    assert writer.partitions() == 3


def test_a_writer_says_what_was_refused_and_can_go_on(
    target_cluster: Cluster, cluster: ClusterClient
) -> None:
    create_topics(target_cluster, {"small": 1}, configs={"max.message.bytes": "1000"})
    writer = RecordWriter(cluster, "small")

    with pytest.raises(BrokerError, match="small-0"):
        writer.write({0: [Record(timestamp=0, key=b"k", value=bytes(5000))]})
    writer.write({0: [Record(timestamp=0, key=b"k", value=b"v")]})

    assert [r.value for r in read_all(target_cluster, "small")[0]] == [b"v"]


def test_a_writer_gives_up_on_a_topic_that_does_not_come(cluster: ClusterClient) -> None:
    writer = RecordWriter(cluster, "never-there")

    with pytest.raises(BrokerError, match="never-there-0"):
        writer.write({0: [Record(timestamp=0, key=None, value=b"v")]}, patience=0.5)
