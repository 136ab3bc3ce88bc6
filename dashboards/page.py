"""Writes docs/dashboards.md from the results: python -m dashboards.page > docs/dashboards.md"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dashboards.page_prose import ALERTS, COMPARISON, INTRODUCTION, OURS, THEIRS

_ALL_TOPICS = re.compile(r"\{topic=~[^}]+\}")
_RESULTS = Path(__file__).parent / "results"
_TITLES = {
    "strimzi-jmx": "Strimzi, rules for the JMX exporter (`metrics.names=strimzi-jmx`, the default)",
    "strimzi-reporter": "Strimzi, metrics reporter (`metrics.names=strimzi-reporter`)",
    "msk": "MSK workshop, `MM2-dashboard-1.json` (`metrics.names=msk`)",
}


def page() -> str:
    latest = json.loads((_RESULTS / "latest.json").read_text())
    mm2 = json.loads((_RESULTS / "mm2.json").read_text())
    queries: Sequence[Mapping[str, Any]] = latest["queries"]
    return "".join(
        [
            INTRODUCTION,
            OURS.format(
                boards=_boards(queries),
                commit=latest["commit"],
                master=latest["master"],
                oldest=latest["oldest_report_seconds"],
            ),
            THEIRS.format(table=_theirs(queries), empty=_empty(queries)),
            ALERTS.format(
                table=_alerts(latest["alerts"]),
                divisor=latest["durations_divided_by"],
                lags=_lags(latest["alerts"]),
            ),
            COMPARISON.format(
                commit=mm2["commit"],
                values=_values(mm2["values"]),
                series=_series(mm2["series"]),
                alike=sum(not _differs(row) for row in mm2["series"]),
                names=len(mm2["series"]),
            ),
        ]
    )


def _boards(queries: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for name in dict.fromkeys(q["dashboard"] for q in queries if q["dashboard"] not in _TITLES):
        its = [q for q in queries if q["dashboard"] == name]
        panels = len({q["panel"] for q in its})
        file = f"[{name}.json](../deploy/grafana/{name}.json)"
        rows.append([file, str(panels), f"{sum(q['series'] > 0 for q in its)} of {len(its)}"])
    return _table(["dashboard", "panels", "queries with data"], rows)


def _theirs(queries: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for name, title in _TITLES.items():
        its = [q for q in queries if q["dashboard"] == name]
        rows.append([title, f"{sum(q['series'] > 0 for q in its)} of {len(its)}"])
    return _table(["dashboard", "queries with data"], rows)


def _empty(queries: Iterable[Mapping[str, Any]]) -> str:
    return "\n".join(
        f"- {q['dashboard']}, {q['panel']}: {q['reason']}." for q in queries if not q["series"]
    )


def _alerts(rows: Iterable[Mapping[str, Any]]) -> str:
    def seconds(value: float | None) -> str:
        return "did not" if value is None else f"{value:.0f} s"

    return _table(
        ["alert", "fault", "fired after", "ended after", "commit"],
        [
            [
                f"`{row['alert']}`",
                row["about"],
                seconds(row["fired_after"]),
                seconds(row["ended_after"]),
                row["commit"],
            ]
            for row in rows
        ],
    )


def _lags(rows: Iterable[Mapping[str, Any]]) -> str:
    found = {row["about"]: (row["lag"], row["counted"]) for row in rows if row["counted"]}
    return "\n".join(
        f"While the fault lasts ({about}): a lag of {lag} records; an independent client counts {counted}."
        for about, (lag, counted) in found.items()
    )


def _values(rows: Iterable[Mapping[str, Any]]) -> str:
    return _table(
        ["", "MM2", "counted", "Heliograph", "counted", "allowed"],
        [
            [
                f"`{_ALL_TOPICS.sub('', row['name'])}`",
                *(
                    _number(row[key])
                    for key in ("mm2", "mm2_counted", "heliograph", "heliograph_counted")
                ),
                row["reason"] or ("equal" if row["tolerance"] == 0 else f"{row['tolerance']:.0%}"),
            ]
            for row in rows
        ],
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _differs(row: Mapping[str, Any]) -> bool:
    return bool(row["only_mm2"] or row["only_heliograph"])


def _series(rows: Iterable[Mapping[str, Any]]) -> str:
    return _table(
        ["name", "MM2", "Heliograph", "why they differ"],
        [
            [
                f"`{row['name']}`",
                str(row["mm2"]),
                str(row["heliograph"]),
                row["reason"],
            ]
            for row in rows
            if _differs(row)
        ],
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    sys.stdout.write(page())
