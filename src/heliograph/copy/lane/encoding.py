"""Columns of one remote partition to batches for its producer, and where their records come from.

A batch names the source offsets of its records as runs, by which offsets are translated. A filter that drops
every other record would make each kept record a run of its own: past a limit, runs become coarse.

    source   10 ·· 12 ···· 17 ·· 20 21        kept records, at d … d+4 on the target
    coarse            17 18 19 20 21 = d … d+4     right-aligned: never ahead of the truth, exact at its end
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from heliograph.records.batch import HEADER_BYTES, max_timestamp
from heliograph.records.columns import Columns
from heliograph.records.columns_encode import encode_columns
from heliograph.records.varint_arrays import Ints

#: Bytes of records in a batch, before compression. Larger ones do not make producing faster.
BATCH_BYTES = 512 << 10
#: More than a record takes besides its key, its value and its headers.
_OVERHEAD = 32
#: Runs of a batch that are told exactly.
MOST_RUNS = 8

Runs = tuple[tuple[int, int], ...]


class Encoded(NamedTuple):
    """A batch, and the rows of the columns that it holds."""

    data: memoryview
    low: int
    high: int
    runs: Runs
    newest_ms: int


def encode_batches(columns: Columns, *, codec: int, most: int | None) -> Iterator[Encoded]:
    """In order. `most`: bytes of a batch that the target takes, None if that is not known. A record that is
    larger is alone in its batch; its sender finds that out."""
    limit = BATCH_BYTES if most is None else min(BATCH_BYTES, most - HEADER_BYTES)
    cuts = _cuts(_sizes(columns), limit)
    bounds = [0, *cuts, len(columns)]
    for data, low, high in zip(
        encode_columns(columns, cuts=cuts, codec=codec), bounds, bounds[1:], strict=False
    ):
        yield Encoded(data, low, high, runs_of(columns.offset[low:high]), max_timestamp(data))


def _sizes(columns: Columns) -> list[int]:
    sizes = np.maximum(columns.key.size, 0) + np.maximum(columns.value.size, 0) + _OVERHEAD
    if len(columns.name):
        headers = columns.name.size + np.maximum(columns.content.size, 0) + _OVERHEAD
        total = np.append(0, np.cumsum(headers))
        last = np.cumsum(columns.header_count)
        sizes = sizes + total[last] - total[last - columns.header_count]
    return sizes.tolist()  # type: ignore[no-any-return]


def _cuts(sizes: Sequence[int], limit: int) -> list[int]:
    cuts, taken = [], 0
    for row, size in enumerate(sizes):
        if taken and taken + size > limit:
            cuts.append(row)
            taken = 0
        taken += size
    return cuts


def runs_of(offsets: Ints) -> Runs:
    """The source offsets of consecutive records as (first, number), coarse past `MOST_RUNS`."""
    starts = np.append(0, np.flatnonzero(np.diff(offsets) != 1) + 1)
    if len(starts) > MOST_RUNS:
        return _coarse(offsets, starts)
    counts = np.diff(np.append(starts, len(offsets)))
    return tuple(zip(offsets[starts].tolist(), counts.tolist(), strict=True))


def _coarse(offsets: Ints, starts: Ints) -> Runs:
    chosen = starts[np.arange(MOST_RUNS) * len(starts) // MOST_RUNS]
    stops = np.append(chosen[1:], len(offsets))
    counts = stops - chosen
    return tuple(zip((offsets[stops - 1] + 1 - counts).tolist(), counts.tolist(), strict=True))
