"""Draws our dashboards from Prometheus' answers. Grafana cannot be had here: these are our pictures, on its
grid, with what its panels show."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl

from dashboards.prometheus import Prometheus, Series
from dashboards.queries import Dashboard, Query

mpl.use("Agg")
from matplotlib import dates, figure
from matplotlib.ticker import FuncFormatter

_COLUMNS, _ROW_INCHES, _WIDTH_INCHES, _HEAD_INCHES = 24, 0.3, 15.0, 0.4
_MOST_ROWS, _MOST_LEGENDS = 8, 8
_LEGEND = re.compile(r"\{\{\s*(\w+)\s*\}\}")
#: Grafana's names of the colours of our thresholds.
_COLOURS = {"green": "#1a7f37", "red": "#c4162a"}
_BACK, _CARD, _INK, _GRID = "#f1f3f6", "#ffffff", "#1f2430", "#d8dce3"


def draw(prometheus: Prometheus, dashboard: Dashboard, file: Path, seconds: float) -> None:
    """The panels of the last `seconds`, each on its place."""
    _, queries = dashboard.resolved(prometheus.texts)
    panels: dict[tuple[int, int, int, int], list[Query]] = {}
    for query in queries:
        assert query.grid is not None
        panels.setdefault(query.grid, []).append(query)
    height = max(y + h for _, y, _, h in panels) * _ROW_INCHES + _HEAD_INCHES
    made = figure.Figure(figsize=(_WIDTH_INCHES, height), facecolor=_BACK)
    made.text(0.008, 1 - 0.2 / height, dashboard.title, fontsize=13, color=_INK, va="center")
    for (x, y, w, h), its in panels.items():
        place = (
            x / _COLUMNS * _WIDTH_INCHES,
            height - _HEAD_INCHES - (y + h) * _ROW_INCHES,
            w / _COLUMNS * _WIDTH_INCHES,
            h * _ROW_INCHES,
        )
        _draw_panel(prometheus, made, _Place(*place, height), its, seconds)
    file.parent.mkdir(parents=True, exist_ok=True)
    made.savefig(file, dpi=80, metadata={"Software": None})


class _Place(NamedTuple):
    """A panel in inches from the lower left, in a picture of that height."""

    x: float
    y: float
    w: float
    h: float
    whole: float

    def inset(self, left: float, bottom: float, right: float, top: float) -> tuple[float, ...]:
        """As fractions of the picture."""
        return (
            (self.x + left) / _WIDTH_INCHES,
            (self.y + bottom) / self.whole,
            (self.w - left - right) / _WIDTH_INCHES,
            (self.h - bottom - top) / self.whole,
        )


def _draw_panel(
    prometheus: Prometheus, made: Any, place: _Place, its: Sequence[Query], seconds: float
) -> None:
    card = made.add_axes(place.inset(0.05, 0.05, 0.05, 0.05), xticks=(), yticks=(), facecolor=_CARD)
    for spine in card.spines.values():
        spine.set_color(_GRID)
    first = its[0]
    left, _, _, _ = place.inset(0.15, 0, 0, 0)
    top = (place.y + place.h - 0.2) / place.whole
    made.text(left, top, first.panel, fontsize=8.5, color=_INK, va="center")
    if first.kind == "timeseries":
        axes = made.add_axes(place.inset(0.75, 0.3, 0.2, 0.4), facecolor=_CARD)
        _lines(axes, [(q, prometheus.over(q.expr, seconds)) for q in its], first.unit)
        return
    answers = [(q, [s for s in prometheus.now(q.expr) if not math.isnan(s.value)]) for q in its]
    axes = made.add_axes(place.inset(0.15, 0.1, 0.15, 0.4))
    axes.axis("off")
    if first.kind == "stat":
        _stat(axes, answers, first.unit)
    else:
        _table(axes, answers, first.unit)


def _lines(axes: Any, found: Sequence[tuple[Query, list[Series]]], unit: str) -> None:
    count = 0
    for query, series in found:
        for each in series:
            times = [datetime.fromtimestamp(at, UTC) for at, _ in each.points]
            values = [value for _, value in each.points]
            label = legend(query.legend, each.labels) if count < _MOST_LEGENDS else None
            axes.plot(times, values, linewidth=1.1, label=label)
            count += 1
    axes.grid(color=_GRID, linewidth=0.5)
    axes.tick_params(labelsize=6.5, colors=_INK)
    axes.xaxis.set_major_formatter(dates.DateFormatter("%H:%M:%S"))  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(dates.AutoDateLocator(minticks=2, maxticks=6))  # type: ignore[no-untyped-call]
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: shown(value, unit)))
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if axes.get_ylim()[0] > 0:
        axes.set_ylim(bottom=0)
    if count:
        axes.legend(fontsize=6, frameon=False, loc="upper left", ncols=2)


def _stat(axes: Any, answers: Sequence[tuple[Query, list[Series]]], unit: str) -> None:
    parts = [
        (
            legend(query.legend, each.labels) if query.legend else shown(each.value, unit),
            colour(each.value, query.steps),
        )
        for query, series in answers
        for each in series
    ] or [("No data", _INK)]
    size = 17 if sum(len(text) for text, _ in parts) < 12 else 11
    for place, (text, ink) in enumerate(parts):
        height = 0.45 + 0.35 * ((len(parts) - 1) / 2 - place) if len(parts) > 1 else 0.45
        axes.text(0.5, height, text, ha="center", va="center", fontsize=size, color=ink)


def _table(axes: Any, answers: Sequence[tuple[Query, list[Series]]], unit: str) -> None:
    rows: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
    for query, series in answers:
        for each in series:
            key = tuple(sorted((k, v) for k, v in each.labels.items() if k != "__name__"))
            rows.setdefault(key, {})[query.legend] = shown(each.value, unit)
    names = sorted({name for key in rows for name, _ in key})
    columns = [query.legend for query, _ in answers]
    cells = [
        [dict(key).get(name, "") for name in names] + [its.get(each, "") for each in columns]
        for key, its in list(rows.items())[:_MOST_ROWS]
    ]
    if not cells:
        axes.text(0.5, 0.5, "No data", ha="center", fontsize=9, color=_INK)
        return
    drawn = axes.table(
        cellText=cells, colLabels=[*names, *columns], loc="upper center", edges="horizontal"
    )
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(6.5)
    drawn.auto_set_column_width(range(len(names) + len(columns)))


def legend(template: str, labels: Mapping[str, str]) -> str:
    return _LEGEND.sub(lambda found: labels.get(found[1], ""), template).strip() or "value"


def colour(value: float, steps: Sequence[tuple[float, str]]) -> str:
    """Of the last threshold that the value has reached."""
    reached = [name for begin, name in steps if value >= begin]
    return _COLOURS[reached[-1]] if reached else _INK


def shown(value: float, unit: str) -> str:
    """As Grafana abbreviates it."""
    if unit == "s":
        return _seconds(value)
    if unit == "percentunit":
        return f"{value * 100:.3g} %"
    suffix = {"Bps": "B/s", "binBps": "B/s", "bytes": "B", "cps": "/s"}.get(unit, "")
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g} {letter}{suffix}"
    return f"{value:.3g}{' ' + suffix if suffix else ''}"


def _seconds(value: float) -> str:
    if abs(value) >= 86400:
        return f"{value / 86400:.3g} d"
    if abs(value) >= 60:
        return f"{value / 60:.3g} min"
    return f"{value:.3g} s" if abs(value) >= 1 else f"{value * 1000:.3g} ms"
