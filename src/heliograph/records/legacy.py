"""Decodes message sets of magic 0 and 1 (Kafka before 0.11), which old segments still hold.

    0 offset i64 | 8 size i32 (of what follows it) | 12 crc u32 (CRC-32 of 16..) | 16 magic i8
    17 attributes i8 | (magic 1: 18 timestamp i64) | key: i32 length, -1 for null | value: the same

Attributes: bits 0-2 codec (none, gzip, snappy, lz4), 3 LogAppendTime (magic 1). The value of a compressed
message is a message set; its own offset is that of the last message inside, and in magic 1 the offsets
inside count from 0. As `AbstractLegacyRecordBatch`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct
from zlib import crc32

from heliograph.errors import CorruptRecords
from heliograph.records.batch import CODEC, LOG_APPEND_TIME, MAGIC_AT, PREFIX
from heliograph.records.codecs import LZ4, NONE, decompress, mend_lz4
from heliograph.records.decode import Record

_FIXED = Struct(">Ibb")  # crc, magic, attributes
_TIMESTAMP = Struct(">q")
_LENGTH = Struct(">i")
_SMALLEST = (_FIXED.size + 2 * _LENGTH.size, _FIXED.size + _TIMESTAMP.size + 2 * _LENGTH.size)

_NO_TIMESTAMP = -1  # what a consumer sees for magic 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyEntry:
    """One message, which may be a wrapper of many: `buffer[start:end]` of the buffer it was found in."""

    start: int
    end: int
    magic: int
    codec: int
    last_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Message:
    offset: int
    magic: int
    attributes: int
    timestamp: int
    key: bytes | None
    value: memoryview | None


def split_legacy(
    buffer: memoryview, position: int = 0, *, subject: str = "message set"
) -> LegacyEntry | None:
    """The entry of magic 0 or 1 at `position`; None if the buffer ends inside it.

    Offset, size and magic have the same place as in batches of magic 2, so a buffer may hold both; the caller
    checks the magic, byte 16, before.
    """
    left = len(buffer) - position
    if left < PREFIX.size + _FIXED.size:
        return None
    offset, size = PREFIX.unpack_from(buffer, position)
    _, magic, attributes = _FIXED.unpack_from(buffer, position + PREFIX.size)
    if magic not in (0, 1):
        raise CorruptRecords(f"{subject} at source offset {offset}: magic {magic}, expected 0 or 1")
    if size < _SMALLEST[magic]:
        raise CorruptRecords(
            f"{subject} at source offset {offset}: size {size}, expected {_SMALLEST[magic]} or more"
        )
    if left < PREFIX.size + size:
        return None
    return LegacyEntry(
        start=position,
        end=position + PREFIX.size + size,
        magic=magic,
        codec=attributes & CODEC,
        last_offset=offset,
    )


def decode_legacy(
    entry: memoryview,
    *,
    append_time: bool = True,
    subject: str = "message set",
    limit: int | None = None,
) -> list[Record]:
    """The records of one whole entry, in order.

    The LogAppendTime of a wrapper is the timestamp of all records inside, as consumers see it; without
    `append_time` they keep the producer's.
    """
    messages = list(_messages(entry, subject))
    if len(messages) != 1:
        raise CorruptRecords(f"{subject}: {len(messages)} messages, expected one entry")
    wrapper = messages[0]
    if wrapper.attributes & CODEC == NONE:
        return [_record(wrapper, wrapper.offset, wrapper.timestamp)]
    subject = f"{subject} at source offset {wrapper.offset}"
    inner = list(_messages(_unwrap(wrapper, subject, limit), subject))
    if not inner:
        raise CorruptRecords(f"{subject}: a compressed message with no message inside")
    for message in inner:
        if message.attributes & CODEC or message.magic != wrapper.magic:
            raise CorruptRecords(
                f"{subject}: expected plain messages of magic {wrapper.magic} inside, found magic "
                f"{message.magic}, codec {message.attributes & CODEC}"
            )
    base = wrapper.offset - inner[-1].offset if wrapper.magic == 1 else 0
    stamped = append_time and wrapper.magic == 1 and wrapper.attributes & LOG_APPEND_TIME
    return [
        _record(message, base + message.offset, wrapper.timestamp if stamped else message.timestamp)
        for message in inner
    ]


def _unwrap(wrapper: _Message, subject: str, limit: int | None) -> memoryview:
    codec = wrapper.attributes & CODEC
    if wrapper.value is None:
        raise CorruptRecords(f"{subject}: a compressed message with a null value")
    if codec > LZ4:
        raise CorruptRecords(f"{subject}: codec {codec}, magic {wrapper.magic} has 0 to 3")
    broken = codec == LZ4 and wrapper.magic == 0
    data = mend_lz4(wrapper.value) if broken else wrapper.value
    return decompress(codec, data, limit=limit, subject=subject)


def _messages(data: memoryview, subject: str) -> Iterator[_Message]:
    position = 0
    while position < len(data):
        entry = split_legacy(data, position, subject=subject)
        if entry is None:
            raise CorruptRecords(f"{subject}: a message is truncated at byte {len(data)}")
        yield _message(data[entry.start : entry.end], entry, subject)
        position = entry.end


def _message(data: memoryview, entry: LegacyEntry, subject: str) -> _Message:
    crc, magic, attributes = _FIXED.unpack_from(data, PREFIX.size)
    found = crc32(data[MAGIC_AT:])
    if found != crc:
        raise CorruptRecords(
            f"{subject} at source offset {entry.last_offset}: CRC-32 of the message is "
            f"{found:08x}, its header has {crc:08x}"
        )
    position = PREFIX.size + _FIXED.size
    timestamp = _NO_TIMESTAMP
    if magic == 1:
        (timestamp,) = _TIMESTAMP.unpack_from(data, position)
        position += _TIMESTAMP.size
    key, position = _field(data, position, subject)
    value, position = _field(data, position, subject)
    if position != len(data):
        raise CorruptRecords(f"{subject}: fields end at byte {position} of {len(data)}")
    return _Message(
        offset=entry.last_offset,
        magic=magic,
        attributes=attributes,
        timestamp=timestamp,
        key=None if key is None else bytes(key),
        value=value,
    )


def _field(data: memoryview, position: int, subject: str) -> tuple[memoryview | None, int]:
    left = len(data) - position - _LENGTH.size
    size = _LENGTH.unpack_from(data, position)[0] if left >= 0 else 0
    position += _LENGTH.size
    if size == -1:
        return None, position
    if not 0 <= size <= left:
        raise CorruptRecords(f"{subject}: a field of {size} bytes with {left} bytes left")
    return data[position : position + size], position + size


def _record(message: _Message, offset: int, timestamp: int) -> Record:
    value = None if message.value is None else bytes(message.value)
    return Record(offset=offset, timestamp=timestamp, key=message.key, value=value)
