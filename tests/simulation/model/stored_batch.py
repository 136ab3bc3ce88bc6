"""A record batch of version 2 in a log (`DefaultRecordBatch`, `EndTransactionMarker`)."""

from __future__ import annotations

import struct
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from fastcrc import crc32

from heliograph.records.batch import (
    ATTRIBUTES_AT,
    CODEC,
    CONTROL,
    SEQUENCES,
    TRANSACTIONAL,
    Header,
    is_abort_marker,
    read_header,
)
from heliograph.records.decode import Record, decode
from heliograph.records.encode import encode_record
from heliograph.records.framing import frame

NO_PRODUCER, NO_EPOCH, NO_SEQUENCE, NO_TIMESTAMP = -1, -1, -1, -1
_LEADER_EPOCH_AT, _CRC_AT, _LAST_DELTA_AT = 12, 17, 23
_ABORT, _COMMIT = 0, 1
_MARKER_KEY = struct.Struct(">hh")  # version, type
_MARKER_VALUE = struct.Struct(">hi")  # version, coordinator epoch


@dataclass(frozen=True)
class StoredBatch:
    data: bytes

    @cached_property
    def header(self) -> Header:
        return read_header(memoryview(self.data))

    @cached_property
    def base(self) -> int:
        return self.header.base_offset

    @cached_property
    def last(self) -> int:
        return self.header.last_offset

    @property
    def transactional(self) -> bool:
        return bool(self.header.attributes & TRANSACTIONAL)

    @property
    def control(self) -> bool:
        return bool(self.header.attributes & CONTROL)

    @property
    def last_sequence(self) -> int:
        first = self.header.base_sequence
        return first if first < 0 else (first + self.header.last_offset_delta) % SEQUENCES

    @cached_property
    def aborts(self) -> bool:
        """Whether it is the marker of an aborted transaction."""
        return self.control and is_abort_marker(memoryview(self.data))

    @cached_property
    def coordinator_epoch(self) -> int:
        """Of a marker."""
        value = self.records[0].value
        assert value is not None
        return int(_MARKER_VALUE.unpack(value)[1])

    @cached_property
    def records(self) -> list[Record]:
        return list(decode(memoryview(self.data)))


def placed(data: bytes, base: int, leader_epoch: int) -> StoredBatch:
    """As the leader appends it. Base offset and leader epoch stand outside the checksum."""
    batch = bytearray(data)
    struct.pack_into(">q", batch, 0, base)
    struct.pack_into(">i", batch, _LEADER_EPOCH_AT, leader_epoch)
    return StoredBatch(bytes(batch))


def marker(
    base: int,
    leader_epoch: int,
    producer: tuple[int, int],
    *,
    commit: bool,
    coordinator_epoch: int,
    timestamp: int,
) -> StoredBatch:
    """`producer`: id and epoch."""
    record = Record(
        timestamp=timestamp,
        key=_MARKER_KEY.pack(0, _COMMIT if commit else _ABORT),
        value=_MARKER_VALUE.pack(0, coordinator_epoch),
    )
    batch = frame(
        [encode_record(record, 0, 0)],
        attributes=TRANSACTIONAL | CONTROL,
        count=1,
        base_timestamp=timestamp,
        max_timestamp=timestamp,
        producer_id=producer[0],
        producer_epoch=producer[1],
    )
    return placed(bytes(batch), base, leader_epoch)


def thinned(batch: StoredBatch, keep: Collection[int]) -> StoredBatch:
    """With the records at these offsets alone; base and last offset, sequence and producer stay
    (`MemoryRecords.filterTo`)."""
    header = batch.header
    kept = [record for record in batch.records if record.offset in keep]
    section = b"".join(
        encode_record(
            record, record.timestamp - header.base_timestamp, record.offset - header.base_offset
        )
        for record in kept
    )
    made = frame(
        [section],
        attributes=header.attributes & ~CODEC,
        count=len(kept),
        base_timestamp=header.base_timestamp,
        max_timestamp=header.max_timestamp,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        sequence=header.base_sequence,
    )
    struct.pack_into(">i", made, _LAST_DELTA_AT, header.last_offset_delta)
    struct.pack_into(">I", made, _CRC_AT, crc32.iscsi(memoryview(made)[ATTRIBUTES_AT:]))
    return placed(bytes(made), header.base_offset, header.leader_epoch)
