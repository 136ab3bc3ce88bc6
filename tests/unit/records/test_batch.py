"""Headers are rewritten in place; kafka-python reads the result."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatch

from heliograph.errors import CorruptRecords
from heliograph.records.batch import (
    CODEC,
    SEQUENCES,
    check_crc,
    is_abort_marker,
    read_header,
    rewrite,
    split,
)
from support.records.batch_oracle import Row, read, rows, with_fields, write

# reference/wire.md 3.2: 2 records, keys k, values v0 v1, header h=x; base 100, epoch 5, transactional.
FETCHED = (
    "00000000000000640000004d0000000502b704be8d0010000000010000018bcfe568000000018bcfe5680100000000"
    "0000002a000300000007000000021a000000026b04763002026802781a000202026b0476310202680278"
)
WITHOUT_PRODUCER = (
    "00000000000000000000004dffffffff02ba6e23ab0000000000010000018bcfe568000000018bcfe56801ffffffff"
    "ffffffffffffffffffff000000021a000000026b04763002026802781a000202026b0476310202680278"
)
WITH_PRODUCER = (
    "00000000000000000000004dffffffff026bae64a80000000000010000018bcfe568000000018bcfe5680100000000"
    "00002328000000000037000000021a000000026b04763002026802781a000202026b0476310202680278"
)


@pytest.mark.parametrize(
    ("producer_id", "epoch", "sequence", "expected"),
    [(-1, -1, -1, WITHOUT_PRODUCER), (9000, 0, 55, WITH_PRODUCER)],
)
def test_a_rewritten_batch_has_the_golden_bytes(
    producer_id: int, epoch: int, sequence: int, expected: str
) -> None:
    batch = bytearray.fromhex(FETCHED)

    rewrite(memoryview(batch), producer_id=producer_id, producer_epoch=epoch, sequence=sequence)

    assert batch.hex() == expected


@given(
    rows=rows(),
    codec=st.integers(0, 4),
    attributes=st.sampled_from([0, 0x08, 0x10, 0x20, 0x40, 0x58]),
    producer_id=st.integers(-1, 2**63 - 1),
    epoch=st.integers(-1, 2**15 - 1),
    sequence=st.integers(0, SEQUENCES - 1),
    transactional=st.booleans(),
)
def test_rewriting_changes_the_writer_and_no_record(
    rows: list[Row],
    codec: int,
    attributes: int,
    producer_id: int,
    epoch: int,
    sequence: int,
    transactional: bool,
) -> None:
    fetched = write(rows, codec=codec)
    expected = [row._replace(offset=row.offset - rows[0].offset) for row in read(fetched)]
    batch = with_fields(bytes(fetched), attributes=codec | attributes)

    rewrite(
        batch,
        producer_id=producer_id,
        producer_epoch=epoch,
        sequence=sequence,
        transactional=transactional,
    )

    assert read(batch) == expected
    theirs = DefaultRecordBatch(bytes(batch))
    assert (theirs.base_offset, theirs.producer_id) == (0, producer_id)
    assert (theirs.producer_epoch, theirs.base_sequence) == (epoch, sequence)
    assert theirs.attributes == codec & CODEC | (0x10 if transactional else 0)


@given(rows=rows())
def test_rewriting_twice_is_rewriting_once(rows: list[Row]) -> None:
    batch = write(rows)
    rewrite(batch, producer_id=1, producer_epoch=2, sequence=3)
    once = bytes(batch)

    rewrite(batch, producer_id=1, producer_epoch=2, sequence=3)

    assert bytes(batch) == once


@given(batches=st.lists(rows(), min_size=1, max_size=4), data=st.data())
def test_split_finds_whole_batches_and_leaves_a_cut_one_out(
    batches: list[list[Row]], data: st.DataObject
) -> None:
    written = [bytes(write(each)) for each in batches]
    whole = b"".join(written)
    cut = data.draw(st.integers(0, len(whole)))

    found = [bytes(batch) for batch in split(memoryview(whole[:cut]))]

    fitting = [n for n in range(len(written) + 1) if sum(map(len, written[:n])) <= cut]
    assert found == written[: max(fitting)]


def test_a_batch_length_that_cannot_be_is_corrupt() -> None:
    batch = bytearray.fromhex(FETCHED)
    batch[8:12] = (48).to_bytes(4, "big")

    with pytest.raises(CorruptRecords, match="batchLength 48 is below the minimum of 49"):
        list(split(memoryview(batch)))


@given(rows=rows(), data=st.data())
def test_any_changed_bit_behind_the_checksum_is_noticed(
    rows: list[Row], data: st.DataObject
) -> None:
    batch = write(rows)
    header = read_header(batch)
    check_crc(batch, header)
    at = data.draw(st.integers(21, len(batch) - 1))
    batch[at] ^= 1 << data.draw(st.integers(0, 7))

    with pytest.raises(CorruptRecords, match=f"source offset {header.base_offset}"):
        check_crc(batch, header)


def marker(type_: int) -> memoryview:
    key = (0).to_bytes(2, "big") + type_.to_bytes(2, "big")
    return write([Row(9, 1_700_000_000_000, key, bytes(6), [])], attributes=0x30)


def test_markers_tell_abort_from_commit() -> None:
    assert is_abort_marker(marker(0))
    assert not is_abort_marker(marker(1))


def test_a_marker_that_ends_too_early_is_corrupt() -> None:
    batch = marker(0)
    with pytest.raises(CorruptRecords, match="control batch"):
        is_abort_marker(batch[:64])
