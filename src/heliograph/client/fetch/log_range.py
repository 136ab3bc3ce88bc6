"""What stands in a wanted of a log: records, or nothing but the ends of transactions."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from heliograph.client.fetch.fetcher import Fetcher
from heliograph.client.net.cluster import ClusterClient
from heliograph.errors import CorruptRecords
from heliograph.model import IsolationLevel, TopicPartition
from heliograph.records.batch import CONTROL, MAGIC_AT, PREFIX, check_header, read_header, split
from heliograph.wire.fetch import FetchedPartition, FetchLimits

log = logging.getLogger(__name__)

#: It is a link that waits meanwhile.
_PATIENCE_SECONDS = 0.5


def records_in(
    cluster: ClusterClient, ranges: Mapping[TopicPartition, range]
) -> dict[TopicPartition, int]:
    """How many records; what ends a transaction is none. A partition that cannot be read just now is left
    out. Headers are all that is looked at."""
    counts: dict[TopicPartition, int] = {}
    fetcher = Fetcher(
        cluster,
        isolation_level=IsolationLevel.READ_UNCOMMITTED,
        limits=FetchLimits(),
        on_records=lambda answer: count(answer, ranges, counts, fetcher.positions),
        on_nothing=lambda _: None,
    )
    fetcher.positions |= {partition: wanted.start for partition, wanted in ranges.items()}
    fetcher.fetch_all(_PATIENCE_SECONDS, cluster.stopped)
    return {partition: counts[partition] for partition in counts.keys() - fetcher.positions.keys()}


def count(
    answer: FetchedPartition,
    ranges: Mapping[TopicPartition, range],
    counts: dict[TopicPartition, int],
    positions: dict[TopicPartition, int],
) -> None:
    """Adds to `counts`; a partition that was read to the end of its wanted leaves `positions`."""
    if answer.error:
        return  # asked again, until patience ends
    key = TopicPartition(answer.topic, answer.partition)
    try:
        for batch in split(answer.records):
            records, positions[key] = _inside(batch, ranges[key])
            counts[key] = counts.get(key, 0) + records
    except CorruptRecords as e:
        log.warning("%s: %s", key, e)
        return
    if positions[key] >= ranges[key].stop:
        del positions[key]


def _inside(batch: memoryview, wanted: range) -> tuple[int, int]:
    """How many of the batch's records stand in the wanted, and where the next batch begins."""
    if batch[MAGIC_AT] < 2:
        after = PREFIX.unpack_from(batch)[0] + 1
        return int(after - 1 in wanted), after
    header = read_header(batch)
    check_header(header)
    after = header.last_offset + 1
    if header.attributes & CONTROL:
        return 0, after
    return len(range(max(header.base_offset, wanted.start), min(after, wanted.stop))), after
