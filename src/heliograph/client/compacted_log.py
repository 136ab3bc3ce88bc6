"""Read a compacted internal topic from its start to its present end: the newest value of every key."""

from __future__ import annotations

from heliograph.client.admin import EARLIEST, LATEST, list_offsets
from heliograph.client.cluster import ClusterClient
from heliograph.client.log_tail import read_between
from heliograph.model import IsolationLevel, TopicPartition
from heliograph.records.decode import Record


def read_compacted(
    cluster: ClusterClient, topic: str, *, patience: float = 30.0
) -> dict[bytes, bytes | None]:
    """All partitions of it, committed records only. Empty if there is no such topic."""
    count = cluster.refresh([topic]).partitions.get(topic, 0)
    partitions = [TopicPartition(topic, number) for number in range(count)]
    starts = list_offsets(cluster, partitions, EARLIEST)
    ends = list_offsets(cluster, partitions, LATEST, IsolationLevel.READ_COMMITTED)
    found: dict[bytes, bytes | None] = {}

    def keep(_: TopicPartition, records: list[Record]) -> None:
        found.update((r.key, r.value) for r in records if r.key is not None)

    read_between(cluster, starts, ends, keep, patience=patience)
    return found
