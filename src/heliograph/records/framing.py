"""The header around a record section of magic 2: taken off with all checks, put on with a CRC.

A batch with a delete horizon (KIP-534) has that horizon as its baseTimestamp, and its records'
deltas count from there (`MemoryRecordsBuilder`): nothing about its timestamps is special.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from struct import pack_into

from fastcrc import crc32

from heliograph.errors import CorruptRecords
from heliograph.records.batch import (
    ATTRIBUTES_AT,
    CODEC,
    HEADER,
    HEADER_BYTES,
    LOG_APPEND_TIME,
    PREFIX,
    check_crc,
    check_header,
    read_header,
)
from heliograph.records.codecs import decompress

_CRC_AT = 17


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The records of one batch, decompressed, and what is needed to read them."""

    data: bytes
    count: int
    codec: int
    base_offset: int
    last_offset_delta: int
    base_timestamp: int
    append_timestamp: int | None  # the time of all records if the broker stamped them, else None
    subject: str  # how errors call this batch


def unframe(batch: memoryview, *, subject: str = "", limit: int | None = None) -> Section:
    """The section of one whole batch; lengths and CRC-32C are checked, records not yet."""
    subject = subject or "record batch"
    if len(batch) < HEADER_BYTES:
        raise CorruptRecords(f"{subject}: {len(batch)} bytes, a header alone has {HEADER_BYTES}")
    header = read_header(batch)
    check_header(header, subject)
    subject = f"{subject} at source offset {header.base_offset}"
    found = len(batch) - PREFIX.size
    if header.length != found:
        raise CorruptRecords(f"{subject}: batchLength {header.length}, found {found} bytes")
    check_crc(batch, header)
    codec = header.attributes & CODEC
    return Section(
        data=bytes(decompress(codec, batch[HEADER_BYTES:], limit=limit, subject=subject)),
        count=header.record_count,
        codec=codec,
        base_offset=header.base_offset,
        last_offset_delta=header.last_offset_delta,
        base_timestamp=header.base_timestamp,
        append_timestamp=header.max_timestamp if header.attributes & LOG_APPEND_TIME else None,
        subject=subject,
    )


def frame(
    pieces: Sequence[bytes | bytearray],
    *,
    attributes: int,
    count: int,
    base_timestamp: int,
    max_timestamp: int,
    producer_id: int = -1,
    producer_epoch: int = -1,
    sequence: int = -1,
) -> bytearray:
    """A batch with base offset 0 and leader epoch -1 around `pieces`, compressed already."""
    size = HEADER_BYTES + sum(map(len, pieces))
    header = HEADER.pack(
        0,
        size - PREFIX.size,
        -1,
        2,
        0,
        attributes,
        count - 1,
        base_timestamp,
        max_timestamp,
        producer_id,
        producer_epoch,
        sequence,
        count,
    )
    batch = bytearray().join((header, *pieces))
    pack_into(">I", batch, _CRC_AT, crc32.iscsi(memoryview(batch)[ATTRIBUTES_AT:]))
    return batch
