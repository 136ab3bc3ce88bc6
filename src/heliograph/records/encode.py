"""Encodes records as one batch of magic 2, for internal topics and tests."""

from __future__ import annotations

from collections.abc import Sequence

from heliograph.records.batch import TRANSACTIONAL
from heliograph.records.codecs import NONE, compress
from heliograph.records.decode import Record
from heliograph.records.framing import frame
from heliograph.records.varint import encode_varint


def encode(
    records: Sequence[Record],
    *,
    codec: int = NONE,
    producer_id: int = -1,
    producer_epoch: int = -1,
    sequence: int = -1,
    transactional: bool = False,
) -> bytearray:
    """A batch for a produce request: offsets 0 to n-1, whatever the records have; base is the first
    timestamp."""
    if not records:
        raise ValueError("a record batch needs at least one record")
    return frame(
        [compress(codec, encode_section(records))],
        attributes=codec | (TRANSACTIONAL if transactional else 0),
        count=len(records),
        base_timestamp=records[0].timestamp,
        max_timestamp=max(record.timestamp for record in records),
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        sequence=sequence,
    )


def encode_section(records: Sequence[Record]) -> bytes:
    """The uncompressed records of one batch; deltas count from the first record's timestamp, and from
    offset 0."""
    base_timestamp = records[0].timestamp
    return b"".join(
        encode_record(record, record.timestamp - base_timestamp, delta)
        for delta, record in enumerate(records)
    )


def encode_record(record: Record, timestamp_delta: int, offset_delta: int) -> bytes:
    """length | attributes i8 | timestampDelta | offsetDelta | key | value | headerCount, headers"""
    pieces = [b"\x00", encode_varint(timestamp_delta), encode_varint(offset_delta)]
    for field in (record.key, record.value):
        _append_bytes(pieces, field)
    pieces.append(encode_varint(len(record.headers)))
    for name, content in record.headers:
        _append_bytes(pieces, name)
        _append_bytes(pieces, content)
    body = b"".join(pieces)
    return encode_varint(len(body)) + body


def _append_bytes(pieces: list[bytes], field: bytes | None) -> None:
    if field is None:
        pieces.append(b"\x01")  # -1
    else:
        pieces += encode_varint(len(field)), field
