"""Read a compacted internal topic from its start to its present end: the newest value of every key."""

from __future__ import annotations

import time

from heliograph.client.admin import EARLIEST, LATEST, list_offsets
from heliograph.client.cluster import ClusterClient
from heliograph.client.fetcher import Fetcher
from heliograph.client.poller import wait
from heliograph.errors import ConnectionLost
from heliograph.model import IsolationLevel, TopicPartition
from heliograph.records.decode import decode
from heliograph.records.select import select
from heliograph.wire.fetch import FetchedPartition, FetchLimits
from heliograph.wire.messages import broker_error, error_is_retriable


def read_compacted(
    cluster: ClusterClient, topic: str, *, patience: float = 30.0
) -> dict[bytes, bytes | None]:
    """Committed records only, so that an aborted write of an exactly-once worker is never believed."""
    reading = _Reading(cluster, topic)
    deadline = time.monotonic() + patience
    while reading.fetcher.positions:
        reading.fetcher.send()
        wait(reading.fetcher.connections(), 0.1)
        reading.fetcher.pump()
        if time.monotonic() > deadline:
            raise ConnectionLost(
                f"{cluster.config.alias}: {topic} could not be read to its end in {patience:g} s"
            )
    reading.fetcher.close()
    return reading.found


class _Reading:
    """Follows every partition from its log start to the end it had when the reading began."""

    def __init__(self, cluster: ClusterClient, topic: str) -> None:
        self.found: dict[bytes, bytes | None] = {}
        self._alias = cluster.config.alias
        count = cluster.refresh([topic]).partitions.get(topic, 0)
        partitions = [TopicPartition(topic, number) for number in range(count)]
        start = list_offsets(cluster, partitions, EARLIEST)
        self._end = list_offsets(cluster, partitions, LATEST, IsolationLevel.READ_COMMITTED)
        self.fetcher = Fetcher(
            cluster,
            isolation_level=IsolationLevel.READ_COMMITTED,
            limits=FetchLimits(),
            on_records=self._on_records,
            on_nothing=self._on_nothing,
        )
        self.fetcher.positions = {p: start[p] for p in partitions if start[p] < self._end[p]}

    def _on_records(self, answer: FetchedPartition) -> None:
        key = TopicPartition(answer.topic, answer.partition)
        if answer.error:
            if not error_is_retriable(answer.error):
                raise broker_error(answer.error, f"{self._alias}: {key}")
            return
        selection = select(
            answer.records, position=self.fetcher.positions[key], aborted=answer.aborted
        )
        for batch in selection.batches:
            records = decode(batch.data, subject=f"{self._alias}: {key}")
            self.found.update((r.key, r.value) for r in records if r.key is not None)
        self.fetcher.positions[key] = selection.position
        if selection.position >= self._end[key]:
            del self.fetcher.positions[key]

    def _on_nothing(self, asked: list[TopicPartition]) -> None:
        for key in asked:  # compaction has removed everything up to the end
            self.fetcher.positions.pop(key, None)
