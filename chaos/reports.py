"""What a mirror has reported in its log: which source offsets are lost, or may be copied twice.

A report is a line at ERROR or WARNING that names a source partition and

    source offsets 10 to 19      that range
    source offset 10 on          everything from there to the source's end at that moment

Of several the first counts: what follows says where the copy goes on. A single offset is none: that is where
a partition waits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

Where = tuple[str, int]
_LINE = re.compile(r"^(\d\d):(\d\d):(\d\d) (ERROR|WARNING) (.*)")
_SPAN = re.compile(r"source offsets? (\d+)(?: to (\d+)| on\b)")
_TWICE = re.compile(r"duplicate|at least once|twice|may be copied again", re.IGNORECASE)
#: service outputs are called output-<number>-<nanoseconds of their beginning>.log
_OUTPUTS = "output-*.log"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """`end` is None for a range without one."""

    at: datetime
    where: Where
    error: bool  # not a warning
    first: int
    end: int | None
    duplicates: bool  # it says that records may be on the target twice


def parse(lines: Iterable[str], began: datetime, topics: Sequence[str]) -> list[Report]:
    """`began`: lines have a time of day only."""
    partition = re.compile(r"(?<![\w.-])(" + "|".join(map(re.escape, topics)) + r")-(\d+)(?![\w-])")
    reports, at = [], began
    for line in lines:
        found = _LINE.match(line)
        if found is None:
            continue
        hour, minute, second, level, message = found.groups()
        at = _next(at, int(hour), int(minute), int(second))
        named, span = partition.search(message), _SPAN.search(message)
        if named is None or span is None:
            continue
        reports.append(
            Report(
                at=at,
                where=(named[1], int(named[2])),
                error=level == "ERROR",
                first=int(span[1]),
                end=None if span[2] is None else int(span[2]) + 1,
                duplicates=_TWICE.search(message) is not None,
            )
        )
    return reports


def _next(before: datetime, hour: int, minute: int, second: int) -> datetime:
    """A line that is earlier in the day than the one before is of the next day; processes write side by side,
    so a few seconds are no day."""
    at = before.replace(hour=hour, minute=minute, second=second, microsecond=0)
    return at + timedelta(days=1) if before - at > timedelta(hours=12) else at


def read_reports(folder: Path, topics: Sequence[str]) -> list[Report]:
    """Of all processes that have run with their output in `folder`."""
    reports: list[Report] = []
    for file in sorted(folder.glob(_OUTPUTS)):
        began = datetime.fromtimestamp(int(file.stem.rpartition("-")[2]) / 1e9)  # noqa: DTZ006 - as in logs
        reports += parse(file.read_text(errors="replace").splitlines(), began, topics)
    return reports


def ranges(
    reports: Iterable[Report],
    where: Where,
    end_at: Callable[[Where, datetime], int],
    *,
    errors_only: bool = False,
    duplicates: bool | None = None,
) -> list[range]:
    """The source offsets that they name. `end_at` tells where the source ended at a time; `duplicates`: only
    those that warn of them, or only those that do not."""
    return [
        range(each.first, each.end if each.end is not None else end_at(where, each.at))
        for each in reports
        if each.where == where
        and (each.error or not errors_only)
        and duplicates in (None, each.duplicates)
    ]
