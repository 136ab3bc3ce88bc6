"""Decodes a batch of magic 2 into records, one at a time: for internal topics, tests and few records.

The copy does not decode; `columns_decode.py` decodes many records at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from heliograph.errors import CorruptRecords
from heliograph.records.framing import Section, unframe
from heliograph.records.varint import decode_varint, decode_varlong

Header = tuple[bytes, bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record as a consumer sees it. Header names are bytes: Kafka does not check that they are UTF-8."""

    offset: int = 0
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()


def decode(batch: memoryview, *, subject: str = "", limit: int | None = None) -> list[Record]:
    """All records of one whole batch. Raises CorruptRecords if any part of it is malformed."""
    return decode_section(unframe(batch, subject=subject, limit=limit))


def decode_section(section: Section) -> list[Record]:
    """All records of one section. Raises CorruptRecords if any part of it is malformed."""
    records = []
    position = 0
    try:
        for _ in range(section.count):
            record, position = _decode_record(section, position)
            records.append(record)
    except CorruptRecords as problem:
        raise CorruptRecords(
            f"{section.subject}: record {len(records)} of {section.count}: {problem}"
        ) from problem
    if position != len(section.data):
        raise CorruptRecords(
            f"{section.subject}: {section.count} records end at byte {position} of "
            f"{len(section.data)}"
        )
    return records


def _decode_record(section: Section, position: int) -> tuple[Record, int]:
    """length | attributes i8 | timestampDelta | offsetDelta | key | value | headerCount, headers"""
    data = section.data
    length, position = decode_varint(data, position)
    end = position + length
    if length < 0 or end > len(data):
        raise CorruptRecords(f"length {length} with {len(data) - position} bytes left")
    timestamp_delta, position = decode_varlong(data, position + 1)
    offset_delta, position = decode_varint(data, position)
    if not 0 <= offset_delta <= section.last_offset_delta:
        raise CorruptRecords(
            f"offset delta {offset_delta}, the last is {section.last_offset_delta}"
        )
    key, position = _decode_bytes(data, position)
    value, position = _decode_bytes(data, position)
    count, position = decode_varint(data, position)
    if count < 0:
        raise CorruptRecords(f"{count} headers")
    headers = []
    for _ in range(count):
        name, position = _decode_bytes(data, position)
        if name is None:
            raise CorruptRecords("a header without a name")
        content, position = _decode_bytes(data, position)
        headers.append((name, content))
    if position != end:
        raise CorruptRecords(f"length says it ends at byte {end}, its fields end at {position}")
    timestamp = section.append_timestamp
    if timestamp is None:
        timestamp = section.base_timestamp + timestamp_delta
    return Record(
        offset=section.base_offset + offset_delta,
        timestamp=timestamp,
        key=key,
        value=value,
        headers=tuple(headers),
    ), position


def _decode_bytes(data: bytes, position: int) -> tuple[bytes | None, int]:
    size, position = decode_varint(data, position)
    if size == -1:
        return None, position
    end = position + size
    if size < 0 or end > len(data):
        raise CorruptRecords(f"a field of {size} bytes with {len(data) - position} bytes left")
    return data[position:end], end
