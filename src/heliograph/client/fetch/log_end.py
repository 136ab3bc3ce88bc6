"""The end of partitions' logs: where they end, and what a producer has written there last.

Batch headers are all that is looked at. A fetch at the last offset brings the last batch alone; only where
that is somebody else's are the batches before it read, from a given offset on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from heliograph.client.admin.topics import LATEST, available_offsets
from heliograph.client.fetch.fetcher import Fetcher
from heliograph.client.net.cluster import ClusterClient
from heliograph.errors import CorruptRecords, Interrupted
from heliograph.model import IsolationLevel, LastBatch, ProducerIdentity, TopicPartition
from heliograph.records.batch import (
    CONTROL,
    MAGIC_AT,
    PREFIX,
    SEQUENCES,
    check_crc,
    check_header,
    read_header,
    split,
)
from heliograph.wire.fetch import FetchedPartition, FetchLimits
from heliograph.wire.messages import broker_error, error_is_retriable

_PATIENCE_SECONDS = 10.0
#: Of one partition. More than that is no range between a snapshot and the log's end.
_MAX_BYTES = 256 << 20


class Wanted(NamedTuple):
    """The last batch of `identity`, or of a later epoch of its producer id, at or behind `offset`; with an
    offset of -1, the very last one, if it is theirs, and so in a log that ends before `offset`. In one that
    ends there nothing is read, unless `closely`."""

    identity: ProducerIdentity
    offset: int
    closely: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEnds:
    """`last` has every wanted batch that was found. `missing` says of partitions why they could not be looked
    at just now, `unreadable` why trying again does not help."""

    ends: Mapping[TopicPartition, int]
    last: Mapping[TopicPartition, LastBatch]
    missing: Mapping[TopicPartition, str]
    unreadable: Mapping[TopicPartition, str]


def log_ends(cluster: ClusterClient, partitions: Mapping[TopicPartition, Wanted | None]) -> LogEnds:
    ends, missing = available_offsets(cluster, partitions, LATEST)
    wanted = {
        p: w
        for p, w in partitions.items()
        if w is not None and p in ends and (w.closely or ends[p] != w.offset)
    }
    scan = _Scan(cluster, wanted, ends)
    scan.run({p: ends[p] - 1 for p in wanted if ends[p] > 0})
    others = [p for p in wanted if p not in scan.last and p not in scan.unreadable]
    scan.run({p: wanted[p].offset for p in others if 0 <= wanted[p].offset < ends[p] - 1})
    late = {p: f"{p}: its end could not be read within {_PATIENCE_SECONDS:g} s" for p in scan.left}
    return LogEnds(ends=ends, last=scan.last, missing=missing | late, unreadable=scan.unreadable)


@dataclass(slots=True)
class _Scan:
    """Reads headers up to the ends, and keeps the last batch of each partition's wanted producer."""

    cluster: ClusterClient
    wanted: Mapping[TopicPartition, Wanted]
    ends: Mapping[TopicPartition, int]
    last: dict[TopicPartition, LastBatch] = field(default_factory=dict)
    unreadable: dict[TopicPartition, str] = field(default_factory=dict)
    left: dict[TopicPartition, int] = field(default_factory=dict)
    _bytes: dict[TopicPartition, int] = field(default_factory=dict)

    def run(self, starts: Mapping[TopicPartition, int]) -> None:
        fetcher = Fetcher(
            self.cluster,
            isolation_level=IsolationLevel.READ_UNCOMMITTED,
            limits=FetchLimits(),
            on_records=self._on_records,
            on_nothing=lambda _: None,
        )
        fetcher.positions |= {p: at for p, at in starts.items() if p not in self.left}
        late, self.left = self.left, fetcher.positions
        try:
            fetcher.fetch_all(_PATIENCE_SECONDS, self.cluster.stopped)
        finally:
            self.left = late | self.left
        if self.left and self.cluster.stopped():
            first = min(self.left)
            raise Interrupted(
                f"{self.cluster.config.alias}: {first}: stopped while its end was read"
            )

    def _on_records(self, answer: FetchedPartition) -> None:
        key = TopicPartition(answer.topic, answer.partition)
        if answer.error:
            error = broker_error(answer.error, f"{self.cluster.config.alias}: {key}")
            if not error_is_retriable(answer.error):
                self.unreadable[key] = str(error)
                del self.left[key]
            return
        try:
            self.left[key] = self._look_at(key, answer.records)
        except CorruptRecords as e:
            self.unreadable[key] = f"{key}: {e}"
            del self.left[key]
            return
        self._bytes[key] = self._bytes.get(key, 0) + len(answer.records)
        if self.left[key] >= self.ends[key]:
            del self.left[key]
        elif self._bytes[key] > _MAX_BYTES:
            self.unreadable[key] = (
                f"{key}: more than {_MAX_BYTES >> 20} MB were written to it since"
            )
            del self.left[key]

    def _look_at(self, key: TopicPartition, records: memoryview) -> int:
        identity, position = self.wanted[key].identity, self.left[key]
        for batch in split(records):
            if batch[MAGIC_AT] < 2:  # no producer had a number then
                position = max(position, PREFIX.unpack_from(batch)[0] + 1)
                continue
            header = read_header(batch)
            check_header(header)
            check_crc(batch, header)
            position = max(position, header.last_offset + 1)
            writer = ProducerIdentity(header.producer_id, header.producer_epoch)
            ours = writer.producer_id == identity.producer_id and writer.epoch >= identity.epoch
            if ours and not header.attributes & CONTROL:
                after = header.base_sequence + header.last_offset_delta + 1
                self.last[key] = LastBatch(
                    writer, after % SEQUENCES, bytes(batch), header.last_offset + 1
                )
        return position
