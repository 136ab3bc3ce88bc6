"""Record sections to columns, many batches at a time.

A short Python loop finds where records start, since each start depends on the length before it; numpy reads
the fields of all records at once. Whatever is not plainly valid goes to the scalar decoder, which alone
decides what is corrupt and words the error. So both accept and refuse the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from heliograph.errors import CorruptRecords
from heliograph.records.columns import ByteColumn, Columns, columns_of, ends, repeated
from heliograph.records.decode import Record, decode_section
from heliograph.records.framing import Section
from heliograph.records.varint import decode_unsigned
from heliograph.records.varint_arrays import MAX_BYTES, Bytes, Ints, LongVarint, read_varints

#: Below this many records a call, the fixed costs of numpy are higher than those of the scalar decoder
#: (`python -m benchmarks.columns`).
SMALL = 40
#: Each further header of a record costs a round of numpy; more are left to the scalar decoder.
_MAX_HEADERS = 64
_MARGIN = bytes(MAX_BYTES + 1)
_TIMESTAMPS = 1 << 63


class _NotPlain(Exception):
    """Corrupt, or a rare form: the scalar decoder decides."""


def decode_columns(sections: Sequence[Section]) -> Columns:
    """The records of consecutive batches of one partition. Raises CorruptRecords, as `decode` does."""
    if sum(section.count for section in sections) >= SMALL:
        try:
            return _decode(sections)
        except (_NotPlain, LongVarint, IndexError, CorruptRecords):
            pass  # decode_section finds the same, and says where
    records = [record for section in sections for record in decode_section(section)]
    if records:
        check_timestamps(records, sections[0].subject)
    return columns_of(records)


def _decode(sections: Sequence[Section]) -> Columns:
    data = b"".join([*(section.data for section in sections), _MARGIN])
    counts = np.fromiter((section.count for section in sections), np.int64, len(sections))
    raw = np.frombuffer(data, np.uint8)
    record, end = _spans(data, raw, sections)

    timestamp, at = read_varints(raw, record + 1)
    _require(at <= end)
    delta, at = read_varints(raw, at)
    last = repeated((section.last_offset_delta for section in sections), counts)
    _require((at <= end) & (delta >= 0) & (delta <= last))
    body = ByteColumn(data, at, end - at)
    key, at = _field(data, raw, at, end)
    value, at = _field(data, raw, at, end)
    header_count, at = read_varints(raw, at)
    _require((at <= end) & (header_count >= 0) & (header_count <= _MAX_HEADERS))
    name, content = _headers(data, raw, header_count, at, end)

    return Columns(
        offset=delta + repeated((section.base_offset for section in sections), counts),
        timestamp=_timestamps(sections, counts, timestamp),
        key=key,
        value=value,
        header_count=header_count,
        name=name,
        content=content,
        body=body,
    )


def _spans(data: bytes, raw: Bytes, sections: Sequence[Section]) -> tuple[Ints, Ints]:
    """Where the fields of each record start (its attributes) and where it ends."""
    starts: list[int] = []
    section_end = 0
    for section in sections:
        at = _find_starts(data, section_end, section.count, starts)
        section_end += len(section.data)
        if at != section_end:
            raise _NotPlain
    start = np.array(starts, np.int64)
    length, fields = read_varints(raw, start)
    end = fields + length
    # The loop did not look at signs: each record must end where the next one starts.
    _require((length >= 1) & (end == np.append(start[1:], section_end)))
    return fields, end


def _find_starts(data: bytes, at: int, count: int, starts: list[int]) -> int:
    """Appends where each of `count` records starts; returns where the last one ends."""
    append = starts.append
    for _ in range(count):
        append(at)
        length = data[at]
        at += 1
        if length > 0x7F:
            byte = data[at]
            if byte < 0x80:
                length += (byte << 7) - 0x80
                at += 1
            else:
                length, at = decode_unsigned(data, at - 1)
        at += length >> 1
    return at


def _field(data: bytes, raw: Bytes, at: Ints, end: Ints) -> tuple[ByteColumn, Ints]:
    size, start = read_varints(raw, at)
    # `end - start` cannot overflow; `start + size` could.
    _require((start <= end) & (size >= -1) & (size <= end - start))
    return ByteColumn(data, start, size), start + np.maximum(size, 0)


def _headers(
    data: bytes, raw: Bytes, counts: Ints, at: Ints, end: Ints
) -> tuple[ByteColumn, ByteColumn]:
    """The headers of all records, whose positions `at` follow their counts: first headers, second ones, …"""
    total = int(counts.sum())
    first = ends(counts) - counts
    name = ByteColumn(data, np.zeros(total, np.int64), np.zeros(total, np.int64))
    content = ByteColumn(data, np.zeros(total, np.int64), np.zeros(total, np.int64))
    live = np.flatnonzero(counts)
    number = 0
    while live.size:
        row = first[live] + number
        found, after = _field(data, raw, at[live], end[live])
        _require(found.size >= 0)
        name.start[row], name.size[row] = found.start, found.size
        found, after = _field(data, raw, after, end[live])
        content.start[row], content.size[row] = found.start, found.size
        at[live] = after
        number += 1
        live = live[counts[live] > number]
    _require(at == end)
    return name, content


def _timestamps(sections: Sequence[Section], counts: Ints, delta: Ints) -> Ints:
    base = repeated((section.base_timestamp for section in sections), counts)
    timestamp = base + delta
    # Signs that differ from those of both terms show an overflow.
    _require(((base ^ timestamp) & (delta ^ timestamp)) >= 0)
    if all(section.append_timestamp is None for section in sections):
        return timestamp
    appended = np.repeat([section.append_timestamp is not None for section in sections], counts)
    return np.where(
        appended,
        repeated((section.append_timestamp or 0 for section in sections), counts),
        timestamp,
    )


def _require(valid: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> None:
    if not valid.all():
        raise _NotPlain


def check_timestamps(records: Sequence[Record], subject: str) -> None:
    """The scalar decoder's timestamps have no limit; those of columns have 64 bits."""
    for record in records:
        if not -_TIMESTAMPS <= record.timestamp < _TIMESTAMPS:
            raise CorruptRecords(
                f"{subject}: timestamp {record.timestamp} of the record at offset {record.offset}: "
                "more than 64 bits"
            )
