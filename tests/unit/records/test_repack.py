from __future__ import annotations

import struct
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heliograph.errors import CorruptRecords, RecordTooLarge
from heliograph.records.codecs import compress
from heliograph.records.repack import Repacked, repack, repack_legacy
from support.records.batch_oracle import (
    CODECS,
    HEADER,
    Row,
    read,
    rows,
    with_fields,
    write,
    write_legacy,
)

# Deltas 0, 2, 4 as compaction left them, and 0, 1, 2 as a broker took them
HOLES = (
    "00000000000000000000004f0000000002f642bd240000000000040000018bcfe568000000018bcfe56802"
    "ffffffffffffffffffffffffffff0000000312000000026b0476300012000204026b0476310012000408026b04763200"
)
RENUMBERED = (
    "00000000000000000000004fffffffff029442d3270000000000020000018bcfe568000000018bcfe56802"
    "ffffffffffffffffffffffffffff0000000312000000026b0476300012000202026b0476310012000404026b04763200"
)


def plain_rows(count: int, *, first: int = 0, step: int = 1, size: int = 10) -> list[Row]:
    return [
        Row(first + number * step, 1000 + number, b"%d" % number, b"v" * size, [("h", b"x")])
        for number in range(count)
    ]


def check(batches: list[Repacked], expected: list[Row], codec: int) -> None:
    """The batches hold exactly `expected`, each numbered from 0, with headers as brokers want."""
    remaining = expected
    for batch in batches:
        header = HEADER.unpack_from(batch.data)
        base, _, epoch, magic, _, attributes, last, _, newest, pid, pepoch, seq, count = header
        assert (base, epoch, magic, pid, pepoch, seq) == (0, -1, 2, -1, -1, -1)
        assert attributes == codec
        assert count == last + 1 == batch.count > 0
        mine, remaining = remaining[:count], remaining[count:]
        assert (batch.first_offset, batch.next_offset) == (mine[0].offset, mine[-1].offset + 1)
        told = [first + n for first, number in batch.runs for n in range(number)]
        assert told == [row.offset for row in mine]
        assert all(a + n < b for (a, n), (b, _) in pairwise(batch.runs)), "runs that touch are one"
        assert newest == max(row.timestamp for row in mine)
        assert read(batch.data) == [row._replace(offset=n) for n, row in enumerate(mine)]
    assert remaining == []


def test_holes_left_by_compaction_are_closed() -> None:
    (batch,) = repack(memoryview(bytes.fromhex(HOLES)), first=0, end=None)

    assert batch.data.hex() == RENUMBERED
    assert (batch.first_offset, batch.next_offset, batch.count) == (0, 5, 3)
    assert sum(number for _, number in batch.runs) == 3


@pytest.mark.parametrize("codec", range(5), ids=CODECS)
@settings(max_examples=20, deadline=None)
@given(found=rows(), data=st.data())
def test_any_range_of_any_batch_is_kept_record_by_record(
    codec: int, found: list[Row], data: st.DataObject
) -> None:
    low, high = found[0].offset - 2, found[-1].offset + 3
    base = data.draw(st.integers(max(0, found[0].offset - 9000), found[0].offset))
    first = data.draw(st.integers(low, high) | st.just(0))
    end = data.draw(st.none() | st.integers(low, high))
    bits = data.draw(st.sampled_from([0, 0x08, 0x10, 0x40, 0x58]))

    batches = repack(write(found, codec=codec, base=base, attributes=bits), first=first, end=end)

    kept = [row for row in found if row.offset >= first and (end is None or row.offset < end)]
    check(batches, kept, codec)
    assert len(batches) == (1 if kept else 0)


@pytest.mark.parametrize("codec", range(5), ids=CODECS)
@settings(max_examples=15, deadline=None)
@given(found=rows(), max_bytes=st.integers(400, 3000))
def test_a_batch_too_large_is_split(codec: int, found: list[Row], max_bytes: int) -> None:
    found = [row._replace(headers=[]) for row in found]
    size = [len(write([row], codec=codec)) for row in found]
    if max(size) > max_bytes - 100:
        max_bytes = max(size) + 100

    batches = repack(write(found, codec=codec), first=found[0].offset, max_bytes=max_bytes)

    check(batches, found, codec)
    assert max(len(batch.data) for batch in batches) <= max_bytes


@pytest.mark.parametrize("step", [1, 2, 70, 9000], ids=lambda step: f"every {step}")
def test_every_number_takes_its_shortest_form(step: int) -> None:
    """Readers take longer forms too, but compaction and brokers would never write them."""
    found = plain_rows(200, step=step)

    (batch,) = repack(write(found), first=0)

    dense = write([row._replace(offset=number) for number, row in enumerate(found)])
    assert batch.data[HEADER.size :] == dense[HEADER.size :]


def test_a_batch_is_split_into_few_parts() -> None:
    found = plain_rows(1000, first=50, size=100)
    batch = write(found)

    batches = repack(batch, first=60, max_bytes=10_000)

    check(batches, found[10:], 0)
    assert len(batches) <= 1.2 * len(batch) / 10_000


@pytest.mark.parametrize("heavy", [0, 1, 2])
def test_a_batch_with_one_heavy_record_is_split_around_it(heavy: int) -> None:
    found = plain_rows(3)
    found[heavy] = found[heavy]._replace(value=b"w" * 5000)

    batches = repack(write(found), first=0, max_bytes=5100)

    check(batches, found, 0)
    assert len(batches) == 2


@pytest.mark.parametrize("codec", range(5), ids=CODECS)
def test_a_record_too_large_is_named(codec: int) -> None:
    found = plain_rows(5, first=200, step=3)
    found[3] = found[3]._replace(value=struct.pack(">1000d", *(1 / (n + 1) for n in range(1000))))

    with pytest.raises(RecordTooLarge, match="t-0") as caught:
        repack(write(found, codec=codec), first=0, max_bytes=2000, subject="t-0")

    assert caught.value.offset == 209
    assert caught.value.size > 2000


@pytest.mark.parametrize("codec", range(5), ids=CODECS)
@settings(max_examples=15, deadline=None)
@given(found=rows(), first=st.integers(0, 100))
def test_the_append_time_becomes_the_timestamp(codec: int, found: list[Row], first: int) -> None:
    stamped = bytes(write(found, codec=codec, attributes=0x08))
    batch = with_fields(stamped, max_time=1_800_000_000_000)
    first += found[0].offset

    batches = repack(batch, first=first, append_time=True)

    kept = [row._replace(timestamp=1_800_000_000_000) for row in found if row.offset >= first]
    check(batches, kept, codec)


def test_the_create_time_stays_without_append_time() -> None:
    found = plain_rows(3)
    batch = with_fields(bytes(write(found, attributes=0x08)), max_time=5_000_000)

    check(repack(batch, first=0), found, 0)


def test_records_that_no_broker_stamped_keep_their_time() -> None:
    found = plain_rows(3)

    check(repack(write(found), first=0, append_time=True), found, 0)


def test_timestamps_before_the_base_have_the_right_maximum() -> None:
    found = [row._replace(timestamp=2000 - row.offset) for row in plain_rows(4)]

    check(repack(write(found), first=2), found[2:], 0)


@settings(max_examples=40, deadline=None)
@given(
    found=rows(with_headers=False),
    magic=st.sampled_from([0, 1]),
    codec=st.sampled_from([0, 1, 2, 3]),
    skipped=st.integers(0, 5),
)
def test_old_message_sets_become_batches_of_their_codec(
    found: list[Row], magic: int, codec: int, skipped: int
) -> None:
    entries = memoryview(write_legacy(found, magic=magic, codec=codec))
    first = found[0].offset + skipped

    batches = repack(entries, first=first)

    kept = [row if magic else row._replace(timestamp=-1) for row in found if row.offset >= first]
    check(batches, kept, codec)
    assert len(batches) == (1 if kept else 0)


def test_old_message_sets_are_split_and_stamped_too() -> None:
    found = plain_rows(40, first=7, size=200)
    found = [row._replace(headers=[]) for row in found]
    wrapper = memoryview(write_legacy(found, magic=1, codec=1, append_time=9999))
    loose = memoryview(write_legacy(found, magic=1, codec=0))

    check(repack(wrapper, first=0), found, 1)
    stamped = [row._replace(timestamp=9999) for row in found]
    check(repack(wrapper, first=0, append_time=True), stamped, 1)
    batches = repack_legacy(loose, first=10, end=40, max_bytes=1000)
    check(batches, found[3:33], 0)
    assert len(batches) > 5


def test_a_change_of_codec_starts_another_batch() -> None:
    found = [row._replace(headers=[]) for row in plain_rows(4)]
    entries = write_legacy(found[:2], magic=0, codec=1) + write_legacy(found[2:], magic=1, codec=0)

    first, second = repack_legacy(memoryview(entries), first=0)

    check([first], [row._replace(timestamp=-1) for row in found[:2]], 1)
    check([second], found[2:], 0)


@pytest.mark.parametrize(
    ("section", "count", "problem"),
    [
        ("", 1, "truncated"),
        ("80", 1, "truncated"),
        ("0c0000", 1, "truncated"),
        ("0d00000001010000", 1, "length -7"),
        ("7e000000010100", 1, "length 63 does not fit"),
        ("0400000001010000", 1, "length 2 does not fit"),
        ("0c000001010100", 1, "offset delta -1"),
        ("0c0000000101000c000000010100", 2, "offset delta 0 after 0"),
        ("0c0000040101000c000002010100", 2, "offset delta 1 after 2"),
        ("0c000000010100", 2, "truncated"),
        ("0c00000001010000", 1, "end at byte 7 of 8"),
        ("0c000000010100" * 2, 1, "end at byte 7 of 14"),
        ("0c00ffffffffffffffffffff0100010100", 1, "varint"),
        ("180000feffffffffff0f010100", 1, "32 bits"),
        ("ffffffffffffffffffff7f", 1, "varint"),
        ("feffffffffffffffff01" + "00" * 10, 1, "does not fit"),
    ],
)
def test_records_that_break_the_format_are_corrupt(section: str, count: int, problem: str) -> None:
    head = bytes(write(plain_rows(1, first=5)))[: HEADER.size]
    batch = with_fields(head + bytes.fromhex(section), count=count)

    with pytest.raises(CorruptRecords, match=rf"t-0 at source offset 5: .*({problem})"):
        repack(batch, first=0, subject="t-0")


@settings(max_examples=100, deadline=None)
@given(
    codec=st.sampled_from(range(5)),
    place=st.integers(0, 2**30),
    noise=st.binary(max_size=12),
    cut=st.integers(0, 4),
    count=st.sampled_from([0, 1, 7, 8, 9, 2**31 - 1]),
    flags=st.sampled_from([0, 8]),
)
def test_damaged_batches_raise_nothing_but_corrupt_records(
    codec: int, place: int, noise: bytes, cut: int, count: int, flags: int
) -> None:
    whole = bytes(write(plain_rows(8, step=30)))
    section = whole[HEADER.size :]
    place %= len(section)
    damaged = section[:place] + noise + section[place + cut :]
    batch = with_fields(
        whole[: HEADER.size] + compress(codec, damaged), count=count, attributes=codec | flags
    )

    try:
        batches = repack(batch, first=3, append_time=True, max_bytes=200)
    except (CorruptRecords, RecordTooLarge):
        return
    assert all(len(found.data) <= 200 for found in batches)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=120), st.sampled_from([None, 0, 1, 2]))
def test_random_bytes_raise_nothing_but_corrupt_records(noise: bytes, magic: int | None) -> None:
    buffer = bytearray(noise)
    if magic is not None and len(buffer) > 16:
        buffer[16] = magic

    with pytest.raises(CorruptRecords):
        repack(memoryview(buffer), first=0)


THREE = [Row(20 + n * n, 1_700_000_000_000 + n, b"k", b"v", []) for n in range(3)]


def test_timestamps_beyond_64_bits_are_corrupt() -> None:
    batch = with_fields(bytes(write(THREE)), first_time=2**63 - 1)

    with pytest.raises(CorruptRecords, match=r"timestamp 9223.*more than 64 bits"):
        repack(batch, first=0)


def test_a_record_behind_the_last_of_its_header_is_corrupt() -> None:
    """The position would go on there, and the records between would be passed over."""
    batch = with_fields(bytes(write(THREE)), last=THREE[1].offset - THREE[0].offset)

    with pytest.raises(
        CorruptRecords, match=f"offset {THREE[-1].offset}, above lastOffset {THREE[1].offset}"
    ):
        repack(batch, first=0)
    assert repack(batch, first=0, end=THREE[2].offset)


def test_a_target_that_takes_no_bytes_takes_no_record() -> None:
    """max.message.bytes may be 0."""
    with pytest.raises(RecordTooLarge):
        repack(write(THREE), first=0, max_bytes=0)
