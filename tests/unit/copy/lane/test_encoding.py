"""Columns to batches: cut by size, and named by the source offsets of their records."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from heliograph.copy.lane.encoding import MOST_RUNS, encode_batches, runs_of
from heliograph.mm2.offset_map import OffsetMap
from heliograph.mm2.offset_map_builder import OffsetMapBuilder
from heliograph.records.columns import columns_of
from heliograph.records.decode import Record, decode

OFFSETS = st.sets(st.integers(0, 300), min_size=1, max_size=150).map(sorted)


def mapped(kept: list[int], end: int) -> OffsetMap:
    """As a copy that has written these records from target offset 1000 on maps them."""
    builder = OffsetMapBuilder(0)
    at = 1000
    for upstream, count in runs_of(np.array(kept, np.int64)):
        builder.land(upstream, at, count)
        at += count
    assert at == 1000 + len(kept)
    return OffsetMap(builder.fresh(end))


@given(OFFSETS)
def test_a_translated_offset_is_never_ahead_of_the_next_kept_record(kept: list[int]) -> None:
    found = mapped(kept, 301)
    for offset in range(kept[0], 302):
        translated = found.translate(offset)
        assert translated is not None
        assert 1000 <= translated <= 1000 + bisect_left(kept, offset)


@given(OFFSETS)
def test_where_few_records_are_dropped_offsets_translate_exactly(kept: list[int]) -> None:
    if len(runs_of(np.array(kept, np.int64))) >= MOST_RUNS:
        return
    found = mapped(kept, 301)
    for offset in range(kept[0], 302):
        assert found.translate(offset) == 1000 + bisect_left(kept, offset)


@given(OFFSETS)
def test_at_the_end_of_a_batch_also_coarse_runs_translate_exactly(kept: list[int]) -> None:
    found = mapped(kept, 301)
    assert found.translate(kept[-1]) == 1000 + len(kept) - 1
    assert found.translate(301) == 1000 + len(kept)
    assert found.translate(kept[0]) == 1000


@given(st.lists(st.binary(max_size=900), min_size=1, max_size=80), st.integers(200, 4000))
def test_batches_fit_the_target_unless_one_record_alone_does_not(
    values: list[bytes], most: int
) -> None:
    records = [
        Record(offset=n, timestamp=n, key=None, value=value) for n, value in enumerate(values)
    ]

    found = list(encode_batches(columns_of(records), codec=0, most=most))

    assert all(len(each.data) <= most or each.high - each.low == 1 for each in found)
    assert [each.low for each in found] == [0, *(each.high for each in found[:-1])]
    assert [r.value for each in found for r in decode(each.data)] == values
