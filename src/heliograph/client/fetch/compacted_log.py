"""Reads a compacted internal topic from its start to its current end: the newest record of every key."""

from __future__ import annotations

import time
from collections.abc import Collection

from heliograph.client.admin.topics import EARLIEST, LATEST, list_offsets
from heliograph.client.fetch.log_reader import read_between
from heliograph.client.net.backoff import Backoff
from heliograph.client.net.cluster import ClusterClient
from heliograph.errors import ConnectionLost
from heliograph.model import IsolationLevel, TopicPartition
from heliograph.records.decode import Record


def read_compacted(
    cluster: ClusterClient, topic: str, *, patience: float = 30.0
) -> dict[bytes, bytes | None]:
    """The newest value of every key, in all partitions, committed records only. Empty without the topic."""
    found = read_newest(cluster, topic, patience=patience)
    return {key: record.value for key, record in found.items()}


def read_newest(
    cluster: ClusterClient, topic: str, *, patience: float = 30.0
) -> dict[bytes, Record]:
    """As `read_compacted`, with the whole records."""
    count = cluster.refresh([topic]).partitions.get(topic, 0)
    partitions = [TopicPartition(topic, number) for number in range(count)]
    starts = list_offsets(cluster, partitions, EARLIEST)
    ends = stable_ends(cluster, partitions, patience=patience)
    found: dict[bytes, Record] = {}

    def keep(_: TopicPartition, records: list[Record]) -> None:
        found.update((r.key, r) for r in records if r.key is not None)

    read_between(cluster, starts, ends, keep, patience=patience)
    return found


def stable_ends(
    cluster: ClusterClient, partitions: Collection[TopicPartition], *, patience: float
) -> dict[TopicPartition, int]:
    """The current ends, once every transaction below them has ended: records behind the first one of an open
    transaction may be committed, too, and are hidden until it ends."""
    ends = list_offsets(cluster, partitions, LATEST)
    backoff, deadline = Backoff(first=0.02, most=0.5), time.monotonic() + patience
    while True:
        stable = list_offsets(cluster, partitions, LATEST, IsolationLevel.READ_COMMITTED)
        undecided = [p for p, end in ends.items() if stable[p] < end]
        if not undecided:
            return ends
        if time.monotonic() > deadline:
            raise ConnectionLost(
                f"{cluster.config.alias}: {undecided[0]}: a transaction has been open at offset "
                f"{stable[undecided[0]]} for more than {patience:g} s; its producer must end it, or "
                "transaction.timeout.ms will"
            )
        time.sleep(backoff.next())
