"""Records as columns: numpy arrays of positions in the bytes that were fetched. Nothing is copied or decoded.

    data    … 04 "k1" 0a "value" 00 … 01 0c "value2" …         key   start 1    -         size 2  -1 (null)
               ↑ body           end ↑                          value start 4    22        size 5   6

`columns_decode.py` makes them from record batches, `columns_encode.py` makes record batches from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from heliograph.records.decode import Record
from heliograph.records.varint_arrays import Ints

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class ByteColumn:
    """Byte strings, each a span of `data`; size -1 is null."""

    data: bytes | memoryview
    start: Ints
    size: Ints

    @classmethod
    def of(cls, values: Sequence[bytes | None]) -> ByteColumn:
        size = np.fromiter((-1 if v is None else len(v) for v in values), np.int64, len(values))
        data = b"".join([v for v in values if v is not None])
        return cls(data, ends(np.maximum(size, 0)) - np.maximum(size, 0), size)

    def __len__(self) -> int:
        return len(self.size)

    def __getitem__(self, row: int) -> bytes | None:
        size = int(self.size[row])
        start = int(self.start[row])
        return None if size < 0 else bytes(self.data[start : start + size])

    def tolist(self) -> list[bytes | None]:
        data = bytes(self.data)  # no copy of bytes
        stop = (self.start + self.size).tolist()
        spans = zip(self.start.tolist(), stop, strict=True)
        if (self.size < 0).any():
            return [data[low:high] if high >= low else None for low, high in spans]
        return [data[low:high] for low, high in spans]

    def keep(self, rows: Mask) -> ByteColumn:
        return ByteColumn(self.data, self.start[rows], self.size[rows])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Columns:
    """Records of one partition, in order. `name` and `content` are the headers of all records in a row.

    `body`: each record as it was fetched from its key on, so that one that did not change is copied as one
    piece; size -1: this record is written anew from its columns. None: all are.
    """

    offset: Ints
    timestamp: Ints
    key: ByteColumn
    value: ByteColumn
    header_count: Ints
    name: ByteColumn
    content: ByteColumn
    body: ByteColumn | None = None

    def __len__(self) -> int:
        return len(self.offset)

    def keep(self, rows: Mask) -> Columns:
        """The records where `rows` is true, in order."""
        headers = np.repeat(rows, self.header_count)
        return Columns(
            offset=self.offset[rows],
            timestamp=self.timestamp[rows],
            key=self.key.keep(rows),
            value=self.value.keep(rows),
            header_count=self.header_count[rows],
            name=self.name.keep(headers),
            content=self.content.keep(headers),
            body=None if self.body is None else self.body.keep(rows),
        )

    def changed(self, rows: Mask, **columns: ByteColumn | Ints) -> Columns:
        """With other `columns`, which differ from these in `rows` only."""
        body = self.body
        if body is not None:
            body = replace(body, size=np.where(rows, -1, body.size))
        return replace(self, body=body, **columns)  # type: ignore[arg-type]

    def headers(self) -> list[tuple[tuple[bytes, bytes | None], ...]]:
        """The headers of each record."""
        if not len(self.name):
            return [()] * len(self)
        names = [name or b"" for name in self.name.tolist()]
        pairs = list(zip(names, self.content.tolist(), strict=True))
        stop = ends(self.header_count).tolist()
        return [tuple(pairs[low:high]) for low, high in zip([0, *stop], stop, strict=False)]


def columns_of(records: Sequence[Record]) -> Columns:
    """Decoded records as columns; timestamps and offsets must fit into 64 bits."""
    count = len(records)
    headers = [header for record in records for header in record.headers]
    return Columns(
        offset=np.fromiter((record.offset for record in records), np.int64, count),
        timestamp=np.fromiter((record.timestamp for record in records), np.int64, count),
        key=ByteColumn.of([record.key for record in records]),
        value=ByteColumn.of([record.value for record in records]),
        header_count=np.fromiter((len(record.headers) for record in records), np.int64, count),
        name=ByteColumn.of([name for name, _ in headers]),
        content=ByteColumn.of([content for _, content in headers]),
    )


def records_of(columns: Columns) -> list[Record]:
    return [
        Record(offset=offset, timestamp=timestamp, key=key, value=value, headers=headers)
        for offset, timestamp, key, value, headers in zip(
            columns.offset.tolist(),
            columns.timestamp.tolist(),
            columns.key.tolist(),
            columns.value.tolist(),
            columns.headers(),
            strict=True,
        )
    ]


def ends(sizes: Ints) -> Ints:
    """Where each of consecutive spans of these sizes ends, the first beginning at 0."""
    return np.cumsum(sizes, dtype=np.int64)


def repeated(values: Iterable[int], counts: Ints) -> Ints:
    """Each value as often as its count says."""
    return np.repeat(np.fromiter(values, np.int64, len(counts)), counts)
