"""Prints results as a table: for a terminal, and in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from chaos.faults import FAULTS
from chaos.results import Row, misses
from chaos.subjects import System
from harness.text import aligned

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
    "withdrawn": "withdrawn",
    "passed_over": "passed over",
    "copied_again": "copied again",
    "unreported": "unreported",
    "reports": "reports",
    "longest_pause_s": "longest pause s",
    "exits": "exits",
    "commit": "commit",
}
_TEXT_COLUMNS = 3
_NAMES = {System.HELIOGRAPH: "Heliograph", System.MM2: "MM2"}


def table(rows: Sequence[Row]) -> str:
    lines = [[*_COLUMNS.values(), ""]]
    lines += [[*_cells(row), _verdict(row)] for row in rows]
    return aligned(lines, left=_TEXT_COLUMNS)


def markdown(rows: Sequence[Row]) -> str:
    """Made by `python -m chaos` from its results."""
    whole = _markdown([list(_COLUMNS.values()), *(_cells(row) for row in rows)], _TEXT_COLUMNS)
    faults = dict.fromkeys(row["fault"] for row in rows)
    meanings = "\n".join(f"- `{fault}`: {_ABOUT.get(fault, '')}" for fault in faults)
    parts = [side_by_side(rows), whole, meanings]
    return "\n\n".join(filter(None, parts)) + "\n"


def side_by_side(rows: Sequence[Row]) -> str:
    """A line per fault with all modes and systems, as in docs/faults.md; empty if only one system was
    tried."""
    systems = [each for each in System if any(row["system"] == each for row in rows)]
    if len(systems) < 2:
        return ""
    first, *others = _COMPARED
    lines = [["fault"]]
    for system in systems:
        lines[0] += [f"{_NAMES[system]}: {first}", *others]
    for fault in dict.fromkeys(row["fault"] for row in rows):
        of_fault = [row for row in rows if row["fault"] == fault]
        per_system = [[row for row in of_fault if row["system"] == each] for each in systems]
        lines.append([fault, *(show(own) for own in per_system for show in _COMPARED.values())])
    return _markdown(lines, text_columns=1)


def _common(modes: Sequence[Row], name: str) -> str:
    """A figure that the modes share, since they are struck together."""
    return " / ".join(dict.fromkeys(_text(row[name]) for row in modes))


def _each(modes: Sequence[Row], name: str) -> str:
    return " / ".join(_text(row[name]) for row in modes)


def _lost(modes: Sequence[Row]) -> str:
    """Records that have not arrived yet are not lost; a mirror that did not catch up is "stuck"."""
    return " / ".join(
        _text(row["lost"]) if row["caught_up"] else f"stuck, {_text(row['lost'])} behind"
        for row in modes
    )


def _longest_pause(modes: Sequence[Row]) -> str:
    return " / ".join(f"{row['longest_pause_s']:.0f} s" for row in modes)


#: The figures of both systems side by side; modes in the order of the rows.
_COMPARED: dict[str, Callable[[Sequence[Row]], str]] = {
    "times": partial(_common, name="strikes"),
    "records": partial(_common, name="records"),
    "lost": _lost,
    "doubled": partial(_each, name="doubled"),
    "longest pause": _longest_pause,
}


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
