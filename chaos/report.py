"""The results as a table: for a terminal, and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from chaos.faults import FAULTS
from chaos.results import Row, misses

_ABOUT = {fault.name: fault.about for fault in FAULTS}
_COLUMNS = {
    "fault": "fault",
    "mode": "mode",
    "system": "system",
    "strikes": "times",
    "records": "records",
    "lost": "lost",
    "doubled": "doubled",
    "disordered": "out of order",
    "altered": "altered",
    "foreign": "foreign",
    "longest_pause_s": "longest pause s",
    "exits": "exits",
    "commit": "commit",
}
_TEXT_COLUMNS = 3


def table(rows: Sequence[Row]) -> str:
    lines = [[*_COLUMNS.values(), ""]]
    lines += [[*_cells(row), _verdict(row)] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if index < _TEXT_COLUMNS else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def markdown(rows: Sequence[Row]) -> str:
    """Made by `python -m chaos` from its results."""
    titles = list(_COLUMNS.values())
    rule = ["---" if index < _TEXT_COLUMNS else "---:" for index in range(len(titles))]
    lines = [titles, rule, *(_cells(row) for row in rows)]
    found = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    faults = dict.fromkeys(row["fault"] for row in rows)
    meanings = "\n".join(f"- `{fault}`: {_ABOUT.get(fault, '')}" for fault in faults)
    return f"{found}\n\n{meanings}\n"


def _cells(row: Row) -> list[str]:
    return [_text(row.get(name, "")) for name in _COLUMNS]


def _text(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _verdict(row: Row) -> str:
    missed = misses(row)
    return f"MISSED: {', '.join(missed)}" if missed else ""
