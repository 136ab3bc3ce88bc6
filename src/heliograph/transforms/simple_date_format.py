"""Java's `SimpleDateFormat` in UTC and English, for formats of timestamps in topic names."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from heliograph.transforms.failures import RecordFailed

_DAY = 86_400_000
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_DAYS = ("Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday")
_PIECE = re.compile(r"''|'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']+")


class _Moment(NamedTuple):
    year: int
    month: int
    day: int
    day_of_year: int
    weekday: int  # 0: Thursday, the first of January 1970
    hour: int
    minute: int
    second: int
    millisecond: int


_NUMBERS: dict[str, Callable[[_Moment], int]] = {
    "d": lambda at: at.day,
    "D": lambda at: at.day_of_year,
    "H": lambda at: at.hour,
    "k": lambda at: at.hour or 24,
    "K": lambda at: at.hour % 12,
    "h": lambda at: at.hour % 12 or 12,
    "m": lambda at: at.minute,
    "s": lambda at: at.second,
    "S": lambda at: at.millisecond,
    "u": lambda at: (at.weekday + 3) % 7 + 1,
}
_TEXTS: dict[str, Callable[[_Moment, int], str]] = {
    "y": lambda at, size: f"{at.year % 100:02}" if size == 2 else f"{at.year:0{size}}",
    "M": lambda at, size: _month(at, size),
    "E": lambda at, size: _DAYS[at.weekday] if size > 3 else _DAYS[at.weekday][:3],
    "a": lambda at, _: "AM" if at.hour < 12 else "PM",
    "G": lambda _, __: "AD",
    "X": lambda _, __: "Z",
    "Z": lambda _, __: "+0000",
    "z": lambda _, size: "Coordinated Universal Time" if size > 3 else "UTC",
}
#: From 1582-10-15, where the Gregorian calendar begins in Java, to the end of the year 9999.
_EARLIEST, _LATEST = -12_219_292_800_000, 253_402_300_799_999


@dataclass(frozen=True, slots=True)
class SimpleDateFormat:
    """Raises ValueError if the pattern cannot be followed."""

    pattern: str
    _pieces: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        pieces = [found[0] for found in _PIECE.finditer(self.pattern)]
        if "".join(pieces) != self.pattern:
            raise ValueError("Unterminated quote")
        for piece in pieces:
            if piece[0].isalpha() and piece[0] not in _NUMBERS and piece[0] not in _TEXTS:
                raise ValueError(
                    f"letter {piece[0]} is not supported; expected some of "
                    f"{' '.join(sorted({*_NUMBERS, *_TEXTS}))}, or text in single quotes"
                )
        object.__setattr__(self, "_pieces", tuple(pieces))

    def format(self, milliseconds: int) -> str:
        """Raises RecordFailed."""
        if not _EARLIEST <= milliseconds <= _LATEST:
            raise RecordFailed(f"timestamp {milliseconds}: no year from 1582 to 9999")
        at = _moment(milliseconds)
        return "".join(_formatted(piece, at) for piece in self._pieces)


def _formatted(piece: str, at: _Moment) -> str:
    letter = piece[0]
    if piece == "''":
        return "'"
    if letter == "'":
        return piece[1:-1].replace("''", "'")
    if letter in _NUMBERS:
        return f"{_NUMBERS[letter](at):0{len(piece)}}"
    return _TEXTS[letter](at, len(piece)) if letter in _TEXTS else piece


def _month(at: _Moment, size: int) -> str:
    if size < 3:
        return f"{at.month:0{size}}"
    name = _MONTHS[at.month - 1]
    return name if size > 3 else name[:3]


def _moment(milliseconds: int) -> _Moment:
    """The pure half of the code base has no clock and so no datetime; days to dates by Hinnant's method."""
    days, rest = divmod(milliseconds, _DAY)
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (
        day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096
    ) // 365
    from_march = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month_from_march = (5 * from_march + 2) // 153
    day = from_march - (153 * month_from_march + 2) // 5 + 1
    month = month_from_march + (3 if month_from_march < 10 else -9)
    year = era * 400 + year_of_era + (month <= 2)
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    day_of_year = from_march + 60 + leap if month > 2 else from_march - 305
    seconds, millisecond = divmod(rest, 1000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return _Moment(year, month, day, day_of_year, days % 7, hour, minute, second, millisecond)
