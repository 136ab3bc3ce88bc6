"""Repacks batches that a broker would refuse as they are.

Brokers require magic 2, offset deltas 0 to n-1 and at most max.message.bytes. Compaction leaves holes in the
deltas, a copy may have to start inside a batch, old segments hold magic 0 and 1, and a target may allow less
than its source. Codec, timestamps, keys, values and headers stay.

                 offset   10  11  14  17              first = 11, end = None
    upstream     batch   [ 0 | 1 | 4 | 7 ]   ──►     [ 0 | 1 | 2 ]   first_offset 11, next_offset 18
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise

from heliograph.errors import CorruptRecords, RecordTooLarge
from heliograph.records.batch import MAGIC_AT
from heliograph.records.codecs import NONE, compress
from heliograph.records.decode import Record
from heliograph.records.encode import encode_record
from heliograph.records.framing import Section, frame, unframe
from heliograph.records.legacy import decode_legacy, split_legacy
from heliograph.records.renumber import Renumbered, renumber
from heliograph.records.varint import decode_varint, decode_varlong

_TIMESTAMPS = 1 << 63


@dataclass(frozen=True, slots=True, kw_only=True)
class Repacked:
    """A whole batch of magic 2 with base offset 0; producer id, epoch and sequence are -1."""

    data: bytearray
    first_offset: int  # upstream, of its first record
    next_offset: int  # upstream, after its last record
    count: int
    runs: tuple[tuple[int, int], ...]  # (upstream offset, number of records), without holes inside


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """Which records of a section to keep, in its own offset deltas, and how."""

    low: int
    high: int
    restamp: bool
    max_bytes: int | None


def repack(
    batch: memoryview,
    *,
    first: int,
    end: int | None = None,
    append_time: bool = False,
    max_bytes: int | None = None,
    subject: str = "",
) -> list[Repacked]:
    """The records with first <= offset < end of one whole batch, in order, as batches to produce.

    With `append_time`, records of a batch with LogAppendTime get that timestamp, as consumers see it;
    without it they keep the producer's. Batches are split until each has at most `max_bytes`; a single
    record with more raises RecordTooLarge. `subject` names the partition in errors. The caller drops control
    batches: of the attributes only the codec is kept.
    """
    if len(batch) > MAGIC_AT and batch[MAGIC_AT] in (0, 1):
        return repack_legacy(
            batch,
            first=first,
            end=end,
            append_time=append_time,
            max_bytes=max_bytes,
            subject=subject,
        )
    section = unframe(batch, subject=subject)
    return _repack_section(section, first, end, append_time, max_bytes)


def repack_legacy(
    entries: memoryview,
    *,
    first: int,
    end: int | None = None,
    append_time: bool = False,
    max_bytes: int | None = None,
    subject: str = "",
) -> list[Repacked]:
    """As `repack`, for one or more whole entries of magic 0 or 1 in a row.

    Consecutive entries of one codec share a batch, since uncompressed entries hold a single record each.
    Records of magic 0 have no timestamp and get -1, as consumers see them.
    """
    subject = subject or "message set"
    batches: list[Repacked] = []
    for codec, records in _legacy_runs(entries, append_time, subject):
        section = _section_of(codec, records, subject)
        batches += _repack_section(section, first, end, False, max_bytes)
    return batches


def _repack_section(
    section: Section, first: int, end: int | None, append_time: bool, max_bytes: int | None
) -> list[Repacked]:
    order = _Order(
        low=first - section.base_offset,
        high=(1 << 63) if end is None else end - section.base_offset,
        restamp=append_time and section.append_timestamp is not None,
        max_bytes=max_bytes,
    )
    try:
        batches = _pack(section, section.data, section.count, order)
    except CorruptRecords as problem:
        raise CorruptRecords(f"{section.subject}: {problem}") from problem
    last = section.base_offset + section.last_offset_delta
    if batches and batches[-1].next_offset > last + 1:
        raise CorruptRecords(
            f"{section.subject}: a record has offset {batches[-1].next_offset - 1}, above lastOffset {last}"
        )
    return batches


def _pack(section: Section, data: bytes, count: int, order: _Order) -> list[Repacked]:
    kept = renumber(data, count, low=order.low, high=order.high, restamp=order.restamp)
    if kept is None:
        return []
    batch = _wrap(section, kept, order.restamp)
    if order.max_bytes is None or len(batch) <= order.max_bytes:
        return [
            Repacked(
                data=batch,
                first_offset=section.base_offset + kept.starts[0][0],
                next_offset=section.base_offset + kept.last_delta + 1,
                count=kept.count,
                runs=_runs(section.base_offset, kept),
            )
        ]
    if kept.count == 1:
        raise RecordTooLarge(section.subject, section.base_offset + kept.starts[0][0], len(batch))
    batches: list[Repacked] = []
    # 10 % more parts than the size requires: records differ in size.
    parts = 1 + len(batch) * 11 // (max(order.max_bytes, 1) * 10)
    for part, size in _split(data, count, order, parts=parts):
        batches += _pack(section, part, size, order)
    return batches


def _runs(base_offset: int, kept: Renumbered) -> tuple[tuple[int, int], ...]:
    if len(kept.starts) == 1:
        return ((base_offset + kept.starts[0][0], kept.count),)
    ends = [new_delta for _, new_delta in kept.starts]
    ends.append(kept.count)
    return tuple(
        [
            (base_offset + delta, end - new_delta)
            for (delta, new_delta), end in zip(kept.starts, ends[1:], strict=True)
        ]
    )


def _wrap(section: Section, kept: Renumbered, restamp: bool) -> bytearray:
    base_timestamp = section.base_timestamp
    max_timestamp = base_timestamp + kept.max_timestamp_delta
    if restamp and section.append_timestamp is not None:
        base_timestamp = max_timestamp = section.append_timestamp
    if not -_TIMESTAMPS <= max_timestamp < _TIMESTAMPS:
        raise CorruptRecords(f"timestamp {max_timestamp}: more than 64 bits")
    pieces = kept.pieces
    if section.codec != NONE:
        pieces = [compress(section.codec, b"".join(pieces))]
    return frame(
        pieces,
        attributes=section.codec,
        count=kept.count,
        base_timestamp=base_timestamp,
        max_timestamp=max_timestamp,
    )


def _split(data: bytes, count: int, order: _Order, *, parts: int) -> Iterator[tuple[bytes, int]]:
    """Two or more sections of about equal size, without the records out of range."""
    starts = []
    position = stop = 0
    for _ in range(count):
        start = position
        length, position = decode_varint(data, position)
        end = position + length
        _, position = decode_varlong(data, position + 1)
        delta, _ = decode_varint(data, position)
        if order.low <= delta < order.high:
            starts.append(start)
            stop = end
        position = end
    kept = len(starts)
    aims = (starts[0] + (stop - starts[0]) * part // parts for part in range(1, parts))
    # One record may be larger than all others; each round must still make the sections smaller.
    inner = {min(max(bisect_left(starts, aim), 1), kept - 1) for aim in aims}
    starts.append(stop)
    for low, high in pairwise(sorted({0, *inner, kept})):
        yield data[starts[low] : starts[high]], high - low


def _legacy_runs(
    entries: memoryview, append_time: bool, subject: str
) -> Iterator[tuple[int, list[Record]]]:
    found = []
    position = 0
    while position < len(entries):
        entry = split_legacy(entries, position, subject=subject)
        if entry is None:
            raise CorruptRecords(f"{subject}: a message is truncated at byte {len(entries)}")
        found.append(entry)
        position = entry.end
    for codec, run in groupby(found, key=lambda entry: entry.codec):
        records: list[Record] = []
        for entry in run:
            view = entries[entry.start : entry.end]
            records += decode_legacy(view, append_time=append_time, subject=subject)
        yield codec, records


def _section_of(codec: int, records: list[Record], subject: str) -> Section:
    base_offset, base_timestamp = records[0].offset, records[0].timestamp
    return Section(
        data=b"".join(
            encode_record(record, record.timestamp - base_timestamp, record.offset - base_offset)
            for record in records
        ),
        count=len(records),
        codec=codec,
        base_offset=base_offset,
        last_offset_delta=records[-1].offset - base_offset,
        base_timestamp=base_timestamp,
        append_timestamp=None,
        subject=f"{subject} at source offset {base_offset}",
    )
