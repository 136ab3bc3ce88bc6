"""Columns of records as Arrow arrays and back, for Spark and for functions that users write.

Arrow's own kernels move the bytes. Header names are strings to Arrow and Spark; neither checks that they are
UTF-8, so names that are not come back byte for byte.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from heliograph.records.columns import ByteColumn, Columns, ends
from heliograph.records.varint_arrays import Ints

HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
SCHEMA = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.int64()),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("headers", HEADERS),
    ]
)


def to_arrow(columns: Columns, topic: str, partition: int) -> pa.RecordBatch:
    """The records of one partition, by `SCHEMA`."""
    count = len(columns)
    heads = np.zeros(count + 1, np.int32)
    heads[1:] = ends(columns.header_count)
    pairs = pa.StructArray.from_arrays(
        [_array(columns.name, pa.string()), _array(columns.content, pa.binary())],
        fields=list(HEADERS.value_type),
    )
    return pa.RecordBatch.from_arrays(
        [
            pa.repeat(topic, count),
            pa.repeat(pa.scalar(partition, pa.int32()), count),
            pa.array(columns.offset),
            pa.array(columns.timestamp),
            _array(columns.key, pa.binary()),
            _array(columns.value, pa.binary()),
            pa.ListArray.from_arrays(pa.array(heads), pairs, type=HEADERS),
        ],
        schema=SCHEMA,
    )


def from_arrow(batch: pa.RecordBatch) -> Columns:
    """The columns of a batch that has those of `SCHEMA`, in any order, topic and partition aside."""
    headers = batch.column("headers")
    pairs = headers.flatten()
    return Columns(
        offset=_ints(batch.column("offset")),
        timestamp=_ints(batch.column("timestamp")),
        key=_column(batch.column("key")),
        value=_column(batch.column("value")),
        header_count=_ints(pc.fill_null(pc.list_value_length(headers), 0)),
        name=_column(pairs.field("key")),
        content=_column(pairs.field("value")),
    )


def _array(column: ByteColumn, kind: pa.DataType) -> pa.Array:
    """Every other one of an array of fields and the gaps between them: one copy, by Arrow's `take`."""
    count = len(column)
    if not count:
        return pa.array([], kind)
    offsets = np.empty(2 * count + 1, np.int32)
    offsets[0:-1:2] = column.start
    offsets[1::2] = column.start + np.maximum(column.size, 0)
    offsets[-1] = offsets[-2]
    spans = pa.Array.from_buffers(
        kind, 2 * count, [None, pa.py_buffer(offsets), pa.py_buffer(column.data)]
    )
    null = column.size < 0
    rows = pa.array(np.arange(0, 2 * count, 2, dtype=np.int32), mask=null if null.any() else None)
    return spans.take(rows)


def _column(array: pa.Array) -> ByteColumn:
    """A column over the bytes of a binary or string array, which may be a slice of a longer one."""
    _, offsets, data = array.buffers()
    count = len(array)
    bounds = np.zeros(1, np.int32)
    if offsets is not None and count:
        bounds = np.frombuffer(offsets, np.int32)[array.offset : array.offset + count + 1]
    size = np.diff(bounds).astype(np.int64)
    if array.null_count:
        size[array.is_null().to_numpy(zero_copy_only=False)] = -1
    low, high = int(bounds[0]), int(bounds[-1])
    used = memoryview(b"" if data is None else data[low:high])
    return ByteColumn(used, bounds[:-1].astype(np.int64) - low, size)


def _ints(array: pa.Array) -> Ints:
    return array.to_numpy(zero_copy_only=False).astype(np.int64)  # type: ignore[no-any-return]
