"""Columns of records hold exactly what the scalar decoder finds, and give the bytes that the scalar encoder
gives."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.errors import CorruptRecords
from heliograph.records import columns_decode
from heliograph.records.batch import read_header, split
from heliograph.records.columns import ByteColumn, Columns, columns_of, records_of
from heliograph.records.columns_decode import SMALL, decode_columns
from heliograph.records.columns_encode import encode_columns
from heliograph.records.decode import Record, decode
from heliograph.records.encode import encode
from heliograph.records.framing import unframe
from support.records.batch_oracle import Row, read, write
from support.records.java_batches import BATCHES

T0 = 1_700_000_000_000
fields = st.none() | st.binary(max_size=300)
headers = st.lists(st.tuples(st.binary(max_size=20), fields), max_size=5).map(tuple)
records = st.builds(
    Record,
    timestamp=st.integers(T0 - 10**12, T0 + 10**12) | st.just(-1),
    key=fields,
    value=fields,
    headers=headers,
)


def without_offsets(found: Sequence[Record]) -> list[tuple[object, ...]]:
    return [(r.timestamp, r.key, r.value, r.headers) for r in found]


def many(count: int) -> list[Record]:
    """Of every shape: null and empty fields, headers with null values and the same name twice."""
    return [
        Record(
            offset=n,
            timestamp=T0 + n * 7 % 50,
            key=None if n % 3 == 0 else b"" if n % 7 == 0 else b"k%d" % n,
            value=None if n % 5 == 0 else b"v" * (n * 37 % 9000),
            headers=tuple((b"h%d" % (j % 2), None if j == 1 else b"x" * j) for j in range(n % 5)),
        )
        for n in range(count)
    ]


def decoded(batches: Sequence[bytearray | memoryview]) -> Columns:
    return decode_columns([unframe(memoryview(batch)) for batch in batches])


@given(st.lists(records, min_size=1, max_size=150), st.data())
def test_any_records_pass_through_columns_unchanged(
    found: list[Record], data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(found) - 1)), max_size=5)))
    cuts = [cut for cut in cuts if cut < len(found)]
    batches = [encode(found[low:high]) for low, high in pairwise([0, *cuts, len(found)])]

    columns = decoded(batches)

    assert without_offsets(records_of(columns)) == without_offsets(found)
    again = encode_columns(columns, cuts=cuts)
    anew = encode_columns(columns_of(found), cuts=cuts)
    assert [bytes(batch) for batch in again] == [bytes(batch) for batch in batches]
    assert [bytes(batch) for batch in anew] == [bytes(batch) for batch in batches]


@pytest.mark.parametrize("count", [1, SMALL - 1, SMALL, 500])
@pytest.mark.parametrize("codec", range(5))
def test_batches_of_columns_are_read_by_an_independent_reader(codec: int, count: int) -> None:
    (batch,) = encode_columns(columns_of(many(count)), codec=codec, producer_id=9, sequence=3)

    rows = [
        Row(r.offset, r.timestamp, r.key, r.value, [(n.decode(), c) for n, c in r.headers])
        for r in many(count)
    ]
    assert read(batch) == rows
    assert (read_header(batch).producer_id, read_header(batch).base_sequence) == (9, 3)


@pytest.mark.parametrize("codec", range(5))
def test_batches_of_an_independent_writer_are_read_into_columns(codec: int) -> None:
    rows = [
        Row(70 + n * 3, T0 - n, b"k" if n % 2 else None, b"v" * n, [("h", None), ("h", b"%d" % n)])
        for n in range(200)
    ]

    columns = decoded([bytearray(write(rows, codec=codec))])

    assert columns.offset.tolist() == [row.offset for row in rows]
    assert columns.timestamp.tolist() == [row.timestamp for row in rows]
    assert columns.value.tolist() == [row.value for row in rows]
    assert columns.headers()[3] == ((b"h", None), (b"h", b"3"))


@pytest.mark.parametrize("name", [name for name in BATCHES if name.startswith("magic2")])
def test_what_java_wrote_is_read_as_the_scalar_decoder_reads_it(name: str) -> None:
    batches = list(split(memoryview(BATCHES[name])))
    filler = encode(many(SMALL))

    columns = decoded([*batches, filler])

    expected = [record for batch in [*batches, memoryview(filler)] for record in decode(batch)]
    assert records_of(columns) == expected


def test_many_valid_records_need_no_scalar_decoder(monkeypatch: pytest.MonkeyPatch) -> None:
    batches = [encode(many(300)), bytearray(write([Row(0, T0, None, None, [])], attributes=0x08))]
    sections = [unframe(memoryview(batch)) for batch in batches]
    expected = [record for batch in batches for record in decode(memoryview(batch))]
    monkeypatch.setattr(columns_decode, "decode_section", None)

    assert records_of(decode_columns(sections)) == expected


def test_log_append_time_is_the_timestamp_of_the_records_of_its_batch_alone() -> None:
    rows = [Row(n, T0 + n, None, b"v", []) for n in range(60)]
    appended, created = write(rows, attributes=0x08), write(rows)

    columns = decoded([bytearray(appended), bytearray(created)])

    newest = read_header(memoryview(bytearray(appended))).max_timestamp
    assert columns.timestamp.tolist() == [newest] * 60 + [T0 + n for n in range(60)]


def test_kept_records_are_those_and_their_headers() -> None:
    found = many(300)
    columns = decoded([encode(found)])

    kept = columns.keep(columns.offset % 4 == 1)

    assert records_of(kept) == [record for record in found if record.offset % 4 == 1]
    (batch,) = encode_columns(kept)
    assert without_offsets(decode(batch)) == without_offsets(records_of(kept))


def test_changed_records_are_written_anew_and_the_others_as_they_were() -> None:
    found = many(300)
    columns = decoded([encode(found)])
    rows = columns.offset % 2 == 0
    values = [b"masked" if even else r.value for even, r in zip(rows, found, strict=True)]

    changed = columns.changed(rows, value=ByteColumn.of(values))

    (batch,) = encode_columns(changed)
    assert [record.value for record in decode(batch)] == values
    assert [record.headers for record in decode(batch)] == [record.headers for record in found]


def test_a_damaged_record_is_named_as_the_scalar_decoder_names_it() -> None:
    batch = encode(many(100))
    section = unframe(memoryview(batch))
    data = bytearray(section.data)
    data[1] = 0x7F  # the first record's attributes: no reader looks at them
    data[0] += 2
    damaged = type(section)(
        **{f: getattr(section, f) for f in section.__slots__} | {"data": bytes(data)}
    )

    with pytest.raises(CorruptRecords, match="record 0 of 100: length says it ends at byte"):
        decode_columns([damaged])


def test_timestamps_beyond_64_bits_are_refused() -> None:
    batch = bytearray(encode(many(SMALL)))
    section = unframe(memoryview(batch))
    far = type(section)(
        **{f: getattr(section, f) for f in section.__slots__} | {"base_timestamp": 2**63 - 1}
    )

    with pytest.raises(CorruptRecords, match="more than 64 bits"):
        decode_columns([far])


def test_a_batch_without_records_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one record"):
        encode_columns(columns_of(many(3)), cuts=[1, 1])


def test_no_records_are_no_columns() -> None:
    columns = decode_columns([])

    assert len(columns) == 0
    assert len(columns.keep(np.zeros(0, np.bool_))) == 0
