"""Numbers, rates and times as people read them."""

from __future__ import annotations

import datetime

UNKNOWN = "–"
_THOUSANDS = ("", " k", " M", " G", " T")


def count(value: int | None) -> str:
    return UNKNOWN if value is None else f"{value:,}"


def short(value: float | None) -> str:
    """Three digits that count: 12.3 k."""
    if value is None:
        return UNKNOWN
    size, unit = float(value), 0
    while abs(size) >= 999.5 and unit < len(_THOUSANDS) - 1:
        size, unit = size / 1000, unit + 1
    digits = 0 if unit == 0 or abs(size) >= 99.95 else 1
    return f"{size:,.{digits}f}{_THOUSANDS[unit]}"


def per_second(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    if 0 < value < 0.95:
        return f"{value:.1f}/s"
    return f"{short(round(value))}/s"


def bytes_per_second(value: float | None) -> str:
    return (
        UNKNOWN if value is None else f"{short(value)}B/s" if value >= 999.5 else f"{value:.0f} B/s"
    )


def duration(seconds: float | None) -> str:
    if seconds is None:
        return UNKNOWN
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:.0f} s"


def ago(at_ms: int, now_ms: int) -> str:
    return UNKNOWN if at_ms < 0 else f"{duration(max(now_ms - at_ms, 0) / 1000)} ago"


def clock_time(at_ms: int) -> str:
    """In UTC, as in the log of a server."""
    return _at(at_ms).strftime("%H:%M:%S")


def day(at_ms: int) -> str:
    return _at(at_ms).strftime("%A, %-d %B %Y")


def iso(at_ms: int) -> str:
    return _at(at_ms).strftime("%Y-%m-%dT%H:%M:%SZ")


def _at(at_ms: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(at_ms / 1000, datetime.UTC)
