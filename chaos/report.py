"""The results as a table: for a terminal, and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from chaos.faults import FAULTS
from chaos.results import Row, misses
from chaos.subjects import System

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
#: What a rival's rows are compared in, beside ours.
_COMPARED = ("strikes", "lost", "doubled", "longest_pause_s", "exits")


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
    whole = _markdown([list(_COLUMNS.values()), *(_cells(row) for row in rows)], _TEXT_COLUMNS)
    faults = dict.fromkeys(row["fault"] for row in rows)
    meanings = "\n".join(f"- `{fault}`: {_ABOUT.get(fault, '')}" for fault in faults)
    parts = [side_by_side(rows), whole, meanings]
    return "\n\n".join(filter(None, parts)) + "\n"


def side_by_side(rows: Sequence[Row]) -> str:
    """A line per fault and mode with all systems in it; empty where only one was tried."""
    systems = [each for each in System if any(row["system"] == each for row in rows)]
    if len(systems) < 2:
        return ""
    found = {(row["fault"], row["mode"], row["system"]): row for row in rows}
    titles = [f"{system}: {_COLUMNS[name]}" for name in _COMPARED for system in systems]
    lines = [["fault", "mode", *titles]]
    for fault, mode in dict.fromkeys((row["fault"], row["mode"]) for row in rows):
        own = [found.get((fault, mode, system), {}) for system in systems]
        cells = [_text(row.get(name, "")) for name in _COMPARED for row in own]
        lines.append([fault, mode, *cells])
    return _markdown(lines, text_columns=2)


def _markdown(lines: Sequence[Sequence[str]], text_columns: int) -> str:
    titles, *rest = lines
    rule = ["---" if index < text_columns else "---:" for index in range(len(titles))]
    return "\n".join(f"| {' | '.join(line)} |" for line in [titles, rule, *rest])


def _cells(row: Row) -> list[str]:
    return [_text(row.get(name, "")) for name in _COLUMNS]


def _text(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _verdict(row: Row) -> str:
    missed = misses(row)
    return f"MISSED: {', '.join(missed)}" if missed else ""
