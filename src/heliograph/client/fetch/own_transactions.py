"""Finds out what has become of our transactions in a log that may have lost its tail, by headers and markers.

at the commit            … r r │ C       C: marker of a commit, A: of an abort
its marker is lost       … r r │         the records are open: the producer's next marker decides over them
and another one follows  … r r │ A       they are aborted
the records are lost     … x x …         other records are at their offsets, or the log ends before them
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from heliograph.client.admin.topics import EARLIEST, LATEST, available_offsets
from heliograph.client.fetch.log_reader import LogReader
from heliograph.client.fetch.own_batches import OwnEnd
from heliograph.client.net.cluster import ClusterClient
from heliograph.errors import ClientError
from heliograph.model import IsolationLevel, TopicPartition
from heliograph.records.batch import (
    CONTROL,
    MAGIC_AT,
    PREFIX,
    TRANSACTIONAL,
    Header,
    check_crc,
    check_header,
    is_abort_marker,
    read_header,
    split,
)
from heliograph.wire.fetch import FetchedPartition

_PATIENCE_SECONDS = 10.0
#: Offsets read at first; then four times as many, until a committed record is found.
_FIRST_LOOK, _MOST = 64, 1 << 18


class Outcome(Enum):
    """Of the transaction of one record."""

    COMMITTED = auto()
    ABORTED = auto()
    OPEN = auto()  # there is no marker behind it
    REPLACED = auto()  # another writer's record is at its offset, or the log ends before it
    UNKNOWN = auto()  # retention or compaction has deleted it, or no record was asked for
    UNREADABLE = auto()  # the log cannot be read, and a retry does not help


class Since(NamedTuple):
    """`last` is the offset of the record in question, -1 for none; `producer_id` is ours."""

    producer_id: int
    last: int


class FoundTransactions(NamedTuple):
    """`end` is the log's end; `open_from` the offset of our first record without a marker behind it."""

    end: int
    last: Outcome
    open_from: int | None


def transactions_since(
    cluster: ClusterClient, wanted: Mapping[TopicPartition, Since]
) -> tuple[dict[TopicPartition, FoundTransactions], dict[TopicPartition, str]]:
    """What was found, and for partitions that could not be read this time, why. Raises ClientError if the
    cluster is out of reach."""
    starts, failed = available_offsets(cluster, wanted, EARLIEST)
    stable, unstable = available_offsets(cluster, wanted, LATEST, IsolationLevel.READ_COMMITTED)
    ends, without_end = available_offsets(cluster, wanted, LATEST)
    missing = {p: str(error) for p, error in (failed | unstable | without_end).items()}
    scans, begins = dict[TopicPartition, _Scan](), dict[TopicPartition, int]()
    for partition in wanted.keys() - missing.keys():
        last, end = wanted[partition].last, ends[partition]
        scans[partition] = _Scan(end, last)
        begin = stable[partition] if last < 0 else min(stable[partition], last)
        if (begin := max(begin, starts[partition])) < end:
            begins[partition] = begin
    reader = LogReader(cluster, lambda key, at, answer: scans[key].read(at, answer))
    late = reader.run(begins, patience=_PATIENCE_SECONDS)
    missing |= {p: f"{p}: could not be read within {_PATIENCE_SECONDS:g} s" for p in late}
    found = {
        partition: FoundTransactions(
            scan.end, scan.outcome(), scan.open_from(wanted[partition].producer_id)
        )
        if partition not in reader.unreadable
        else FoundTransactions(scan.end, Outcome.UNREADABLE, None)
        for partition, scan in scans.items()
        if partition not in missing
    }
    return found, missing


def committed_before(cluster: ClusterClient, partition: TopicPartition, before: int) -> OwnEnd:
    """The offset after the last committed record of a transaction that is below `before`. It is searched
    backwards. Raises ClientError."""
    starts, failed = available_offsets(cluster, [partition], EARLIEST)
    ends, without_end = available_offsets(cluster, [partition], LATEST)
    for error in (failed | without_end).values():
        raise error
    end, span = ends[partition], _FIRST_LOOK
    while True:
        start = max(min(before, end) - span, starts[partition])
        scan = _Scan(end, -1, before)
        reader = LogReader(cluster, lambda _, at, answer, scan=scan: scan.read(at, answer))  # type: ignore[misc]
        if start < end and reader.run({partition: start}, patience=_PATIENCE_SECONDS):
            raise ClientError(f"{partition}: could not be read within {_PATIENCE_SECONDS:g} s")
        if scan.committed_end is not None:
            return OwnEnd(scan.committed_end)
        if start <= starts[partition] or span >= _MOST or reader.unreadable:
            return OwnEnd(min(start, before), proven=start <= 0 and not reader.unreadable)
        span *= 4


@dataclass(slots=True)
class _Scan:
    """Reads headers up to `end`. `committed_end` is the offset after the last committed record of a
    transaction that begins below `before`."""

    end: int
    last: int
    before: int | None = None
    committed_end: int | None = None
    _of_last: Outcome | None = None
    _writer_of_last: int | None = None
    _open: dict[int, list[Header]] = field(default_factory=dict)  # by producer id

    def read(self, position: int, answer: FetchedPartition) -> int | None:
        for batch in split(answer.records):
            if batch[MAGIC_AT] < 2:  # formats before transactions
                offset = PREFIX.unpack_from(batch)[0]
                self._replace(range(offset, offset + 1))
                position = max(position, offset + 1)
                continue
            header = read_header(batch)
            check_header(header)
            check_crc(batch, header)
            if header.last_offset < position:
                continue
            position = header.last_offset + 1
            if header.attributes & CONTROL:
                self._end(header, aborted=is_abort_marker(batch))
            elif header.attributes & TRANSACTIONAL:
                self._open.setdefault(header.producer_id, []).append(header)
                if header.base_offset <= self.last <= header.last_offset:
                    self._of_last, self._writer_of_last = Outcome.OPEN, header.producer_id
            else:
                self._replace(range(header.base_offset, header.last_offset + 1))
        return None if position >= self.end else position

    def _end(self, marker: Header, *, aborted: bool) -> None:
        ended = self._open.pop(marker.producer_id, [])
        if self._of_last is Outcome.OPEN and self._writer_of_last == marker.producer_id:
            self._of_last = Outcome.ABORTED if aborted else Outcome.COMMITTED
        self._replace(range(marker.base_offset, marker.last_offset + 1))
        for each in ended if not aborted else ():
            if self.before is not None and each.base_offset < self.before:
                self.committed_end = max(self.committed_end or 0, each.last_offset + 1)

    def _replace(self, offsets: range) -> None:
        if self.last in offsets:
            self._of_last = Outcome.REPLACED

    def outcome(self) -> Outcome:
        if self._of_last is not None:
            return self._of_last
        return Outcome.REPLACED if self.last >= self.end else Outcome.UNKNOWN

    def open_from(self, producer_id: int) -> int | None:
        return min((each.base_offset for each in self._open.get(producer_id, ())), default=None)
