"""Finds where partitions' logs end, and the last batch that a producer has written to each.

Only batch headers are read. A fetch at the last offset returns the last batch alone; if another producer has
written it, the batches before it are read, from a given offset on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from heliograph.client.admin.topics import EARLIEST, LATEST, available_offsets
from heliograph.client.fetch.log_reader import LogReader, Unreadable
from heliograph.client.net.cluster import ClusterClient
from heliograph.model import LastBatch, ProducerIdentity, TopicPartition
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
from heliograph.wire.fetch import FetchedPartition

_PATIENCE_SECONDS = 10.0
#: Of one partition. A producer snapshot is never that far behind the log's end.
_MAX_BYTES = 256 << 20
#: Offsets before the wanted one that are read if only other producers have written since.
_BEFORE = 64


class Wanted(NamedTuple):
    """The last batch of `identity`, or of a later epoch of its producer id, at or after `offset`; with an
    offset of -1, or in a log that ends before `offset`, the last batch of the log, if that producer has
    written it. If others alone have written since, the last batch of that producer just before `offset`: in a
    log that has lost its tail its newer records may be there. In a log that ends at `offset` nothing is read,
    unless `closely`."""

    identity: ProducerIdentity
    offset: int
    closely: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEnds:
    """`last` has every wanted batch that was found. `missing` has the partitions that could not be read this
    time, `unreadable` those for which a retry cannot help, both with the reason."""

    ends: Mapping[TopicPartition, int]
    last: Mapping[TopicPartition, LastBatch]
    missing: Mapping[TopicPartition, str]
    unreadable: Mapping[TopicPartition, str]


def log_ends(cluster: ClusterClient, partitions: Mapping[TopicPartition, Wanted | None]) -> LogEnds:
    """Raises ClientError if the cluster is out of reach."""
    ends, failed = available_offsets(cluster, partitions, LATEST)
    wanted = {
        p: w
        for p, w in partitions.items()
        if w is not None and p in ends and (w.closely or ends[p] != w.offset)
    }
    search = LastBatches(wanted, ends)
    reader = LogReader(cluster, search.read)
    late = reader.run({p: ends[p] - 1 for p in wanted if ends[p] > 0}, patience=_PATIENCE_SECONDS)
    others = wanted.keys() - search.last.keys() - reader.unreadable.keys() - late
    starts = {p: wanted[p].offset for p in others if 0 <= wanted[p].offset < ends[p] - 1}
    late |= reader.run(starts, patience=_PATIENCE_SECONDS)
    left = wanted.keys() - search.last.keys() - reader.unreadable.keys() - late
    before = {p: min(wanted[p].offset, ends[p]) - _BEFORE for p in left if wanted[p].offset > 0}
    if before:
        firsts, without_start = available_offsets(cluster, before, EARLIEST)
        failed |= without_start
        begins = {p: max(at, firsts[p]) for p, at in before.items() if p in firsts}
        begins = {p: at for p, at in begins.items() if at < ends[p]}
        late |= reader.run(begins, patience=_PATIENCE_SECONDS)
    missing = {p: str(error) for p, error in failed.items()}
    missing |= {p: f"{p}: its end could not be read within {_PATIENCE_SECONDS:g} s" for p in late}
    return LogEnds(ends=ends, last=search.last, missing=missing, unreadable=reader.unreadable)


@dataclass(slots=True)
class LastBatches:
    """Reads headers up to the ends, and keeps the last batch of each partition's wanted producer."""

    wanted: Mapping[TopicPartition, Wanted]
    ends: Mapping[TopicPartition, int]
    last: dict[TopicPartition, LastBatch] = field(default_factory=dict)
    _bytes: dict[TopicPartition, int] = field(default_factory=dict)

    def read(self, key: TopicPartition, position: int, answer: FetchedPartition) -> int | None:
        position = self._read_headers(key, position, answer.records)
        if position >= self.ends[key]:
            return None
        self._bytes[key] = self._bytes.get(key, 0) + len(answer.records)
        if self._bytes[key] > _MAX_BYTES:
            raise Unreadable(f"more than {_MAX_BYTES >> 20} MB were written to it since")
        return position

    def _read_headers(self, key: TopicPartition, position: int, records: memoryview) -> int:
        identity = self.wanted[key].identity
        for batch in split(records):
            if batch[MAGIC_AT] < 2:  # formats before producer ids
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
