"""Record batches as brokers have them in their logs."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from fastcrc import crc32

from heliograph.records.batch import CONTROL, TRANSACTIONAL
from heliograph.records.decode import Record
from heliograph.records.encode import encode_record
from heliograph.records.framing import frame

_BASE_OFFSET_AT, _LEADER_EPOCH_AT, _CRC_AT, _ATTRIBUTES_AT, _LAST_DELTA_AT = 0, 12, 17, 21, 23
TIMESTAMP = 5
_ABORT, _COMMIT = 0, 1


@dataclass(frozen=True, kw_only=True)
class SourceBatch:
    """`records` are (offset delta, value); compaction leaves holes. A control batch ends its producer's
    transaction and holds no record for readers."""

    base: int
    records: tuple[tuple[int, bytes], ...]
    last_delta: int
    epoch: int
    producer_id: int = -1
    control: bool = False
    timestamp: int = TIMESTAMP
    data: bytes

    @property
    def last(self) -> int:
        return self.base + self.last_delta


def data_batch(
    base: int,
    records: Sequence[tuple[int, bytes]],
    last_delta: int,
    epoch: int,
    producer_id: int = -1,
    timestamp: int = TIMESTAMP,
) -> SourceBatch:
    section = b"".join(
        encode_record(Record(timestamp=timestamp, key=b"k", value=value), 0, delta)
        for delta, value in records
    )
    attributes = TRANSACTIONAL if producer_id >= 0 else 0
    data = _framed(
        section, len(records), attributes, last_delta, base, epoch, producer_id, timestamp
    )
    return SourceBatch(
        base=base,
        records=tuple(records),
        last_delta=last_delta,
        epoch=epoch,
        producer_id=producer_id,
        timestamp=timestamp,
        data=data,
    )


def marker(base: int, epoch: int, producer_id: int, *, commit: bool) -> SourceBatch:
    """The key of its one record is (version i16, type i16)."""
    key = struct.pack(">hh", 0, _COMMIT if commit else _ABORT)
    record = Record(timestamp=TIMESTAMP, key=key, value=bytes(6))
    section = encode_record(record, 0, 0)
    data = _framed(section, 1, TRANSACTIONAL | CONTROL, 0, base, epoch, producer_id)
    return SourceBatch(
        base=base,
        records=(),
        last_delta=0,
        epoch=epoch,
        producer_id=producer_id,
        control=True,
        data=data,
    )


def at_offset(batch: bytes, base: int) -> bytes:
    """As a broker appends it: the base offset stands outside the checksum."""
    return struct.pack(">q", base) + batch[8:]


def _framed(
    section: bytes,
    count: int,
    attributes: int,
    last_delta: int,
    base: int,
    epoch: int,
    producer_id: int,
    timestamp: int = TIMESTAMP,
) -> bytes:
    batch = frame(
        [section],
        attributes=attributes,
        count=count,
        base_timestamp=timestamp,
        max_timestamp=timestamp,
        producer_id=producer_id,
        producer_epoch=0 if producer_id >= 0 else -1,
    )
    struct.pack_into(">i", batch, _LAST_DELTA_AT, last_delta)
    struct.pack_into(">I", batch, _CRC_AT, crc32.iscsi(memoryview(batch)[_ATTRIBUTES_AT:]))
    struct.pack_into(">q", batch, _BASE_OFFSET_AT, base)
    struct.pack_into(">i", batch, _LEADER_EPOCH_AT, epoch)
    return bytes(batch)
