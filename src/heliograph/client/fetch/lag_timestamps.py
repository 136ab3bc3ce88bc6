"""Finds when the first record at or after a position was written, for many partitions at once."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from heliograph.client.fetch.log_reader import LogReader
from heliograph.client.net.cluster import ClusterClient
from heliograph.model import IsolationLevel, TopicPartition
from heliograph.records.batch import LOG_APPEND_TIME, MAGIC_AT, read_header
from heliograph.records.select import select
from heliograph.wire.fetch import FetchedPartition, FetchLimits

#: One batch of each partition is enough. A broker returns the first partition of an answer with a whole batch
#: of any size, the others with what fits, and rotates them.
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
    """The timestamp of the first record at or after each position, from its batch's header.

    Nothing is decompressed: for a batch that starts before the position it is the time of the batch's first
    record. Left out: partitions without a record from there on, records without a timestamp, partitions that
    cannot be read (the copy reports why), and those not answered within `patience` seconds.
    """
    found: dict[TopicPartition, int] = {}

    def read(key: TopicPartition, position: int, answer: FetchedPartition) -> int | None:
        selection = select(answer.records, position=position, aborted=answer.aborted)
        if not selection.batches:  # markers, aborted transactions, or nothing this time
            return selection.position
        timestamp = _timestamp(selection.batches[0].data)
        if timestamp >= 0:
            found[key] = timestamp
        return None

    LogReader(
        cluster,
        read,
        isolation_level=isolation_level,
        limits=_LIMITS,
        is_end=lambda _partition, _end: True,
    ).run(positions, patience=patience)
    return found


def _timestamp(batch: memoryview) -> int:
    """-1: the format has none."""
    if batch[MAGIC_AT] == 0:
        return -1
    if batch[MAGIC_AT] == 1:
        return int(_LEGACY_TIMESTAMP.unpack_from(batch, _LEGACY_TIMESTAMP_AT)[0])
    header = read_header(batch)
    by_broker = bool(header.attributes & LOG_APPEND_TIME)
    return header.max_timestamp if by_broker else header.base_timestamp
