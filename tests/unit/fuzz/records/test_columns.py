"""Damaged record sections: columns and the scalar decoder find the same, or refuse alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.errors import CorruptRecords
from heliograph.records import columns_decode
from heliograph.records.columns import records_of
from heliograph.records.columns_decode import check_timestamps, decode_columns
from heliograph.records.decode import Record, decode_section
from heliograph.records.encode import encode
from heliograph.records.framing import Section, unframe
from support.fuzz.mutation import flipped, mutants

T0 = 1_700_000_000_000
RECORDS = [
    Record(timestamp=T0, key=b"k", value=b"v", headers=((b"h", b"x"), (b"trace", None))),
    Record(timestamp=T0 + 5, key=None, value=b""),
    Record(timestamp=T0 - 90_000, key=b"", value=None, headers=((b"", b""),)),
    Record(timestamp=T0, key=b"key" * 50, value=b"value " * 60),
]
WHOLE = unframe(memoryview(encode(RECORDS)))
counts = st.sampled_from([0, 1, 3, 4, 5, 1000])
bases = st.sampled_from([T0, -1, 2**63 - 1, -(2**63)])


@pytest.fixture(autouse=True, scope="module")
def vectors_for_any_number_of_records() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns_decode, "SMALL", 0)
        yield


def scalar(sections: list[Section]) -> list[Record]:
    records = [record for section in sections for record in decode_section(section)]
    check_timestamps(records, sections[0].subject)
    return records


def outcome(decoder: Callable[[list[Section]], list[Record]], sections: list[Section]) -> object:
    try:
        return decoder(sections)
    except CorruptRecords as refused:
        return str(refused)


def check_same(sections: list[Section]) -> None:
    found = outcome(lambda each: records_of(decode_columns(each)), sections)
    assert found == outcome(scalar, sections)


@given(st.binary(max_size=120) | mutants([WHOLE.data]) | flipped([WHOLE.data]), counts, bases)
def test_damaged_records_are_read_or_refused_as_by_the_scalar_decoder(
    data: bytes, count: int, base: int
) -> None:
    damaged = replace(WHOLE, data=data, count=count, base_timestamp=base)

    check_same([damaged])
    check_same([WHOLE, damaged, WHOLE])


@given(st.lists(st.integers(0, 255), max_size=40).map(bytes), st.integers(0, 3))
def test_short_sections_of_any_bytes(data: bytes, count: int) -> None:
    check_same([replace(WHOLE, data=data, count=count, last_offset_delta=2**31 - 1)])
