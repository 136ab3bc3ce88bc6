"""We read what a real Java MirrorMaker 2 wrote: checkpoints, heartbeats, offset syncs, Connect offsets.

One run of MM2, active/active, for all tests here. It is over when they start, so that nothing moves
between two answers.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, TopicPartition

from heliograph import MirrorClient
from heliograph.embedded import Cluster
from heliograph.mm2.checkpoint import Checkpoint, read_checkpoint
from heliograph.mm2.heartbeat import Heartbeat, read_heartbeat
from heliograph.mm2.offset_sync import OffsetSync, read_offset_sync
from support.clusters.reading import read_all
from support.clusters.writing import admin, create_topics, numbered, write
from support.flows.mirroring import new_alias
from support.java.mirror_maker import java_mirror_maker, tail
from support.java.oracle import Oracle
from support.waiting import PATIENCE_SECONDS, eventually

_PARTITIONS = 3
_RECORDS = 250  # of each partition; the groups have read them all, where MM2 translates exactly
_SECOND = (
    "emit.checkpoints",
    "emit.heartbeats",
    "refresh.groups",
    "refresh.topics",
    "sync.topic.configs",
)
_ONE_BROKER = (
    *("offset.storage", "config.storage", "status.storage"),
    *("offset-syncs.topic", "checkpoints.topic", "heartbeats.topic"),
)


class Pair:
    """Two clusters that mirror each other, each with a topic and a group of its own."""

    def __init__(self, left: Cluster, right: Cluster) -> None:
        self.clusters = {new_alias("java-left"): left, new_alias("java-right"): right}
        self.left, self.right = self.clusters
        for alias, cluster in self.clusters.items():
            create_topics(cluster, {self.topic(alias): _PARTITIONS})
            write(
                cluster,
                self.topic(alias),
                *(numbered(range(_RECORDS), partition=p) for p in range(_PARTITIONS)),
            )
            _commit(cluster, self.group(alias), self.topic(alias))

    def topic(self, alias: str) -> str:
        return f"{alias}-orders"

    def group(self, alias: str) -> str:
        return f"{alias}-readers"

    def other(self, alias: str) -> str:
        return self.right if alias == self.left else self.left

    def properties(self) -> dict[str, str]:
        settings = {
            "clusters": f"{self.left}, {self.right}",
            "replication.factor": "1",
            "offset.lag.max": "10",
            **{f"{name}.replication.factor": "1" for name in _ONE_BROKER},
            **{f"{name}.interval.seconds": "1" for name in _SECOND},
        }
        for alias, cluster in self.clusters.items():
            flow = f"{alias}->{self.other(alias)}"
            settings |= {
                f"{alias}.bootstrap.servers": cluster.bootstrap_servers,
                f"{alias}.offset.flush.interval.ms": "1000",
                f"{flow}.enabled": "true",
                f"{flow}.topics": self.topic(alias),
                f"{flow}.groups": self.group(alias),
            }
        return settings

    def is_complete(self) -> bool:
        """Checkpoints of all partitions as far as the group has come, and heartbeats, both ways."""
        for alias in self.clusters:
            target = self.clusters[self.other(alias)]
            with MirrorClient({"bootstrap.servers": target.bootstrap_servers}) as client:
                topics = client.heartbeat_topics() | client.checkpoint_topics()
                if not {f"{alias}.heartbeats", f"{alias}.checkpoints.internal"} <= topics:
                    return False
                found = client.checkpoints(alias, self.group(alias))
            if not read_all(target, f"{alias}.heartbeats")[0]:  # the topic comes first
                return False
            if [each.downstream for each in found] != [_RECORDS] * _PARTITIONS:
                return False
        return True


def _commit(cluster: Cluster, group: str, topic: str) -> None:
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": group})
    wanted = [
        TopicPartition(topic, number, _RECORDS, metadata=f"größe {number}")
        for number in range(_PARTITIONS)
    ]
    consumer.commit(offsets=wanted, asynchronous=False)
    consumer.close()


@pytest.fixture(scope="module")
def pair(
    source_cluster: Cluster,
    target_cluster: Cluster,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Pair]:
    pair = Pair(source_cluster, target_cluster)
    with java_mirror_maker(pair.properties(), tmp_path_factory.mktemp("mm2")) as log:
        eventually(lambda: (pair.is_complete(), tail(log)), lambda state: state[0])
    yield pair
    for (
        alias,
        cluster,
    ) in pair.clusters.items():  # or other flows of the shared clusters mirror them
        stray = ["heartbeats", f"{pair.other(alias)}.heartbeats"]
        client = admin(cluster)
        for deleted in client.delete_topics(stray, operation_timeout=PATIENCE_SECONDS).values():
            deleted.result(PATIENCE_SECONDS)


def both_ways(pair: Pair) -> list[tuple[str, Cluster]]:
    return [(alias, pair.clusters[pair.other(alias)]) for alias in pair.clusters]


def test_our_client_gives_the_answers_of_javas(pair: Pair, oracle: Oracle) -> None:
    for alias, target in both_ways(pair):
        properties = {"bootstrap.servers": target.bootstrap_servers}
        group = pair.group(alias)

        theirs = oracle.ask(
            "cluster", properties=properties, alias=alias, groups=[group], pattern=".*-readers"
        )

        with MirrorClient(properties) as client:
            one = client.translate_offsets(alias, group)
            many = client.translate_offsets(alias, groups=".*-readers")
            ours = {str(partition): list(offset) for partition, offset in one.items()}
            assert ours == theirs["group"][group] == theirs["pattern"][group]
            assert many == {group: one}
            assert client.upstream_clusters() == set(theirs["upstream_clusters"])
            assert client.replication_hops(alias) == theirs["replication_hops"] == 1
            assert client.remote_topics(alias) == set(theirs["remote_topics_of_alias"])
            assert client.malformed == 0
        # confluent-kafka commits the zero byte that ends a C string, too
        metadata = [offset.metadata.rstrip("\0") for _, offset in sorted(one.items())]
        assert metadata == [f"größe {number}" for number in range(_PARTITIONS)]


def test_every_record_of_java_is_understood_and_written_back_byte_for_byte(pair: Pair) -> None:
    for alias, target in both_ways(pair):
        source = pair.clusters[alias]
        logs = {
            Checkpoint: (read_checkpoint, target, f"{alias}.checkpoints.internal"),
            Heartbeat: (read_heartbeat, target, f"{alias}.heartbeats"),
            OffsetSync: (
                read_offset_sync,
                source,
                f"mm2-offset-syncs.{pair.other(alias)}.internal",
            ),
        }
        for kind, (read, cluster, topic) in logs.items():
            records = read_all(cluster, topic)[0]
            assert records
            for record in records:
                found = read(record.key, record.value)
                assert isinstance(found, kind)
                assert (found.key(), found.value()) == (record.key, record.value)


def test_dump_understands_connects_offsets_as_java_wrote_them(pair: Pair) -> None:
    alias, target = both_ways(pair)[0]
    topic = f"mm2-offsets.{alias}.internal"

    dumped = subprocess.run(
        [
            *(sys.executable, "-m", "heliograph", "dump", "offsets", "--source", alias),
            *("--bootstrap-server", target.bootstrap_servers),
        ],
        capture_output=True,
        text=True,
    )

    assert (dumped.returncode, dumped.stderr) == (0, "")
    records = [record for found in read_all(target, topic).values() for record in found]
    assert len(dumped.stdout.splitlines()) == len(records)
    for number in range(_PARTITIONS):
        key = (
            f'["MirrorSourceConnector",{{"cluster":"{alias}","partition":{number},'
            f'"topic":"{pair.topic(alias)}"}}]'
        )
        assert f'{key} {{"offset":{_RECORDS - 1}}}' in dumped.stdout.splitlines()
