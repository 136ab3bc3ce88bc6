"""Compressed data, damaged or made to explode: refused with an error of ours, within the limit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from heliograph.errors import HeliographError
from heliograph.records.codecs import decompress, mend_lz4
from support.fuzz.laws import survives
from support.fuzz.mutation import mutants
from support.records.batch_oracle import squeeze

PLAIN = [b"", b"x", b"value " * 100, bytes(range(256)) * 4]
SQUEEZED = {codec: [squeeze(codec, plain) for plain in PLAIN] for codec in range(1, 5)}
EVERY = [data for examples in SQUEEZED.values() for data in examples]


@given(
    st.integers(0, 7), st.binary(max_size=60) | mutants(EVERY), st.sampled_from([0, 100, 1 << 16])
)
def test_damaged_data_is_refused_or_stays_below_the_limit(
    codec: int, data: bytes, limit: int
) -> None:
    outcome = survives(lambda: decompress(codec, data, limit=limit), len(data) + limit, per_byte=4)

    if not isinstance(outcome, HeliographError):
        assert codec == 0 or len(outcome) <= limit


@given(st.binary(max_size=40) | mutants(SQUEEZED[3]))
def test_damaged_lz4_headers_are_mended_or_left(data: bytes) -> None:
    mended = survives(lambda: mend_lz4(data), len(data))

    assert isinstance(mended, bytes)
    assert len(mended) == len(data)
