"""Kafka's variable-length integers: zigzag, then seven bits per byte, the least significant first.

    value   0  -1   1  -2    63   -64        64
    zigzag  0   1   2   3   126   127       128
    bytes  00  01  02  03    7e    7f     80 01

As `org.apache.kafka.common.utils.ByteUtils`. Hot loops inline the cases of one and two bytes.
"""

from __future__ import annotations

from heliograph.errors import CorruptRecords


def encode_varint(value: int) -> bytes:
    """The shortest encoding of `value`, which must fit into 64 signed bits; varint and varlong are the
    same."""
    raw = (value << 1) ^ (value >> 63)
    if raw < 0x80:
        return bytes((raw,))
    out = bytearray()
    while raw > 0x7F:
        out.append(raw & 0x7F | 0x80)
        raw >>= 7
    out.append(raw)
    return bytes(out)


def decode_unsigned(data: bytes | bytearray, position: int) -> tuple[int, int]:
    """The number at `position` before zigzag decoding, and the position after it; at most ten bytes."""
    raw = shift = 0
    try:
        while True:
            byte = data[position]
            position += 1
            raw |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift > 63:
                raise CorruptRecords(f"varint: longer than 10 bytes, ends after byte {position}")
    except IndexError:
        raise CorruptRecords(f"varint: truncated at byte {position}, the end of the data") from None
    if raw >> 64:
        raise CorruptRecords(f"varint: more than 64 bits, ends at byte {position}")
    return raw, position


def decode_varlong(data: bytes | bytearray, position: int) -> tuple[int, int]:
    """The 64-bit number at `position`, and where it ends."""
    raw, position = decode_unsigned(data, position)
    return (raw >> 1) ^ -(raw & 1), position


def decode_varint(data: bytes | bytearray, position: int) -> tuple[int, int]:
    """The 32-bit number at `position`, and where it ends."""
    raw, position = decode_unsigned(data, position)
    if raw >> 32:
        raise CorruptRecords(f"varint: more than 32 bits, ends at byte {position}")
    return (raw >> 1) ^ -(raw & 1), position
