"""Kafka's primitive types that the hot frames need, plain and compact (KIP-482)."""

from __future__ import annotations

import struct

from heliograph.errors import MalformedResponse

I16 = struct.Struct(">h")
I32 = struct.Struct(">i")
I64 = struct.Struct(">q")


def string(text: str) -> bytes:
    """STRING: int16 length, UTF-8."""
    data = text.encode()
    return I16.pack(len(data)) + data


def unsigned_varint(number: int) -> bytes:
    """UNSIGNED_VARINT: seven bits a byte, the lowest first."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def compact_string(text: str) -> bytes:
    """COMPACT_STRING: unsigned varint length + 1, UTF-8."""
    data = text.encode()
    return unsigned_varint(len(data) + 1) + data


class Reader:
    """A cursor over a response body. Every length is checked against the rest of the body before it is
    used."""

    __slots__ = ("body", "position")

    def __init__(self, body: memoryview) -> None:
        self.body = body
        self.position = 0

    def i16(self) -> int:
        return int(self.unpack(I16)[0])

    def i32(self) -> int:
        return int(self.unpack(I32)[0])

    def unpack(self, layout: struct.Struct) -> tuple[int, ...]:
        start = self.position
        self.position = start + layout.size
        if self.position > len(self.body):
            raise MalformedResponse(f"response ends at byte {len(self.body)} inside a field")
        return layout.unpack_from(self.body, start)

    def take(self, size: int) -> memoryview:
        start, end = self.position, self.position + size
        if size < 0 or end > len(self.body):
            raise MalformedResponse(
                f"response: a field of {size} bytes at byte {start} does not fit into {len(self.body)}"
            )
        self.position = end
        return self.body[start:end]

    def string(self) -> str:
        return self._text(self.i16())

    def nullable_string(self) -> str | None:
        size = self.i16()
        return None if size < 0 else self._text(size)

    def _text(self, size: int) -> str:
        try:
            return str(self.take(size), "utf-8")
        except UnicodeDecodeError as problem:
            raise MalformedResponse(f"response: a string is not UTF-8: {problem}") from None

    def array(self) -> range:
        """The indices of an ARRAY; an element has at least one byte, so the body bounds the count."""
        count = self.i32()
        if not 0 <= count <= len(self.body) - self.position:  # no array of ours may be null
            raise MalformedResponse(f"response: an array of {count} elements does not fit")
        return range(count)
