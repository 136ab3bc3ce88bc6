"""Counts the records in a range of offsets of a log; markers that end transactions do not count."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

from heliograph.client.fetch.log_reader import LogReader
from heliograph.client.net.cluster import ClusterClient
from heliograph.errors import Interrupted
from heliograph.model import TopicPartition
from heliograph.records.batch import CONTROL, MAGIC_AT, PREFIX, check_header, read_header, split
from heliograph.wire.fetch import FetchedPartition

log = logging.getLogger(__name__)

#: The copy loop waits meanwhile.
_PATIENCE_SECONDS = 0.5


def records_in(
    cluster: ClusterClient, ranges: Mapping[TopicPartition, range]
) -> dict[TopicPartition, int]:
    """The number of records in each range, by batch headers. Partitions that could not be read to the end of
    their range are left out."""
    found = RangeCounts(ranges)
    reader = LogReader(cluster, found.read)
    starts = {partition: wanted.start for partition, wanted in ranges.items()}
    try:
        reader.run(starts, patience=_PATIENCE_SECONDS)
    except Interrupted as e:
        log.debug("%s; ranges that were counted before count", e)
    for problem in reader.unreadable.values():
        log.warning("%s", problem)
    left_out = reader.positions.keys() | reader.unreadable.keys()
    return {partition: n for partition, n in found.counts.items() if partition not in left_out}


@dataclass(slots=True)
class RangeCounts:
    ranges: Mapping[TopicPartition, range]
    counts: dict[TopicPartition, int] = field(default_factory=dict)

    def read(self, key: TopicPartition, position: int, answer: FetchedPartition) -> int | None:
        for batch in split(answer.records):
            records, position = _inside(batch, self.ranges[key])
            self.counts[key] = self.counts.get(key, 0) + records
        return position if position < self.ranges[key].stop else None


def _inside(batch: memoryview, wanted: range) -> tuple[int, int]:
    """How many of the batch's records are in the range, and where the next batch begins."""
    if batch[MAGIC_AT] < 2:
        after = PREFIX.unpack_from(batch)[0] + 1
        return int(after - 1 in wanted), after
    header = read_header(batch)
    check_header(header)
    after = header.last_offset + 1
    if header.attributes & CONTROL:
        return 0, after
    return len(range(max(header.base_offset, wanted.start), min(after, wanted.stop))), after
