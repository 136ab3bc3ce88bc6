from __future__ import annotations

import contextlib
import gzip
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.record.util import calc_crc32

from heliograph.errors import CorruptRecords
from heliograph.records.decode import Record
from heliograph.records.legacy import decode_legacy, split_legacy
from support.records.batch_oracle import Row, read_legacy, rows, write_legacy

ROWS = [Row(70, 1000, b"k", b"v", []), Row(71, 1005, None, b"", []), Row(75, 1003, b"", None, [])]
LEGACY = st.tuples(st.sampled_from([0, 1]), st.sampled_from([0, 1, 2, 3]))


def as_rows(records: list[Record]) -> list[Row]:
    return [Row(r.offset, r.timestamp, r.key, r.value, []) for r in records]


def entries(buffer: bytes) -> list[memoryview]:
    view, found, position = memoryview(buffer), [], 0
    while entry := split_legacy(view, position):
        found.append(view[entry.start : entry.end])
        position = entry.end
    assert position == len(buffer)
    return found


def test_a_message_ends_where_its_size_says() -> None:
    buffer = memoryview(write_legacy(ROWS, magic=1, codec=0))

    first = split_legacy(buffer)
    assert first is not None
    second = split_legacy(buffer, first.end)

    assert (first.start, first.end, first.magic, first.codec, first.last_offset) == (
        0,
        36,
        1,
        0,
        70,
    )
    assert second is not None
    assert (second.start, second.end, second.last_offset) == (36, 70, 71)
    assert split_legacy(buffer[:69], first.end) is None
    assert split_legacy(buffer[:40], first.end) is None
    assert split_legacy(buffer, len(buffer)) is None


def test_a_wrapper_has_the_offset_of_its_last_record() -> None:
    entry = split_legacy(memoryview(write_legacy(ROWS, magic=1, codec=1)))

    assert entry is not None
    assert (entry.codec, entry.last_offset) == (1, 75)


@settings(max_examples=40, deadline=None)
@given(found=rows(with_headers=False), shape=LEGACY)
def test_message_sets_are_decoded(found: list[Row], shape: tuple[int, int]) -> None:
    magic, codec = shape

    records = [
        record
        for entry in entries(write_legacy(found, magic=magic, codec=codec))
        for record in decode_legacy(entry)
    ]

    expected = [row if magic else row._replace(timestamp=-1) for row in found]
    assert as_rows(records) == expected


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [0, 1], ids=["none", "gzip"])
def test_message_sets_are_decoded_as_kafka_python_does(magic: int, codec: int) -> None:
    for entry in entries(write_legacy(ROWS, magic=magic, codec=codec)):
        assert as_rows(decode_legacy(entry)) == read_legacy(bytes(entry), magic=magic)


def test_a_wrapper_that_the_broker_stamped_gives_its_time_to_all() -> None:
    wrapper = memoryview(write_legacy(ROWS, magic=1, codec=1, append_time=9999))

    assert [record.timestamp for record in decode_legacy(wrapper)] == [9999] * 3
    kept = decode_legacy(wrapper, append_time=False)
    assert [record.timestamp for record in kept] == [1000, 1005, 1003]


def test_the_broken_lz4_checksum_of_magic_0_is_read() -> None:
    wrapper = bytearray(write_legacy(ROWS, magic=0, codec=3))
    at = wrapper.index(b"\x04\x22\x4d\x18") + 6
    wrapper[at] ^= 0x55
    struct.pack_into(">I", wrapper, 12, calc_crc32(memoryview(wrapper)[16:]))

    records = decode_legacy(memoryview(wrapper))

    assert [record.offset for record in records] == [70, 71, 75]


def wrap(value: bytes | None, *, codec: int = 1, magic: int = 1) -> memoryview:
    body = struct.pack(">bb", magic, codec) + bytes(8 * magic) + struct.pack(">i", -1)
    body += struct.pack(">i", -1) if value is None else struct.pack(">i", len(value)) + value
    return memoryview(struct.pack(">qiI", 80, len(body) + 4, calc_crc32(body)) + body)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (wrap(None), "null value"),
        (wrap(b"not gzip"), "not gzip data"),
        (wrap(b"", codec=4), "codec 4"),
        (wrap(b"", magic=3), "magic 3"),
        (wrap(b"x", codec=0)[:-1], "truncated"),
        (memoryview(bytes(wrap(b"x", codec=0))[:-1] + b"y"), "CRC-32"),
        (memoryview(bytes(wrap(b"x", codec=0)) * 2), "2 messages"),
        (memoryview(b""), "0 messages"),
        (memoryview(struct.pack(">qiIbb", 3, 5, 0, 1, 0)), "size 5"),
        (memoryview(struct.pack(">qiIbb", 3, -5, 0, 1, 0)), "size -5"),
    ],
)
def test_what_is_no_message_is_corrupt(entry: memoryview, problem: str) -> None:
    with pytest.raises(CorruptRecords, match=problem):
        decode_legacy(entry)


def test_messages_inside_a_wrapper_are_plain_and_of_its_magic() -> None:
    for inside, problem in [
        (b"", "with no message inside"),
        (bytes(wrap(b"x", codec=1)), "codec 1"),
        (bytes(wrap(b"x", codec=0, magic=0)), "magic 0"),
    ]:
        with pytest.raises(CorruptRecords, match=problem):
            decode_legacy(wrap(gzip.compress(inside)))


@settings(max_examples=100, deadline=None)
@given(shape=LEGACY, place=st.integers(0, 2**30), noise=st.binary(min_size=1, max_size=8))
def test_damaged_messages_raise_nothing_but_corrupt_records(
    shape: tuple[int, int], place: int, noise: bytes
) -> None:
    magic, codec = shape
    buffer = bytearray(write_legacy(ROWS[:1], magic=magic, codec=codec))
    place %= len(buffer)
    buffer[place : place + len(noise)] = noise
    struct.pack_into(">I", buffer, 12, calc_crc32(memoryview(buffer)[16:]))

    with contextlib.suppress(CorruptRecords):
        decode_legacy(memoryview(buffer))
