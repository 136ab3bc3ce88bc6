"""Connect offset records, packed into batches for the offsets topic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from heliograph.mm2.connect.offsets import murmur2_partition, source_offset_key, source_offset_value
from heliograph.model import TopicPartition
from heliograph.records.decode import Record
from heliograph.records.encode import encode

#: About 200 bytes a record: batches stay well below the default max.message.bytes of 1 MB.
_RECORDS_PER_BATCH = 2000


def offset_batches(
    connector: str,
    cluster: str,
    positions: Mapping[TopicPartition, int],
    partitions: int,
    timestamp: int,
) -> Iterator[tuple[int, bytearray, list[TopicPartition]]]:
    """(partition of the offsets topic, batch, whose positions it stores, a record each).

    A position is the next upstream offset to mirror; Connect stores the one before it, the last mirrored.
    Position 0 takes out what is stored: nothing is mirrored.
    """
    by_partition: dict[int, list[tuple[TopicPartition, Record]]] = {}
    for source, position in positions.items():
        key = source_offset_key(connector, cluster, *source)
        value = source_offset_value(position - 1) if position else None
        record = Record(offset=0, timestamp=timestamp, key=key, value=value, headers=())
        by_partition.setdefault(murmur2_partition(key, partitions), []).append((source, record))
    for number, records in by_partition.items():
        for start in range(0, len(records), _RECORDS_PER_BATCH):
            sources, chunk = zip(*records[start : start + _RECORDS_PER_BATCH], strict=True)
            yield number, encode(chunk), list(sources)
