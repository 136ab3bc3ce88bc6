"""Compresses and decompresses record batches with Kafka's five codecs, with bounded output (cramjam).

Compression levels are the fast ones, since repacking is part of the copy. Requirements of other readers:

- snappy: Java writes Xerial's framing; raw snappy is read as well (other clients write it).
- lz4: Java refuses frames whose blocks depend on each other (`Lz4BlockInputStream`), and cramjam's
  frame writer makes no others, so the frame is built here around single blocks.
- lz4 in magic 0: the header checksum covers the wrong bytes (KAFKA-3160); see `mend_lz4`.
"""

from __future__ import annotations

from struct import Struct
from typing import Any

import cramjam

from heliograph.errors import CorruptRecords

NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)
NAMES = ("none", "gzip", "snappy", "lz4", "zstd")

# The limit of decompressed data: far above any real batch, and it stops decompression bombs. Repacking takes
# about five times as much memory for a moment.
_LIMIT_PER_BYTE = 64
_LIMIT_ANYWAY = 64 << 20

_Data = bytes | bytearray | memoryview

# Measured on 100-byte JSON-like records in 16 KB batches, MB/s: gzip 1: 260, gzip 6: 46;
# zstd 1: 180, zstd 3: 140, at about the same size.
_GZIP_LEVEL = 1
_ZSTD_LEVEL = 1

# The most bytes that one compressed byte can become: snappy copies 64 bytes with 3, zstd writes a run of
# 128 KiB with 4.
_MAX_RATIO = {GZIP: 1032, SNAPPY: 22, LZ4: 255, ZSTD: 32768}
_BUFFER_FULL = "failed to write whole buffer"
_MODULES: dict[int, Any] = {GZIP: cramjam.gzip, LZ4: cramjam.lz4, ZSTD: cramjam.zstd}

# Xerial: magic (8 bytes), version i32, lowest compatible version i32, {length i32, raw snappy}*
_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = _XERIAL_MAGIC + b"\x00\x00\x00\x01\x00\x00\x00\x01"
_XERIAL_BLOCK = 32 * 1024
_I32 = Struct(">i")

# lz4 frame: magic, FLG (version 1, independent blocks), BD (64 KiB blocks), header checksum,
# then {length u32 little endian, top bit set if stored; block}*, length 0.
_LZ4_MAGIC = b"\x04\x22\x4d\x18"
_LZ4_HEADER = _LZ4_MAGIC + b"\x60\x40\x82"
_LZ4_BLOCK = 64 * 1024
_LZ4_STORED = 1 << 31
_U32_LE = Struct("<I")


def compress(codec: int, data: _Data) -> bytes:
    """`data` as a batch's record section under `codec`, readable by every Kafka client."""
    if codec == NONE:
        return bytes(data)
    if codec == GZIP:
        return bytes(cramjam.gzip.compress(data, level=_GZIP_LEVEL))
    if codec == SNAPPY:
        return _compress_snappy(data)
    if codec == LZ4:
        return _compress_lz4(data)
    if codec == ZSTD:
        return bytes(cramjam.zstd.compress(data, level=_ZSTD_LEVEL))
    raise CorruptRecords(f"codec {codec}: expected 0 to 4 ({', '.join(NAMES)})")


def decompress(
    codec: int, data: _Data, *, limit: int | None = None, subject: str = "records"
) -> memoryview:
    """The decompressed `data`, at most `limit` bytes; raises CorruptRecords otherwise."""
    if codec == NONE:
        return memoryview(data)
    if limit is None:
        limit = _LIMIT_ANYWAY + _LIMIT_PER_BYTE * len(data)
    if codec not in _MODULES and codec != SNAPPY:
        raise CorruptRecords(f"{subject}: codec {codec}, expected 0 to 4 ({', '.join(NAMES)})")
    try:
        if codec == SNAPPY:
            return _decompress_snappy(memoryview(data), limit)
        return _decompress_stream(codec, data, limit)
    except (cramjam.DecompressionError, ValueError) as problem:
        raise CorruptRecords(
            f"{subject}: {len(data)} bytes are not {NAMES[codec]} data of at most {limit} bytes "
            f"once decompressed: {problem}"
        ) from problem


def _decompress_stream(codec: int, data: _Data, limit: int) -> memoryview:
    """gzip, lz4 and zstd need not contain their size: try buffers of growing size up to `limit`."""
    module = _MODULES[codec]
    if len(data) * _MAX_RATIO[codec] <= limit:
        return memoryview(module.decompress(data))
    size = min(limit, 8 * len(data))
    while True:
        buffer = bytearray(size)
        try:
            return memoryview(buffer)[: module.decompress_into(data, buffer)]
        except cramjam.DecompressionError as problem:
            # Damaged data must not cost a search up to the limit; only the message distinguishes it.
            if _BUFFER_FULL not in str(problem) or size >= limit:
                raise
        size = min(limit, 8 * size)


def _compress_snappy(data: _Data) -> bytes:
    view = memoryview(data)
    pieces = [_XERIAL_HEADER]
    for start in range(0, len(view), _XERIAL_BLOCK):
        block = bytes(cramjam.snappy.compress_raw(view[start : start + _XERIAL_BLOCK]))
        pieces += _I32.pack(len(block)), block
    return b"".join(pieces)


def _decompress_snappy(data: memoryview, limit: int) -> memoryview:
    # The versions are ignored: Redpanda has written them in little endian.
    if data[:8] != _XERIAL_MAGIC:
        return _decompress_snappy_block(data, limit)
    out = bytearray()
    position = len(_XERIAL_HEADER)
    if len(data) < position:
        raise ValueError(f"Xerial's header of {position} bytes is truncated")
    while position < len(data):
        if position + 4 > len(data):
            raise ValueError(f"the length of a block is truncated at byte {position}")
        (size,) = _I32.unpack_from(data, position)
        position += 4
        if not 0 < size <= len(data) - position:
            raise ValueError(f"a block of {size} bytes with {len(data) - position} bytes left")
        out += _decompress_snappy_block(data[position : position + size], limit - len(out))
        position += size
    return memoryview(out)


def _decompress_snappy_block(block: memoryview, limit: int) -> memoryview:
    size = cramjam.snappy.decompress_raw_len(block)
    if size > min(limit, _MAX_RATIO[SNAPPY] * len(block)):
        raise ValueError(f"a block of {len(block)} bytes claims {size} bytes")
    return memoryview(cramjam.snappy.decompress_raw(block))


def _compress_lz4(data: _Data) -> bytes:
    view = memoryview(data)
    pieces = [_LZ4_HEADER]
    for start in range(0, len(view), _LZ4_BLOCK):
        plain = view[start : start + _LZ4_BLOCK]
        block = bytes(cramjam.lz4.compress_block(plain, store_size=False))
        if len(block) < len(plain):
            pieces += _U32_LE.pack(len(block)), block
        else:
            # The format forbids blocks larger than 64 KiB, which incompressible data would give.
            pieces += _U32_LE.pack(len(plain) | _LZ4_STORED), bytes(plain)
    pieces.append(bytes(4))
    return b"".join(pieces)


def mend_lz4(data: _Data) -> bytes:
    """An lz4 frame with the correct header checksum; Kafka 0.8 and 0.9 wrote a wrong one.

    As in `Lz4BlockInputStream` for magic 0, the checksum found is ignored.
    """
    frame = bytearray(data)
    if frame[:4] != _LZ4_MAGIC or len(frame) < 7:
        return bytes(frame)  # the decoder reports what is wrong
    end = 14 if frame[4] & 0x08 else 6  # with or without the content size
    if end < len(frame):
        frame[end] = _xxh32_short(frame[4:end]) >> 8 & 0xFF
    return bytes(frame)


def _xxh32_short(data: bytes | bytearray) -> int:
    """xxHash32 with seed 0 of fewer than 16 bytes, enough for a frame header."""
    mask = 0xFFFFFFFF
    accumulator = 374761393 + len(data)
    tail = len(data) & ~3
    for at in range(0, tail, 4):
        accumulator += _U32_LE.unpack_from(data, at)[0] * 3266489917
        accumulator = _rotate(accumulator & mask, 17) * 668265263
    for byte in data[tail:]:
        accumulator += byte * 374761393
        accumulator = _rotate(accumulator & mask, 11) * 2654435761
    accumulator &= mask
    accumulator = (accumulator ^ accumulator >> 15) * 2246822519 & mask
    accumulator = (accumulator ^ accumulator >> 13) * 3266489917 & mask
    return accumulator ^ accumulator >> 16


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> 32 - bits) & 0xFFFFFFFF
