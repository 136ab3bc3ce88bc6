"""Columns to record batches: sizes first, then every number at its place, then the bytes between them.

length | attributes i8 | timestampDelta | offsetDelta | key | value | headerCount, headers
↑ start                                                ↑ body                         end ↑
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from heliograph.records.batch import HEADER_BYTES, SEQUENCES, TRANSACTIONAL
from heliograph.records.codecs import NONE, compress
from heliograph.records.columns import ByteColumn, Columns, Mask, ends, records_of, repeated
from heliograph.records.encode import encode_section
from heliograph.records.framing import write_header
from heliograph.records.varint_arrays import Bytes, Ints, varint_sizes, write_varints

#: Below this many records a call the scalar encoder is faster (`python -m benchmarks.columns`).
SMALL = 60
#: Columns with fewer bytes a row are gathered by numpy, byte by byte; longer ones are copied in a loop.
_GATHERED = 32


def encode_columns(
    columns: Columns,
    *,
    cuts: Sequence[int] = (),
    codec: int = NONE,
    producer_id: int = -1,
    producer_epoch: int = -1,
    sequence: int = -1,
    transactional: bool = False,
) -> list[memoryview]:
    """Batches for a produce request, with the bytes that `encode` would give them.

    Each of `cuts` is the row where another batch begins. `sequence` is that of the first batch.
    """
    bounds = [0, *cuts, len(columns)]
    if any(low >= high for low, high in pairwise(bounds)):
        raise ValueError("a record batch needs at least one record")
    newest = np.maximum.reduceat(columns.timestamp, bounds[:-1]).tolist()
    plain = _scalar(columns, bounds) if len(columns) < SMALL else _plain_batches(columns, bounds)
    batches = []
    for batch, (low, high), max_timestamp in zip(plain, pairwise(bounds), newest, strict=True):
        if codec != NONE:
            records = compress(codec, batch[HEADER_BYTES:])
            batch = memoryview(bytearray().join((bytes(HEADER_BYTES), records)))
        write_header(
            batch,
            attributes=codec | (TRANSACTIONAL if transactional else 0),
            count=high - low,
            base_timestamp=int(columns.timestamp[low]),
            max_timestamp=max_timestamp,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            sequence=-1 if sequence < 0 else (sequence + low) % SEQUENCES,
        )
        batches.append(batch)
    return batches


def _scalar(columns: Columns, bounds: Sequence[int]) -> list[memoryview]:
    records = records_of(columns)
    return [
        memoryview(bytearray().join((bytes(HEADER_BYTES), encode_section(records[low:high]))))
        for low, high in pairwise(bounds)
    ]


def _plain_batches(columns: Columns, bounds: Sequence[int]) -> list[memoryview]:
    """Uncompressed batches, slices of one buffer, their headers still to be written."""
    counts = np.array([high - low for low, high in pairwise(bounds)], np.int64)
    timestamp = columns.timestamp - np.repeat(columns.timestamp[bounds[:-1]], counts)
    delta = np.arange(len(columns), dtype=np.int64) - repeated(bounds[:-1], counts)
    fetched = _fetched(columns)
    body_size = _body_sizes(columns, fetched)

    timestamp_size = varint_sizes(timestamp)
    length = 1 + timestamp_size + varint_sizes(delta) + body_size
    length_size = varint_sizes(length)
    size = length_size + length
    end = ends(size) + repeated(
        range(HEADER_BYTES, HEADER_BYTES * len(bounds), HEADER_BYTES), counts
    )
    out = bytearray(int(end[-1]))
    raw = np.frombuffer(out, np.uint8)
    at = end - size
    write_varints(raw, at, length)
    at += length_size + 1  # attributes are 0
    write_varints(raw, at, timestamp)
    write_varints(raw, at + timestamp_size, delta)
    body = end - body_size
    if columns.body is not None and fetched.any():
        _copy(out, raw, body[fetched], columns.body.keep(fetched))
        if not fetched.all():
            _write_bodies(out, raw, body[~fetched], columns.keep(~fetched))
    else:
        _write_bodies(out, raw, body, columns)

    view = memoryview(out)
    limits = [0, *end[np.array(bounds[1:]) - 1].tolist()]
    return [view[low:high] for low, high in pairwise(limits)]


def _fetched(columns: Columns) -> Mask:
    if columns.body is None:
        return np.zeros(len(columns), np.bool_)
    return columns.body.size >= 0


def _body_sizes(columns: Columns, fetched: Mask) -> Ints:
    if columns.body is not None and fetched.all():
        return columns.body.size
    headers = np.append(0, ends(_field_sizes(columns.name) + _field_sizes(columns.content)))
    last = ends(columns.header_count)
    size = (
        _field_sizes(columns.key)
        + _field_sizes(columns.value)
        + varint_sizes(columns.header_count)
        + headers[last]
        - headers[last - columns.header_count]
    )
    return size if columns.body is None else np.where(fetched, columns.body.size, size)


def _field_sizes(column: ByteColumn) -> Ints:
    return varint_sizes(column.size) + np.maximum(column.size, 0)


def _write_bodies(out: bytearray, raw: Bytes, at: Ints, columns: Columns) -> None:
    """Keys, values and headers, from their columns."""
    at = _write_field(out, raw, at, columns.key)
    at = _write_field(out, raw, at, columns.value)
    write_varints(raw, at, columns.header_count)
    if not len(columns.name):
        return
    at = at + varint_sizes(columns.header_count)
    # A header starts where its record's headers do, plus the sizes of those before it in its record.
    sizes = _field_sizes(columns.name) + _field_sizes(columns.content)
    before = ends(sizes) - sizes
    first = ends(columns.header_count) - columns.header_count
    some = columns.header_count > 0
    at = before + np.repeat((at[some] - before[first[some]]), columns.header_count[some])
    at = _write_field(out, raw, at, columns.name)
    _write_field(out, raw, at, columns.content)


def _write_field(out: bytearray, raw: Bytes, at: Ints, column: ByteColumn) -> Ints:
    """Length and bytes of each row at its position; returns the positions after them."""
    write_varints(raw, at, column.size)
    at = at + varint_sizes(column.size)
    _copy(out, raw, at, column)
    return at + np.maximum(column.size, 0)


def _copy(out: bytearray, raw: Bytes, at: Ints, column: ByteColumn) -> None:
    size = np.maximum(column.size, 0)
    total = int(size.sum())
    if not total:
        return
    if total < _GATHERED * len(size):
        within = np.arange(total, dtype=np.int64) - np.repeat(ends(size) - size, size)
        source_bytes = np.frombuffer(column.data, np.uint8)
        raw[within + np.repeat(at, size)] = source_bytes[within + np.repeat(column.start, size)]
        return
    source, target = memoryview(column.data), memoryview(out)
    for low, high, start, stop in zip(
        at.tolist(),
        (at + size).tolist(),
        column.start.tolist(),
        (column.start + size).tolist(),
        strict=True,
    ):
        target[low:high] = source[start:stop]
