"""Gives the records of a section the offset deltas 0 to n-1: the hot loop of repacking.

    varint length | attributes i8 | varlong timestampDelta | varint offsetDelta | key, value, ...
    ↑ start         ↑ fields        ↑ fields + 1             ↑ delta_at           ↑ body     end ↑

A record whose new delta has as many bytes as the old one is patched in place, so that runs of records are
copied as one piece; otherwise length and delta are rewritten. Bodies are not read.
"""

from __future__ import annotations

from dataclasses import dataclass

from heliograph.errors import CorruptRecords
from heliograph.records.varint import decode_unsigned, encode_varint

_VARINTS = tuple(encode_varint(value) for value in range(8192))  # all of one or two bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Renumbered:
    """The kept records in `pieces`; the other deltas are the original ones."""

    pieces: list[bytes | bytearray]
    count: int
    starts: list[tuple[int, int]]  # delta and new delta at the start of each run without holes
    last_delta: int
    max_timestamp_delta: int


def renumber(  # noqa: C901 - one loop without calls: a call costs half as much as the whole record
    section: bytes, count: int, *, low: int, high: int, restamp: bool
) -> Renumbered | None:
    """The records with low <= offsetDelta < high, renumbered; None if there are none.

    With `restamp`, every timestampDelta becomes 0. All `count` records, kept or not, must fill the
    section exactly and have ascending deltas.
    """
    data = bytearray(section)
    size = len(data)
    pieces: list[bytes | bytearray] = []
    # Numbers stay in zigzag: even ones are twice the value, odd ones are negative.
    low *= 2
    high *= 2
    new_delta = 0
    last = previous = -1
    starts: list[tuple[int, int]] = []
    newest = -1
    newest_negative = 1 << 64
    run = 0  # data[run:] is not in pieces yet
    stop = -1  # where the first record after the range starts
    fields = 0
    for _ in range(count):
        start = fields
        try:
            length = data[fields]
            fields += 1
            if length > 0x7F:
                byte = data[fields]
                if byte < 0x80:
                    length += (byte << 7) - 0x80
                    fields += 1
                else:
                    length, fields = decode_unsigned(data, start)

            timestamp = data[fields + 1]
            delta_at = fields + 2
            if timestamp > 0x7F:
                byte = data[delta_at]
                if byte < 0x80:
                    timestamp += (byte << 7) - 0x80
                    delta_at += 1
                else:
                    timestamp, delta_at = decode_unsigned(data, fields + 1)

            delta = data[delta_at]
            body = delta_at + 1
            if delta > 0x7F:
                byte = data[body]
                if byte < 0x80:
                    delta += (byte << 7) - 0x80
                    body += 1
                else:
                    delta, body = decode_unsigned(data, delta_at)
        except IndexError:
            raise CorruptRecords(f"record at byte {start}: truncated at byte {size}") from None

        end = fields + (length >> 1)
        if length & 1 or body > end or end > size or delta & 1 or delta <= previous:
            raise _malformed(start, size - fields, length, delta, previous)
        previous = delta

        if low <= delta < high:
            width = delta_at - fields - 1
            if restamp and width == 1:
                data[fields + 1] = 0
            if restamp and width > 1:
                new = (
                    _VARINTS[new_delta >> 1]
                    if new_delta < 0x4000
                    else encode_varint(new_delta >> 1)
                )
                rest = end - body + 2 + len(new)
                pieces.append(data[run:start])
                pieces.append(_VARINTS[rest] if rest < 8192 else encode_varint(rest))
                pieces.append(data[fields : fields + 1])
                pieces.append(b"\x00")
                pieces.append(new)
                run = body
            elif delta != new_delta:
                width = body - delta_at
                if width == 1:
                    data[delta_at] = new_delta  # not larger than delta: deltas ascend
                elif width == 2 and new_delta > 0x7F:
                    data[delta_at] = new_delta & 0x7F | 0x80
                    data[body - 1] = new_delta >> 7
                else:
                    new = (
                        _VARINTS[new_delta >> 1]
                        if new_delta < 0x4000
                        else encode_varint(new_delta >> 1)
                    )
                    rest = (length >> 1) - width + len(new)
                    pieces.append(data[run:start])
                    pieces.append(_VARINTS[rest] if rest < 8192 else encode_varint(rest))
                    pieces.append(data[fields:delta_at])
                    pieces.append(new)
                    run = body
            if timestamp > newest:
                if not timestamp & 1:
                    newest = timestamp
                elif timestamp < newest_negative:
                    newest_negative = timestamp
            if delta - last != 2:  # true for the first: nothing is 2 above -1
                starts.append((delta >> 1, new_delta >> 1))
            last = delta
            new_delta += 2
        elif not new_delta:
            run = end
        elif stop < 0:
            stop = start
        fields = end
    if fields != size:
        raise CorruptRecords(f"{count} records end at byte {fields} of {size}")
    if previous >> 32:
        raise CorruptRecords(f"offset delta {previous >> 1}: more than 32 bits")
    if not new_delta:
        return None
    pieces.append(data[run : stop if stop >= 0 else size])
    return Renumbered(
        pieces=pieces,
        count=new_delta >> 1,
        starts=starts,
        last_delta=last >> 1,
        max_timestamp_delta=newest >> 1 if newest >= 0 else -(newest_negative + 1 >> 1),
    )


def _malformed(start: int, left: int, length: int, delta: int, previous: int) -> CorruptRecords:
    where = f"record at byte {start}"
    if length & 1:
        return CorruptRecords(f"{where}: length {-(length + 1 >> 1)}")
    if delta & 1 or delta <= previous:
        found = -(delta + 1 >> 1) if delta & 1 else delta >> 1
        return CorruptRecords(f"{where}: offset delta {found} after {previous >> 1}")
    return CorruptRecords(f"{where}: length {length >> 1} does not fit, {left} bytes left")
