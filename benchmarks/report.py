"""Prints results as text: a table with ratios to MM2, and the targets."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.results import FIGURES, OWN_FIGURES, Row, is_late
from benchmarks.systems import EARLIER, System
from benchmarks.targets import verdicts
from harness.text import aligned

_TEXT_COLUMNS = 2
_RATIOS = ("records_per_s", "cpu_s_per_gb")
_RIVALS = (System.MM2, System.MM2_TUNED)


def table(rows: Sequence[Row]) -> str:
    """A line per copy; the last columns are ratios to the rival's figures."""
    rows = [row for row in rows if row["shape"] not in OWN_FIGURES]
    if not rows:
        return ""
    found = {(row["shape"], row["system"]): row for row in rows}
    ratios = [(figure, rival) for rival in _RIVALS for figure in _RATIOS]
    titles = ["records/s" if figure == "records_per_s" else "CPU/GB" for figure, _ in ratios]
    header = ["shape", "system", *FIGURES]
    header += [f"{title} : {rival}" for title, (_, rival) in zip(titles, ratios, strict=True)]
    lines = [
        [
            row["shape"],
            row["system"],
            *(_number(row[figure]) for figure in FIGURES),
            *(_ratio(row, found.get((row["shape"], rival)), figure) for figure, rival in ratios),
        ]
        for row in rows
    ]
    return aligned([header, *lines], left=_TEXT_COLUMNS)


def own_table(rows: Sequence[Row]) -> str:
    """A line per figure of the shapes that have figures of their own, a column per system."""
    shapes = sorted({row["shape"] for row in rows} & OWN_FIGURES.keys())
    if not shapes:
        return ""
    found = {(row["shape"], row["system"]): row for row in rows}
    lines = [["shape", "figure", System.HELIOGRAPH, System.MM2, f": {System.MM2}"]]
    for shape in shapes:
        own, rival = (found.get((shape, s)) for s in (System.HELIOGRAPH, System.MM2))
        for figure in OWN_FIGURES[shape]:
            values = [_found(row, figure) for row in (own, rival)]
            lines.append([shape, figure, *values, _ratio(own, rival, figure)])
    return aligned(lines, left=_TEXT_COLUMNS)


def versions(rows: Sequence[Row]) -> str:
    """Ratios of this version to the one before, of medians over the rounds."""
    found = {(row["shape"], row["system"]): row for row in rows}
    lines = [["shape", "system", *(f"{figure} : before" for figure in _RATIOS)]]
    for (shape, system), row in found.items():
        if system in EARLIER:
            rival = found.get((shape, EARLIER[System(system)]))
            lines.append([shape, system, *(_ratio(row, rival, each, 3) for each in _RATIOS)])
    return aligned(lines, left=_TEXT_COLUMNS)


def targets(rows: Sequence[Row]) -> str:
    lines = [
        [each.shape, each.text, f"{each.ratio:.3g}", "met" if each.met else "MISSED"]
        for each in verdicts(rows)
    ]
    if not lines:
        return "no targets: figures of heliograph and of a rival are needed"
    return aligned([["shape", "target", "found", ""], *lines], left=_TEXT_COLUMNS)


def _found(row: Row | None, figure: str) -> str:
    if row is None:
        return _number(None)
    return ("> " if is_late(row, figure) else "") + _number(row.get(figure))


def _ratio(row: Row | None, rival: Row | None, figure: str, digits: int = 2) -> str:
    if row is None or rival is None or row.get(figure) is None or not rival.get(figure):
        return ""
    return f"{row[figure] / rival[figure]:.{digits}f}x"


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
