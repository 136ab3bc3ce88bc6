"""Reads reports from a mirror's log: source offsets that are lost, or may be copied twice.

A report is a line at ERROR or WARN that names a source partition and

    source offsets 10 to 19      that range
    source offset 10 on          everything from there to the source's end at that moment

Of several ranges in a line the first counts: the others say where the copy resumes. A single offset is not a
report: it is where a partition waits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

Where = tuple[str, int]
_LINE = re.compile(r"^\[([^],]+),\d+\] (ERROR|WARN) (.*)")
_SPAN = re.compile(r"source offsets? (\d+)(?: to (\d+)| on\b)")
_TWICE = re.compile(r"duplicate|at least once|twice|may be copied again", re.IGNORECASE)
#: Outputs of a service: output-<number>-<start time in nanoseconds>.log
_OUTPUTS = "output-*.log"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """`end` is None for a range without an end."""

    at: datetime
    where: Where
    error: bool  # at ERROR, not WARN
    first: int
    end: int | None
    duplicates: bool  # it says that records may be on the target twice


def parse(lines: Iterable[str], topics: Sequence[str]) -> list[Report]:
    partition = re.compile(r"(?<![\w.-])(" + "|".join(map(re.escape, topics)) + r")-(\d+)(?![\w-])")
    reports = []
    for line in lines:
        found = _LINE.match(line)
        if found is None:
            continue
        at, level, message = found.groups()
        named, span = partition.search(message), _SPAN.search(message)
        if named is None or span is None:
            continue
        reports.append(
            Report(
                at=datetime.fromisoformat(at),
                where=(named[1], int(named[2])),
                error=level == "ERROR",
                first=int(span[1]),
                end=None if span[2] is None else int(span[2]) + 1,
                duplicates=_TWICE.search(message) is not None,
            )
        )
    return reports


def read_reports(folder: Path, topics: Sequence[str]) -> list[Report]:
    """The reports of all processes with their output in `folder`."""
    reports: list[Report] = []
    for file in sorted(folder.glob(_OUTPUTS)):
        reports += parse(file.read_text(errors="replace").splitlines(), topics)
    return reports


def ranges(
    reports: Iterable[Report],
    where: Where,
    end_at: Callable[[Where, datetime], int],
    *,
    errors_only: bool = False,
    duplicates: bool | None = None,
) -> list[range]:
    """The source offsets that the reports name. `end_at`: the source's log end at a time; `duplicates`: only
    reports that warn of duplicates, or only those that do not."""
    return [
        range(each.first, each.end if each.end is not None else end_at(where, each.at))
        for each in reports
        if each.where == where
        and (each.error or not errors_only)
        and duplicates in (None, each.duplicates)
    ]
