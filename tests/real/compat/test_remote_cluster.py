"""Java's RemoteClusterUtils and our MirrorClient give the same answers, and so do the console formatters."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from heliograph import MirrorClient
from heliograph.embedded import Cluster
from heliograph.embedded.jars import MIRROR_MAKER, kafka_jars
from heliograph.embedded.tools import SHORT_LIVED, tool_command
from heliograph.mirror_client import OffsetAndMetadata
from heliograph.mm2.checkpoint import Checkpoint
from heliograph.mm2.heartbeat import Heartbeat
from heliograph.mm2.offset_sync import OffsetSync
from heliograph.model import TopicPartition as Partition
from support.clusters.writing import New, create_topics, numbered, write
from support.flows.mirroring import Flow, new_alias
from support.java.oracle import Oracle
from support.waiting import PATIENCE_SECONDS, eventually

_FORMATTERS = "org.apache.kafka.connect.mirror.formatters"
Own = OffsetSync | Checkpoint | Heartbeat


class Written:
    """What a mirror from `alias`, which itself mirrors another cluster, would have written."""

    def __init__(self, cluster: Cluster) -> None:
        self.alias = alias = new_alias("remote-cluster")
        self.topics: dict[str, Sequence[Own]] = {
            f"{alias}.checkpoints.internal": [
                Checkpoint("billing", f"{alias}.orders", 0, 10, 9, "früh"),
                Checkpoint("billing", f"{alias}.orders", 1, 2**40, 2**41),
                Checkpoint("shipping", f"{alias}.orders", 0, 5, 4, "x"),
                Checkpoint("grün", "local", 3, 1, 1),
                Checkpoint("billing", f"{alias}.orders", 0, 12, 11, "spät"),
            ],
            f"{alias}.heartbeats": [Heartbeat(f"{alias}-far", alias, 1_700_000_000_000)],
            f"{alias}.{alias}-far.heartbeats": [Heartbeat("a", "b", n) for n in range(3)],
            f"mm2-offset-syncs.{alias}.internal": [
                OffsetSync("orders", 0, 2**62, 7),
                OffsetSync("größe", 1, 0, 0),
            ],
        }
        plain = [f"{alias}.orders", f"{alias}.{alias}-far.payments"]
        create_topics(cluster, dict.fromkeys([*self.topics, *plain], 1))
        for topic, records in self.topics.items():
            write(cluster, topic, [New(key=each.key(), value=each.value()) for each in records])

    def lines(self, topic: str) -> list[str]:
        return [str(each) for each in self.topics[topic]]


@pytest.fixture(scope="module")
def written(target_cluster: Cluster) -> Written:
    return Written(target_cluster)


def answers(
    properties: dict[str, str], alias: str, groups: list[str], pattern: str
) -> dict[str, object]:
    """Ours, in the shape of RemoteClusterReader.java's."""

    def plain(offsets: dict[Partition, OffsetAndMetadata]) -> dict[str, list[object]]:
        return {str(partition): list(offset) for partition, offset in offsets.items()}

    with MirrorClient(properties) as client:
        many = client.translate_offsets(alias, groups=pattern)
        return {
            "heartbeat_topics": sorted(client.heartbeat_topics()),
            "checkpoint_topics": sorted(client.checkpoint_topics()),
            "upstream_clusters": sorted(client.upstream_clusters()),
            "replication_hops": client.replication_hops(alias),
            "group": {group: plain(client.translate_offsets(alias, group)) for group in groups},
            "pattern": {group: plain(offsets) for group, offsets in many.items()},
            "remote_topics": sorted(client.remote_topics()),
            "remote_topics_of_alias": sorted(client.remote_topics(alias)),
        }


def test_java_and_our_client_read_the_same_of_our_records(
    oracle: Oracle, target_cluster: Cluster, written: Written
) -> None:
    properties = {"bootstrap.servers": target_cluster.bootstrap_servers}
    asked = {"alias": written.alias, "groups": ["billing", "grün", "nobody"], "pattern": ".*ing"}

    theirs = oracle.ask("cluster", properties=properties, **asked)

    ours = answers(properties, **asked)  # type: ignore[arg-type]
    assert ours == theirs
    assert ours["replication_hops"] == 1
    assert ours["group"] == {
        "billing": {
            f"{written.alias}.orders-0": [11, "spät"],
            f"{written.alias}.orders-1": [2**41, ""],
        },
        "grün": {"local-3": [1, ""]},
        "nobody": {},
    }
    assert isinstance(ours["pattern"], dict)
    assert sorted(ours["pattern"]) == ["billing", "shipping"]


def test_java_and_our_client_read_the_same_of_what_the_service_wrote(
    oracle: Oracle, flow: Flow
) -> None:
    """Exact translation is in the checkpoints themselves, so that Java's readers have it, too."""
    topic, group = flow.create(partitions=2), f"{flow.alias}-readers"
    write(flow.source, topic, numbered(range(500)), numbered(range(300), partition=1))
    committed = [TopicPartition(topic, 0, 123, metadata="here"), TopicPartition(topic, 1, 300)]
    commit(flow.source, group, committed)
    asked = {"alias": flow.alias, "groups": [group], "pattern": f"{flow.alias}-.*"}
    properties = {"bootstrap.servers": flow.target.bootstrap_servers}

    with flow.running({"emit.checkpoints.interval.seconds": "1"}, groups=group):
        eventually(
            lambda: {p.partition: t.offset for p, t in translated(flow, group).items()},
            lambda found: found == {0: 123, 1: 300},  # the first word may come while copying
        )

    ours = answers(properties, **asked)  # type: ignore[arg-type]
    assert ours == oracle.ask("cluster", properties=properties, **asked)
    offsets = translated(flow, group)
    assert {str(partition): found.offset for partition, found in offsets.items()} == {
        f"{flow.remote(topic)}-0": 123,
        f"{flow.remote(topic)}-1": 300,
    }


def translated(flow: Flow, group: str) -> dict[Any, Any]:
    with MirrorClient({"bootstrap.servers": flow.target.bootstrap_servers}) as client:
        there = f"{flow.alias}.checkpoints.internal" in client.checkpoint_topics()
        return dict(client.translate_offsets(flow.alias, group)) if there else {}


def commit(cluster: Cluster, group: str, offsets: list[TopicPartition]) -> None:
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": group})
    consumer.commit(offsets=offsets, asynchronous=False)
    consumer.close()


def console_consumer(cluster: Cluster, formatter: str, topic: str, count: int) -> list[str]:
    """As a Kafka release has it: the formatters stand on the class path beside the tools."""
    command = tool_command(
        "kafka-console-consumer",
        *("--bootstrap-server", cluster.bootstrap_servers, "--topic", topic, "--from-beginning"),
        *("--formatter", f"{_FORMATTERS}.{formatter}"),
        *("--max-messages", str(count), "--timeout-ms", "30000"),
        jvm_args=SHORT_LIVED,
    )
    command[command.index("-cp") + 1] += f":{kafka_jars(artifacts=MIRROR_MAKER)}/*"
    return command


def test_the_console_formatters_and_dump_print_the_same_lines(
    target_cluster: Cluster, written: Written
) -> None:
    kinds = {
        "checkpoints": ("CheckpointFormatter", f"{written.alias}.checkpoints.internal"),
        "heartbeats": ("HeartbeatFormatter", f"{written.alias}.{written.alias}-far.heartbeats"),
        "offset-syncs": ("OffsetSyncFormatter", f"mm2-offset-syncs.{written.alias}.internal"),
    }
    environment = os.environ | {"LC_ALL": "C.UTF-8"}
    consumers = {
        kind: subprocess.Popen(
            console_consumer(target_cluster, formatter, topic, len(written.topics[topic])),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for kind, (formatter, topic) in kinds.items()
    }
    printed = {
        kind: each.communicate(timeout=PATIENCE_SECONDS)[0].splitlines()
        for kind, each in consumers.items()
    }

    for kind, (_, topic) in kinds.items():
        dumped = subprocess.run(
            [
                *(sys.executable, "-m", "heliograph", "dump", kind, "--topic", topic),
                *("--bootstrap-server", target_cluster.bootstrap_servers),
            ],
            capture_output=True,
            text=True,
            env=environment,
        )
        assert (dumped.returncode, dumped.stderr) == (0, "")
        assert dumped.stdout.splitlines() == printed[kind] == written.lines(topic)
