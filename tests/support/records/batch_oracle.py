"""Batches written and read by kafka-python, compressed by pyarrow: nothing here is our own code.

kafka-python brings no snappy, lz4 or zstd, so it always sees the uncompressed twin of a batch.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

import pyarrow
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder
from kafka.record.legacy_records import LegacyRecordBatch, LegacyRecordBatchBuilder
from kafka.record.util import calc_crc32, calc_crc32c

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
HEADER = struct.Struct(">qiibIhiqqqhii")
_XERIAL = bytes.fromhex("82534e41505059000000000100000001")


class Row(NamedTuple):
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]


def squeeze(codec: int, data: bytes) -> bytes:
    if codec == 0:
        return data
    if codec == 2:
        block = pyarrow.compress(data, codec="snappy", asbytes=True)
        return _XERIAL + struct.pack(">i", len(block)) + block
    return pyarrow.compress(data, codec=CODECS[codec], asbytes=True)


def unsqueeze(codec: int, data: bytes) -> bytes:
    if codec == 0:
        return data
    if codec != 2:
        return pyarrow.CompressedInputStream(pyarrow.BufferReader(data), CODECS[codec]).read()
    assert data[:16] == _XERIAL
    out, position = b"", 16
    while position < len(data):
        (size,) = struct.unpack_from(">i", data, position)
        block = data[position + 4 : position + 4 + size]
        out += pyarrow.decompress(block, _snappy_size(block), codec="snappy", asbytes=True)
        position += 4 + size
    return out


def _snappy_size(block: bytes) -> int:
    size = shift = 0
    for byte in block:
        size |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
    return size


def with_fields(batch: bytes, **fields: int) -> memoryview:
    """The batch with header fields changed and its length and CRC put right."""
    names = "base length epoch magic crc attributes last first_time max_time pid pepoch seq count"
    values = dict(zip(names.split(), HEADER.unpack_from(batch), strict=True)) | fields
    values["length"] = len(batch) - 12
    out = bytearray(HEADER.pack(*values.values()) + batch[HEADER.size :])
    struct.pack_into(">I", out, 17, calc_crc32c(memoryview(out)[21:]))
    return memoryview(out)


def write(
    rows: Sequence[Row], *, codec: int = 0, base: int | None = None, attributes: int = 0
) -> memoryview:
    """A batch as a broker would return it, with the offsets of `rows`."""
    base = rows[0].offset if base is None else base
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=0,
        is_transactional=0,
        producer_id=42,
        producer_epoch=3,
        base_sequence=7,
        batch_size=1 << 30,
    )
    for row in rows:
        builder.append(row.offset - base, row.timestamp, row.key, row.value, row.headers)
    plain = bytes(builder.build())
    packed = plain[: HEADER.size] + squeeze(codec, plain[HEADER.size :])
    return with_fields(packed, base=base, epoch=5, attributes=codec | attributes)


def read(batch: bytes | bytearray | memoryview) -> list[Row]:
    """What a consumer sees; fails if lengths or CRC are wrong."""
    batch = bytes(batch)
    whole = DefaultRecordBatch(batch)
    assert whole.size_in_bytes == len(batch)
    assert whole.validate_crc()
    codec = whole.compression_type
    plain = batch[: HEADER.size] + unsqueeze(codec, batch[HEADER.size :])
    twin = DefaultRecordBatch(bytes(with_fields(plain, attributes=whole.attributes & ~7)))
    return [Row(r.offset, r.timestamp, r.key, r.value, list(r.headers)) for r in twin]


def write_legacy(
    rows: Sequence[Row], *, magic: int, codec: int, append_time: int | None = None
) -> bytes:
    """A message set as old brokers kept it: one wrapper if compressed, else message by message."""
    builder = LegacyRecordBatchBuilder(magic=magic, compression_type=0, batch_size=1 << 30)
    relative = rows[0].offset if codec and magic == 1 else 0
    for row in rows:
        builder.append(row.offset - relative, row.timestamp, row.key, row.value)
    plain = bytes(builder.build())
    if not codec:
        return plain
    attributes = codec | (8 if append_time is not None else 0)
    newest = max(row.timestamp for row in rows)
    stamp = newest if append_time is None else append_time
    value = squeeze(codec, plain)
    body = struct.pack(">bb", magic, attributes) + (struct.pack(">q", stamp) if magic else b"")
    body += struct.pack(">ii", -1, len(value)) + value
    head = struct.pack(">qiI", rows[-1].offset, len(body) + 4, calc_crc32(body))
    return head + body


def read_legacy(message: bytes, *, magic: int) -> list[Row]:
    return [
        Row(r.offset, -1 if r.timestamp is None else r.timestamp, r.key, r.value, [])
        for r in LegacyRecordBatch(message, magic)
    ]


fields = st.none() | st.binary(max_size=20) | st.integers(60, 300).map(lambda n: b"x" * n)
headers = st.lists(st.tuples(st.sampled_from(["", "h", "trace-id", "ключ"]), fields), max_size=3)


@st.composite
def rows(draw: st.DrawFn, *, max_gap: int = 40, with_headers: bool = True) -> list[Row]:
    """1 to 70 records, most often a few: ascending offsets, times around a base, fields of all lengths."""
    count = draw(st.integers(1, 12) | st.integers(1, 12) | st.integers(60, 70))
    dice = draw(st.randoms(use_true_random=False))
    kinds = draw(st.lists(st.tuples(fields, fields, headers), min_size=1, max_size=5))
    offset = draw(st.integers(0, 1 << 40))
    spread = draw(st.sampled_from([0, 50, 5000, 10**9]))
    found = []
    for _ in range(count):
        key, value, names = dice.choice(kinds)
        time = 1_700_000_000_000 + dice.randint(-spread, spread)
        found.append(Row(offset, time, key, value, names if with_headers else []))
        offset += 1 + dice.choice([0, 0, dice.randint(0, max_gap)])
    return found
