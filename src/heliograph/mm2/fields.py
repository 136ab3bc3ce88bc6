"""Reads and writes fields of MM2's records (`org.apache.kafka.common.protocol.types.Type`), big endian.

    STRING  int16 length (0 or more), UTF-8

As in Java, bytes after the last field are ignored.
"""

from __future__ import annotations

import struct

_LENGTH = struct.Struct(">h")
_MAX_STRING = 2**15 - 1


class FieldError(Exception):
    """Carries the reason up to the reader of a record, which returns it as `Malformed`."""


def string(text: str) -> bytes:
    data = text.encode()
    if len(data) > _MAX_STRING:
        raise ValueError(f"STRING: expected at most {_MAX_STRING} bytes, found {len(data)}")
    return _LENGTH.pack(len(data)) + data


def present(name: str, data: bytes | None) -> bytes:
    if data is None:
        raise FieldError(f"{name}: null")
    return data


def read_string(name: str, data: bytes, at: int) -> tuple[str, int]:
    """The string that starts at byte `at`, and the position after it."""
    (length,) = read(name, _LENGTH, data, at)
    start, end = at + _LENGTH.size, at + _LENGTH.size + length
    if length < 0 or end > len(data):
        raise FieldError(f"{name}: a string of {length} bytes, found {len(data) - start}")
    try:
        return data[start:end].decode(), end
    except UnicodeDecodeError as problem:
        raise FieldError(f"{name}: not UTF-8: {problem}") from None


def read(name: str, layout: struct.Struct, data: bytes, at: int) -> tuple[int, ...]:
    if len(data) < at + layout.size:
        raise FieldError(
            f"{name}: expected {layout.size} bytes at byte {at}, found {len(data)} in all"
        )
    return layout.unpack_from(data, at)
