"""Records as Arrow arrays: exact both ways, null and empty apart, slices too."""

from __future__ import annotations

import pytest

from heliograph.records.columns import columns_of, records_of
from heliograph.records.columns_decode import decode_columns
from heliograph.records.columns_encode import encode_columns
from heliograph.records.decode import Record
from heliograph.records.encode import encode
from heliograph.records.framing import unframe
from heliograph.spark.record_columns import SCHEMA, from_arrow, to_arrow

RECORDS = [
    Record(
        offset=n,
        timestamp=1_700_000_000_000 - n,
        key=None if n % 3 == 0 else b"k%d" % n,
        value=None if n % 5 == 0 else b"v" * (n % 50),
        headers=tuple((b"h\xff%d" % (j % 2), None if j == 1 else b"x" * j) for j in range(n % 4)),
    )
    for n in range(200)
]


def test_records_pass_through_arrow_unchanged() -> None:
    columns = decode_columns([unframe(memoryview(encode(RECORDS)))])

    batch = to_arrow(columns, "orders", 3)

    assert batch.schema == SCHEMA
    assert batch.num_rows == 200
    assert set(batch.column("topic").to_pylist()) == {"orders"}
    assert records_of(from_arrow(batch)) == RECORDS
    (again,) = encode_columns(from_arrow(batch))
    assert bytes(again) == bytes(encode(RECORDS))


@pytest.mark.parametrize(("start", "length"), [(0, 0), (1, 7), (150, 50), (0, 200)])
def test_slices_are_the_records_in_them(start: int, length: int) -> None:
    batch = to_arrow(columns_of(RECORDS), "orders", 3).slice(start, length)

    assert records_of(from_arrow(batch)) == RECORDS[start : start + length]


def test_arrow_sees_nulls_and_headers() -> None:
    rows = to_arrow(columns_of(RECORDS[:4]), "orders", 3)

    assert rows.column("key").to_pylist() == [None, b"k1", b"k2", None]
    assert rows.column("value").to_pylist() == [None, b"v", b"vv", b"vvv"]
    assert rows.column("headers").value_lengths().to_pylist() == [0, 1, 2, 3]


def test_a_row_without_a_header_list_has_no_headers() -> None:
    batch = to_arrow(columns_of(RECORDS[:3]), "orders", 3)
    rows = [{**row, "headers": None} for row in batch.drop_columns(["headers"]).to_pylist()]

    again = from_arrow(type(batch).from_pylist(rows, schema=SCHEMA))

    assert [record.headers for record in records_of(again)] == [(), (), ()]
