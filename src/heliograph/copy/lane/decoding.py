"""Selected batches to columns: all of a fetch in one call; a damaged batch ends them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from heliograph.errors import CorruptRecords
from heliograph.records.batch import MAGIC_AT
from heliograph.records.codecs import NONE
from heliograph.records.columns import Columns, columns_of
from heliograph.records.columns_decode import decode_columns
from heliograph.records.framing import Section, unframe
from heliograph.records.legacy import decode_legacy
from heliograph.records.select import Selected

#: Batches decoded in one call: more do not cost less, and all of them are in memory decompressed.
_BATCHES = 64


class Decoded(NamedTuple):
    """Records before the source offset `end`. `codec`: that of the first batch."""

    columns: Columns
    end: int
    codec: int


class Decoder:
    """`end`: the offset that records must not reach, None for any. After a damaged batch, `failure`."""

    def __init__(self, position: int, end: int | None, *, append_time: bool, subject: str) -> None:
        self.failure: CorruptRecords | None = None
        self._position = position
        self._end = end
        self._append_time = append_time
        self._subject = subject

    def decode(self, batches: Sequence[Selected]) -> Iterator[Decoded]:
        for run in _runs(batches):
            try:
                yield self._decode(run)
            except CorruptRecords:
                yield from self._up_to_damage(run)
                return

    def _up_to_damage(self, run: Sequence[Selected]) -> Iterator[Decoded]:
        for batch in run:
            try:
                yield self._decode([batch])
            except CorruptRecords as e:
                self.failure = e
                return

    def _decode(self, run: Sequence[Selected]) -> Decoded:
        if run[0].data[MAGIC_AT] < 2:
            records = decode_legacy(
                run[0].data, append_time=self._append_time, subject=self._subject
            )
            columns, codec = columns_of(records), NONE
        else:
            sections = [self._section(batch) for batch in run]
            columns, codec = decode_columns(sections), sections[0].codec
        end = run[-1].next_offset if self._end is None else min(run[-1].next_offset, self._end)
        wanted = (columns.offset >= self._position) & (columns.offset < end)
        return Decoded(columns if wanted.all() else columns.keep(wanted), end, codec)

    def _section(self, batch: Selected) -> Section:
        section = unframe(batch.data, subject=self._subject)
        return section if self._append_time else replace(section, append_timestamp=None)


def _runs(batches: Sequence[Selected]) -> Iterator[list[Selected]]:
    """Batches of magic 2 together; an entry of an older format alone."""
    run: list[Selected] = []
    for batch in batches:
        legacy = batch.data[MAGIC_AT] < 2
        if run and (legacy or len(run) == _BATCHES):
            yield run
            run = []
        if legacy:
            yield [batch]
        else:
            run.append(batch)
    if run:
        yield run
