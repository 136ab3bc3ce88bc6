"""Finds the last record in a log that a producer had appended before its snapshot, where later ones are
lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from heliograph.client.admin.topics import EARLIEST, LATEST, available_offsets
from heliograph.client.fetch.log_reader import LogReader
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.producer import MAX_IN_FLIGHT
from heliograph.errors import ClientError
from heliograph.model import ProducerIdentity, TopicPartition
from heliograph.records.batch import (
    CONTROL,
    MAGIC_AT,
    PREFIX,
    SEQUENCES,
    Header,
    check_crc,
    check_header,
    read_header,
    split,
)
from heliograph.wire.fetch import FetchedPartition

_PATIENCE_SECONDS = 10.0
#: Offsets read at first; then twice as many, until a record from before the snapshot is found.
_FIRST_LOOK, _MOST = 64, 1 << 16


class OwnEnd(NamedTuple):
    """The offset after the last record of a producer that is left. Not `proven`: that part of the log is
    deleted or cannot be read, so newer records of the same producer may have been there."""

    offset: int
    proven: bool = True


def end_before(
    cluster: ClusterClient,
    partition: TopicPartition,
    identity: ProducerIdentity,
    sequence: int | None,
    before: int,
) -> OwnEnd:
    """The offset after the last record of this producer that has a lower number than `sequence` of
    `identity` (None: any number), at most `before`. It is searched backwards from there: records that other
    writers, or a later mirror, have written since may be at the offsets of lost ones. Raises ClientError."""
    starts, failed = available_offsets(cluster, [partition], EARLIEST)
    ends, without_end = available_offsets(cluster, [partition], LATEST)
    for error in (failed | without_end).values():
        raise error
    end, span = min(before, ends[partition]), _FIRST_LOOK
    while True:
        start = max(end - span, starts[partition])
        search = _Search(identity, sequence, end)
        reader = LogReader(cluster, search.read)
        if start < end and reader.run({partition: start}, patience=_PATIENCE_SECONDS):
            raise ClientError(f"{partition}: could not be read within {_PATIENCE_SECONDS:g} s")
        over = start <= starts[partition] or span >= _MOST or bool(reader.unreadable)
        # Of a dead task so many batches may be appended late: only their numbers show a loss before them.
        if search.found is not None and (over or search.batches > MAX_IN_FLIGHT):
            return OwnEnd(min(search.found, before))
        if over:
            whole = start <= 0 and not reader.unreadable
            return OwnEnd(min(search.since, before), proven=whole)
        span *= 2


@dataclass(slots=True)
class _Search:
    """Reads headers up to `end`. `found` is the offset after the last record with a lower number, `since`
    that of the first with a higher one.

    A lower epoch has lower numbers, but a late request of a dead task may bring some of them after the loss:

        offset    … 25 26 │ 27            each record takes an offset, so numbers never grow faster than
        number    … 23 24 │ 29            offsets: what lay between is lost, and the rest was written since
    """

    identity: ProducerIdentity
    sequence: int | None
    end: int
    found: int | None = None
    since: int = -1
    batches: int = 0
    _before: Header | None = None  # the newest batch that stands before the loss
    #: Of batches in the place of lost ones. A later epoch began after a look at the log, which showed them.
    _late_epoch: int = -1

    def __post_init__(self) -> None:
        self.since = self.end

    def read(self, _: TopicPartition, position: int, answer: FetchedPartition) -> int | None:
        for batch in split(answer.records):
            if batch[MAGIC_AT] < 2:  # formats before producer ids
                position = max(position, PREFIX.unpack_from(batch)[0] + 1)
                continue
            header = read_header(batch)
            check_header(header)
            check_crc(batch, header)
            position = max(position, header.last_offset + 1)
            ours = header.producer_id == self.identity.producer_id
            if ours and not header.attributes & CONTROL and header.base_offset < self.end:
                self._place(header)
        return None if position >= self.end else position

    def _place(self, header: Header) -> None:
        self.batches += 1
        epoch = header.producer_epoch
        if self._before is not None and _lacks_records(self._before, header):
            self._late_epoch = epoch
        if epoch == self._late_epoch or self._is_since(epoch, header.base_sequence):
            self.since = min(self.since, header.base_offset)
        else:
            self.found, self._before = header.last_offset + 1, header

    def _is_since(self, epoch: int, sequence: int) -> bool:
        if self.sequence is None or epoch != self.identity.epoch:
            return self.sequence is not None and epoch > self.identity.epoch
        return (sequence - self.sequence) % SEQUENCES < SEQUENCES // 2


def _lacks_records(before: Header, header: Header) -> bool:
    """Whether records between these batches of one producer are lost, and `header` was written in their
    place."""
    if before.producer_epoch != header.producer_epoch:
        return False
    numbers = (header.base_sequence - before.base_sequence) % SEQUENCES
    offsets = header.base_offset - before.base_offset
    return offsets < numbers < SEQUENCES // 2
