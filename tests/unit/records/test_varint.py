from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.record.util import encode_varint as kafka_encode_varint

from heliograph.errors import CorruptRecords
from heliograph.records.varint import decode_varint, decode_varlong, encode_varint


@pytest.mark.parametrize(
    ("value", "wire"),
    [
        (0, "00"),
        (-1, "01"),
        (63, "7e"),
        (-64, "7f"),
        (64, "8001"),
        (8191, "fe7f"),
        (8192, "808001"),
        (2**31 - 1, "feffffff0f"),
        (-(2**31), "ffffffff0f"),
        (2**63 - 1, "feffffffffffffffff01"),
        (-(2**63), "ffffffffffffffffff01"),
    ],
)
def test_numbers_have_the_bytes_that_kafka_gives_them(value: int, wire: str) -> None:
    assert encode_varint(value).hex() == wire
    assert decode_varlong(bytes.fromhex(wire), 0) == (value, len(wire) // 2)


@given(st.integers(-(2**63), 2**63 - 1))
def test_numbers_are_written_as_kafka_python_writes_them(value: int) -> None:
    theirs = bytearray()
    kafka_encode_varint(value, theirs.append)

    assert encode_varint(value) == theirs


@pytest.mark.parametrize("wire", ["", "80", "ffff", "80" * 10 + "00", "ff" * 9 + "7f"])
def test_a_number_that_is_cut_off_or_too_long_is_corrupt(wire: str) -> None:
    with pytest.raises(CorruptRecords):
        decode_varlong(bytes.fromhex(wire), 0)


def test_a_varint_has_32_bits_at_most() -> None:
    with pytest.raises(CorruptRecords, match="32 bits"):
        decode_varint(encode_varint(2**31), 0)
