"""Removes the header of a batch of magic 2, with all checks, and writes one with its CRC.

A batch with a delete horizon (KIP-534) has that horizon as its baseTimestamp, and its records' deltas count
from there (`MemoryRecordsBuilder`), so it needs no special case.
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
    """The decompressed records of one batch, and what is needed to decode them."""

    data: bytes
    count: int
    codec: int
    base_offset: int
    last_offset_delta: int
    base_timestamp: int
    append_timestamp: int | None  # of all records with LogAppendTime, else None
    subject: str  # names this batch in errors


def unframe(batch: memoryview, *, subject: str = "", limit: int | None = None) -> Section:
    """The record section of one whole batch; checks lengths and CRC-32C, not the records."""
    subject = subject or "record batch"
    if len(batch) < HEADER_BYTES:
        raise CorruptRecords(
            f"{subject}: {len(batch)} bytes, expected at least {HEADER_BYTES}, the size of a header"
        )
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
    pieces: Sequence[bytes | bytearray | memoryview],
    *,
    attributes: int,
    count: int,
    base_timestamp: int,
    max_timestamp: int,
    producer_id: int = -1,
    producer_epoch: int = -1,
    sequence: int = -1,
) -> bytearray:
    """A batch with base offset 0 and leader epoch -1 around `pieces`, which are compressed already."""
    batch = bytearray().join((bytes(HEADER_BYTES), *pieces))
    write_header(
        memoryview(batch),
        attributes=attributes,
        count=count,
        base_timestamp=base_timestamp,
        max_timestamp=max_timestamp,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        sequence=sequence,
    )
    return batch


def write_header(
    batch: memoryview,
    *,
    attributes: int,
    count: int,
    base_timestamp: int,
    max_timestamp: int,
    producer_id: int = -1,
    producer_epoch: int = -1,
    sequence: int = -1,
) -> None:
    """The header of a whole batch whose records are in place, with its CRC."""
    HEADER.pack_into(
        batch,
        0,
        0,
        len(batch) - PREFIX.size,
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
    pack_into(">I", batch, _CRC_AT, crc32.iscsi(batch[ATTRIBUTES_AT:]))
