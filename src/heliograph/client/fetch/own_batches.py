"""Finds the last record in a log that a producer had appended before its snapshot, where later ones are
lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from heliograph.client.admin.topics import EARLIEST, LATEST, available_offsets
from heliograph.client.fetch.log_reader import LogReader
from heliograph.client.net.cluster import ClusterClient
from heliograph.errors import ClientError
from heliograph.model import ProducerIdentity, TopicPartition
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
        if search.found is not None:
            return OwnEnd(min(search.found, before))
        if start <= starts[partition] or span >= _MOST or reader.unreadable:
            whole = start <= 0 and not reader.unreadable
            return OwnEnd(min(search.since, before), proven=whole)
        span *= 2


@dataclass(slots=True)
class _Search:
    """Reads headers up to `end`. `found` is the offset after the last record with a lower number, `since`
    that of the first with a higher one."""

    identity: ProducerIdentity
    sequence: int | None
    end: int
    found: int | None = None
    since: int = -1

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
            if not ours or header.attributes & CONTROL or header.base_offset >= self.end:
                continue
            if self._is_since(header.producer_epoch, header.base_sequence):
                self.since = min(self.since, header.base_offset)
            else:
                self.found = header.last_offset + 1
        return None if position >= self.end else position

    def _is_since(self, epoch: int, sequence: int) -> bool:
        if self.sequence is None or epoch != self.identity.epoch:
            return self.sequence is not None and epoch > self.identity.epoch
        return (sequence - self.sequence) % SEQUENCES < SEQUENCES // 2
