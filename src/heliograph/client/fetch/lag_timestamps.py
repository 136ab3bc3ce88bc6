"""When the first record from a position on was written, for many partitions at once."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from heliograph.client.fetch.fetcher import Fetcher
from heliograph.client.net.cluster import ClusterClient
from heliograph.errors import CorruptRecords
from heliograph.model import IsolationLevel, TopicPartition
from heliograph.records.batch import LOG_APPEND_TIME, MAGIC_AT, read_header
from heliograph.records.select import select
from heliograph.wire.fetch import FetchedPartition, FetchLimits
from heliograph.wire.messages import error_is_retriable

#: Only one batch of each partition is of interest. A broker gives the first partition of an answer a whole
#: batch whatever its size, the others what fits, and takes turns.
_LIMITS = FetchLimits(max_wait_ms=100, max_bytes=1 << 20, partition_max_bytes=64 << 10)
_LEGACY_TIMESTAMP = struct.Struct(">q")
_LEGACY_TIMESTAMP_AT = 18


def first_timestamps(
    cluster: ClusterClient,
    positions: Mapping[TopicPartition, int],
    isolation_level: IsolationLevel,
    *,
    patience: float,
) -> dict[TopicPartition, int]:
    """The timestamp of the first record at or after each position, as its batch's header has it.

    Nothing is decompressed: of a batch that starts before the position, the time is that of its first
    record. Left out: partitions that hold no record from there on, records without a timestamp, and
    whatever was not answered within `patience` seconds.
    """
    reading = _Reading(cluster, positions, isolation_level)
    reading.fetcher.fetch_all(patience)
    return reading.found


class _Reading:
    def __init__(
        self,
        cluster: ClusterClient,
        positions: Mapping[TopicPartition, int],
        isolation_level: IsolationLevel,
    ) -> None:
        self.found: dict[TopicPartition, int] = {}
        self.fetcher = Fetcher(
            cluster,
            isolation_level=isolation_level,
            limits=_LIMITS,
            on_records=self._on_records,
            on_nothing=self._on_nothing,
        )
        self.fetcher.positions = dict(positions)

    def _on_records(self, answer: FetchedPartition) -> None:
        key = TopicPartition(answer.topic, answer.partition)
        if answer.error:
            if not error_is_retriable(answer.error):
                del self.fetcher.positions[key]
            return
        try:
            selection = select(
                answer.records, position=self.fetcher.positions[key], aborted=answer.aborted
            )
        except CorruptRecords:  # the mirror itself says so, loudly
            del self.fetcher.positions[key]
            return
        if not selection.batches:  # markers, aborted transactions, or nothing this time
            self.fetcher.positions[key] = selection.position
            return
        timestamp = _timestamp(selection.batches[0].data)
        if timestamp >= 0:
            self.found[key] = timestamp
        del self.fetcher.positions[key]

    def _on_nothing(self, ends: Mapping[TopicPartition, int]) -> None:
        for key in ends:
            self.fetcher.positions.pop(key, None)


def _timestamp(batch: memoryview) -> int:
    """-1: none."""
    if batch[MAGIC_AT] == 0:
        return -1
    if batch[MAGIC_AT] == 1:
        return int(_LEGACY_TIMESTAMP.unpack_from(batch, _LEGACY_TIMESTAMP_AT)[0])
    header = read_header(batch)
    by_broker = bool(header.attributes & LOG_APPEND_TIME)
    return header.max_timestamp if by_broker else header.base_timestamp
