"""Readers for Kafka's flexible encoding (KIP-482), used by the decoders of long responses.

Lengths are unsigned varints of the length plus one (0 is null), and every structure ends with tagged fields.
Readers take the body and a position, and return the value and the position after it. They check nothing: a
slice past the end is short, an index past it raises, and `whole` turns both into MalformedResponse.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from heliograph.errors import MalformedResponse

T = TypeVar("T")

_VARINT_BITS = 35


def whole(decode: Callable[[bytes], tuple[T, int]]) -> Callable[[memoryview], T]:
    """Checks that a decoder ends exactly at the end of the body."""

    @wraps(decode)
    def checked(body: memoryview) -> T:
        try:
            found, position = decode(bytes(body))
        except (IndexError, struct.error, UnicodeDecodeError) as e:
            raise MalformedResponse(f"response of {len(body)} bytes: {e}") from e
        if position != len(body):
            raise MalformedResponse(
                f"response of {len(body)} bytes: its content ends at byte {position}"
            )
        return found

    return checked


def varint(body: bytes, at: int) -> tuple[int, int]:
    """UNSIGNED_VARINT. Callers handle the common case, a single byte, themselves."""
    value = shift = 0
    while shift < _VARINT_BITS:
        byte = body[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise MalformedResponse(f"response: the varint before byte {at} has more than 5 bytes")


def string(body: bytes, at: int) -> tuple[str, int]:
    """COMPACT_STRING."""
    size = body[at]
    at += 1
    if size >= 0x80:
        size, at = varint(body, at - 1)
    end = at + size - 1
    return body[at:end].decode(), end


def nullable_string(body: bytes, at: int) -> tuple[str | None, int]:
    """COMPACT_NULLABLE_STRING."""
    return string(body, at) if body[at] else (None, at + 1)


def count(body: bytes, at: int) -> tuple[int, int]:
    """The number of elements of a COMPACT_ARRAY; 0 for null."""
    size, at = varint(body, at)
    return max(size - 1, 0), at


def skip_tags(body: bytes, at: int) -> int:
    """The position after the tagged fields, none of which we use."""
    if not body[at]:
        return at + 1
    tags, at = varint(body, at)
    for _ in range(tags):
        _, at = varint(body, at)
        size, at = varint(body, at)
        at += size
    return at
