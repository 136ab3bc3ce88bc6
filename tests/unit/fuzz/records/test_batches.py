"""Record batches from a broker, damaged: refused, or passed on with a checksum that holds."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from kafka.record.util import calc_crc32c

from heliograph.errors import HeliographError
from heliograph.model import AbortedTransaction
from heliograph.records.batch import read_header, split
from heliograph.records.decode import Record, decode
from heliograph.records.repack import Repacked, repack
from heliograph.records.select import Selection, select
from support.fuzz.laws import survives
from support.fuzz.mutation import flipped, mutants
from support.records.batch_oracle import HEADER, Row, squeeze, with_fields, write
from support.records.java_batches import BATCHES

T0 = 1_700_000_000_000
ROWS = [
    Row(70, T0, b"k", b"v", [("h", b"x"), ("trace", None)]),
    Row(71, T0 + 5, None, b"", []),
    Row(75, T0 - 9, b"", None, []),
    Row(76, T0 + 70_000, b"key" * 50, b"value " * 60, []),
]
ABORT = Row(77, T0, struct.pack(">hh", 0, 0), bytes(6), [])
WRITTEN = [
    *(bytes(write(ROWS, codec=codec)) for codec in range(5)),
    bytes(write(ROWS[:2], attributes=0x08)),
    bytes(write(ROWS[:2], attributes=0x10)),
    bytes(write([ABORT], attributes=0x30)),
    bytes(with_fields(bytes(write(ROWS))[: HEADER.size], count=0)),
]
JAVA = list(BATCHES.values())
FETCHED = [*WRITTEN, *JAVA, b"".join(WRITTEN[:3]), WRITTEN[6] + WRITTEN[7], JAVA[0] + WRITTEN[0]]
SECTION = bytes(write(ROWS))[HEADER.size :]

positions = st.sampled_from([0, 70, 71, 73, 76, 77, 1000, 2**62])
ends = st.none() | st.sampled_from([0, 71, 74, 77, 2**62])
aborted = st.lists(
    st.builds(AbortedTransaction, st.sampled_from([42, -1, 7]), st.integers(-1, 100)), max_size=3
)
sizes = st.none() | st.sampled_from([0, 1, 70, 100, 200, 1 << 20])


def repaired(batch: bytes) -> bytes:
    """With the length and checksum that a writer with a bug would have given it."""
    return bytes(with_fields(batch, magic=2)) if len(batch) >= HEADER.size else batch


def check_selection(selection: Selection) -> None:
    assert -(2**63) <= selection.position < 2**63
    for batch in selection.batches:
        assert -(2**63) <= batch.first_offset < batch.next_offset < 2**63
        if batch.data[16] > 1:
            assert batch.data[16] == 2
            assert batch.record_count > 0
            assert calc_crc32c(batch.data[21:]) == read_header(batch.data).crc


@given(st.binary(max_size=200) | mutants(FETCHED), positions, ends, aborted, st.booleans())
def test_fetched_bytes_are_refused_or_selected_with_their_checksum(
    fetched: bytes,
    position: int,
    end: int | None,
    transactions: Sequence[AbortedTransaction],
    append_time: bool,
) -> None:
    selection = survives(
        lambda: select(
            memoryview(bytearray(fetched)),
            position=position,
            end=end,
            aborted=transactions,
            append_time=append_time,
        ),
        len(fetched),
    )

    if not isinstance(selection, HeliographError):
        check_selection(selection)


@given(mutants([*WRITTEN, *WRITTEN], least=1).map(repaired), positions, ends, aborted)
def test_batches_that_a_faulty_writer_has_signed_are_refused_or_selected(
    batch: bytes, position: int, end: int | None, transactions: Sequence[AbortedTransaction]
) -> None:
    selection = survives(
        lambda: select(memoryview(batch), position=position, end=end, aborted=transactions),
        len(batch),
    )

    if not isinstance(selection, HeliographError):
        check_selection(selection)


@given(flipped(FETCHED))
def test_flipped_bits_are_refused_or_outside_of_what_the_checksum_covers(fetched: bytes) -> None:
    selection = survives(lambda: select(memoryview(fetched), position=0), len(fetched))

    if not isinstance(selection, HeliographError):
        check_selection(selection)
        for batch in selection.batches:
            check_repacked(batch.data, first=0, end=None, append_time=True, max_bytes=None)


def check_repacked(
    batch: memoryview, *, first: int, end: int | None, append_time: bool, max_bytes: int | None
) -> None:
    outcome = survives(
        lambda: repack(batch, first=first, end=end, append_time=append_time, max_bytes=max_bytes),
        len(batch),
        anyway=64 << 20,
    )
    if isinstance(outcome, HeliographError):
        return
    for piece in outcome:
        check_piece(piece, first, end, max_bytes)


def check_piece(piece: Repacked, first: int, end: int | None, max_bytes: int | None) -> None:
    header = read_header(memoryview(piece.data))
    assert calc_crc32c(memoryview(piece.data)[21:]) == header.crc
    assert (header.base_offset, header.magic, header.length) == (0, 2, len(piece.data) - 12)
    assert header.record_count == header.last_offset_delta + 1 == piece.count > 0
    assert first <= piece.first_offset < piece.next_offset
    assert end is None or piece.next_offset <= end
    assert max_bytes is None or len(piece.data) <= max_bytes
    assert sum(count for _, count in piece.runs) == piece.count
    assert piece.next_offset < 2**63


batches = st.binary(max_size=100) | mutants(FETCHED) | mutants(WRITTEN, least=1).map(repaired)


@given(batches, positions, ends, st.booleans(), sizes)
def test_whatever_is_repacked_is_refused_or_a_batch_that_a_broker_takes(
    batch: bytes, first: int, end: int | None, append_time: bool, max_bytes: int | None
) -> None:
    check_repacked(
        memoryview(batch), first=first, end=end, append_time=append_time, max_bytes=max_bytes
    )


@given(mutants([SECTION, SECTION * 3]), st.integers(0, 4), st.sampled_from([0, 1, 4, 12, -1]))
def test_damaged_records_under_a_valid_header_are_refused_or_read(
    section: bytes, codec: int, count: int
) -> None:
    batch = with_fields(
        WRITTEN[0][: HEADER.size] + squeeze(codec, section), attributes=codec, count=count
    )

    records = survives(lambda: decode(batch), len(section), anyway=64 << 20)

    check_repacked(batch, first=0, end=None, append_time=False, max_bytes=None)
    if not isinstance(records, HeliographError):
        assert len(records) == count
        check_agreement(batch, records)


def check_agreement(batch: memoryview, records: list[Record]) -> None:
    """Laws: what can be repacked holds the records that decode sees, and in that order."""
    outcome = survives(lambda: repack(batch, first=-(2**63)), len(batch), anyway=64 << 20)
    if isinstance(outcome, HeliographError):
        return
    repacked = [record for piece in outcome for record in decode(memoryview(piece.data))]
    assert [(r.timestamp, r.key, r.value, r.headers) for r in repacked] == [
        (r.timestamp, r.key, r.value, r.headers) for r in records
    ]


@given(batches)
def test_every_whole_batch_that_split_finds_can_be_asked_for_its_header(fetched: bytes) -> None:
    found = survives(lambda: list(split(memoryview(fetched))), len(fetched))

    if not isinstance(found, HeliographError):
        for batch in found:
            survives(lambda batch=batch: decode(batch), len(batch), anyway=64 << 20)  # type: ignore[misc]
