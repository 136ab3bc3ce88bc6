"""Replays what a mirror of another version left in Kafka, as `scripts/record_mirror.py` has recorded it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from heliograph.client.net.cluster import ClusterClient
from heliograph.client.net.poller import wait
from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.client.produce.producer import Producer
from heliograph.embedded import Cluster
from heliograph.model import ProducerIdentity, TopicPartition
from heliograph.records.batch import read_header
from support.clusters.grouping import client
from support.clusters.reading import topics_of
from support.clusters.writing import New, Writer, create_topics, numbered, write
from support.flows.mirroring import Flow
from support.waiting import eventually

COMPACTED = {"cleanup.policy": "compact"}


class Recorded:
    def __init__(self, path: Path) -> None:
        self._found: dict[str, Any] = json.loads(path.read_text())
        self.alias: str = self._found["alias"]
        self.topic: str = self._found["topic"]
        #: By partition.
        self.source_records = _counts(self._found["source_records"])
        self.remote_records = _counts(self._found["remote_records"])

    def replay(self, flow: Flow) -> None:
        """The source has the same records, the target the same batches (producer id, epoch and sequence), and
        the internal topics have the same keys, values and headers."""
        assert flow.alias == self.alias
        remote = flow.remote(self.topic)
        partitions = len(self.source_records)
        create_topics(flow.source, {self.topic: partitions})
        create_topics(flow.target, {remote: partitions})
        for partition, count in self.source_records.items():
            write(flow.source, self.topic, numbered(range(count), partition=partition))
        with client(flow.target) as target:
            for number, batches in self._found["remote"].items():
                _append(target, TopicPartition(remote, int(number)), batches)
        self._replay_internal(flow.source, self._found["source"])
        self._replay_internal(flow.target, self._found["target"])

    def _replay_internal(self, cluster: Cluster, topics: dict[str, Any]) -> None:
        for topic, partitions in topics.items():
            if topic not in topics_of(
                cluster
            ):  # flows to one target alias share their offset syncs
                create_topics(cluster, {topic: len(partitions)}, configs=COMPACTED)
            for number, records in partitions.items():
                writer = Writer(cluster, topic)
                writer.batch(_record(int(number), *each) for each in records)


def _counts(found: dict[str, int]) -> dict[int, int]:
    return {int(number): count for number, count in found.items()}


def _record(
    partition: int, key: str | None, value: str | None, headers: list[tuple[str, str | None]]
) -> New:
    return New(
        key=_bytes(key),
        value=_bytes(value),
        headers=[(name, _bytes(each)) for name, each in headers],
        partition=partition,
    )


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


def _append(target: ClusterClient, partition: TopicPartition, batches: list[str]) -> None:
    """In order, one producer identity after the other."""
    landed: list[int] = []
    refused: list[str] = []
    producer = Producer(
        target,
        {partition.topic},
        on_ack=lambda _partition, _batch, offset: landed.append(offset),
        on_refused=lambda _partition, error: refused.append(str(error)),
        on_retry=lambda _partition, _error: None,
    )
    target.refresh([partition.topic])
    for number, text in enumerate(batches, 1):
        data = bytearray.fromhex(text)  # the producer writes into it
        header = read_header(memoryview(data))
        identity = ProducerIdentity(header.producer_id, header.producer_epoch)
        producer.adopt(partition, identity, header.base_sequence)
        first, count = header.base_offset, header.record_count
        producer.append(partition, ProducerBatch(memoryview(data), count, first, first + count))

        def progress(wanted: int = number) -> bool:
            producer.send()
            wait(producer.connections(), 0.1)
            producer.pump()
            return len(landed) >= wanted or bool(refused)

        eventually(progress, bool)
        assert not refused
        assert landed[-1] == first, "the remote log has the recorded offsets"
