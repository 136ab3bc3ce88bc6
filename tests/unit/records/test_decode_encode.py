from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heliograph.errors import CorruptRecords
from heliograph.records.codecs import compress
from heliograph.records.decode import Record, decode
from heliograph.records.encode import encode
from support.records.batch_oracle import CODECS, Row, read, rows, with_fields, write

# From a real broker: base offset 100, leader epoch 5, transactional, pid 42, epoch 3, sequence 7
FETCHED = (
    "00000000000000640000004d0000000502b704be8d0010000000010000018bcfe568000000018bcfe56801"
    "000000000000002a000300000007000000021a000000026b04763002026802781a000202026b0476310202680278"
)
PRODUCED = (  # the same records with pid 9000, epoch 0, sequence 55, not transactional
    "00000000000000000000004dffffffff026bae64a80000000000010000018bcfe568000000018bcfe56801"
    "0000000000002328000000000037000000021a000000026b04763002026802781a000202026b0476310202680278"
)
ROWS = [Row(5, 1000, b"k", b"v", [("h", b"x"), ("h", None)]), Row(9, 1001, None, b"", [])]


def as_records(found: list[Row]) -> list[Record]:
    return [
        Record(
            offset=row.offset,
            timestamp=row.timestamp,
            key=row.key,
            value=row.value,
            headers=tuple((name.encode(), content) for name, content in row.headers),
        )
        for row in found
    ]


def test_a_fetched_batch_is_decoded() -> None:
    records = decode(memoryview(bytes.fromhex(FETCHED)))

    assert records == [
        Record(
            offset=100 + number,
            timestamp=1_700_000_000_000 + number,
            key=b"k",
            value=b"v%d" % number,
            headers=((b"h", b"x"),),
        )
        for number in (0, 1)
    ]


def test_records_are_encoded_to_the_bytes_that_a_broker_took() -> None:
    records = decode(memoryview(bytes.fromhex(FETCHED)))

    batch = encode(records, producer_id=9000, producer_epoch=0, sequence=55)

    assert batch.hex() == PRODUCED


def test_the_transactional_bit_is_written_on_demand() -> None:
    batch = encode(as_records(ROWS), codec=3, transactional=True)

    assert batch[21:23] == b"\x00\x13"


def test_a_batch_without_records_cannot_be_encoded() -> None:
    with pytest.raises(ValueError, match="at least one record"):
        encode([])


@pytest.mark.parametrize("codec", range(5), ids=CODECS)
@settings(max_examples=20, deadline=None)
@given(found=rows())
def test_batches_of_kafka_python_are_decoded(codec: int, found: list[Row]) -> None:
    assert decode(write(found, codec=codec)) == as_records(found)


@pytest.mark.parametrize("codec", range(5), ids=CODECS)
@settings(max_examples=20, deadline=None)
@given(found=rows())
def test_encoded_batches_are_read_by_kafka_python(codec: int, found: list[Row]) -> None:
    batch = encode(as_records(found), codec=codec)

    assert read(batch) == [row._replace(offset=number) for number, row in enumerate(found)]
    assert int.from_bytes(batch[35:43]) == max(row.timestamp for row in found)


def test_records_that_the_broker_stamped_have_the_append_time() -> None:
    batch = with_fields(bytes(write(ROWS)), attributes=0x08, max_time=7777)

    assert [record.timestamp for record in decode(batch)] == [7777, 7777]


@pytest.mark.parametrize(
    ("section", "problem"),
    [
        ("", "truncated"),
        ("80", "truncated"),
        ("0f0000000101", "length -8"),
        ("7e00000001010000", "length 63 with"),
        ("0c00000003010000", "field of -2 bytes"),
        ("0c00000001140000", "field of 10 bytes"),
        ("0c000000010101", "-1 headers"),
        ("0c0000000101", "length 6 with 5 bytes left"),
        ("0e0000000101020100", "without a name"),
        ("0e00000001010000", "length says it ends at byte 8"),
        ("0c0000000101000c000002010100", "end at byte 7 of 14"),
    ],
)
def test_records_that_break_the_format_are_corrupt(section: str, problem: str) -> None:
    plain = bytes(write(ROWS))[:61] + bytes.fromhex(section)

    with pytest.raises(CorruptRecords, match=rf"t-0 at source offset 5: .*({problem})"):
        decode(with_fields(plain, count=1), subject="t-0")


def test_a_batch_that_is_not_what_its_header_says_is_corrupt() -> None:
    batch = bytes(write(ROWS, codec=3))

    for change, problem in [
        ({"magic": 3}, "expected magic 2.*found magic 3"),
        ({"count": -1}, "recordCount -1"),
        ({"count": 1}, "1 records end at byte"),
        ({"count": 3}, "record 2 of 3"),
        ({"attributes": 6}, "codec 6"),
        ({"attributes": 4}, "zstd"),
    ]:
        with pytest.raises(CorruptRecords, match=problem):
            decode(with_fields(batch, **change))
    for damaged, problem in [
        (batch[:-1], "batchLength"),
        (batch[:60], "60 bytes"),
        (batch[:-1] + b"!", "CRC-32C"),
    ]:
        with pytest.raises(CorruptRecords, match=problem):
            decode(memoryview(damaged))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60), st.integers(0, 70), st.sampled_from(range(5)))
def test_random_records_raise_nothing_but_corrupt_records(
    section: bytes, count: int, codec: int
) -> None:
    plain = bytes(write(ROWS))[:61] + compress(codec, section)

    with contextlib.suppress(CorruptRecords):
        decode(with_fields(plain, count=count, attributes=codec))
