"""The queries of dashboards: ours (deploy/grafana), and those that users of MirrorMaker 2 have (theirs/).

`theirs/` holds the exact PromQL of Strimzi's two flavours and of the MSK workshop, with their variables.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parent
OURS = _ROOT.parent / "deploy" / "grafana"
THEIRS = _ROOT / "theirs"
_QUERY_RESULT = re.compile(r"query_result\((.*)\)", re.DOTALL)
#: What Grafana inserts, for scrapes every second or two.
_RATE_INTERVAL, _RANGE = "20s", "10m"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """`about`: the description of its panel; `grid`: where that is, None in a dashboard that is not ours.
    `steps`: its thresholds, from where which colour holds; the first one from -inf."""

    dashboard: str
    panel: str
    expr: str
    legend: str
    unit: str
    kind: str
    instant: bool
    about: str = ""
    grid: tuple[int, int, int, int] | None = None
    steps: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """`query` is Grafana's: query_result(…), whose series are searched for the first group of `regex`."""

    name: str
    query: str
    regex: str
    many: bool = False

    @property
    def expr(self) -> str:
        match = _QUERY_RESULT.fullmatch(self.query)
        assert match is not None, self.query
        return match[1]

    def values(self, series: Sequence[str]) -> list[str]:
        """Of series as Grafana writes them: name{label="value"} value time."""
        pattern = re.compile(self.regex.strip("/"))
        found = (pattern.search(each) for each in series)
        return sorted({match[1] for match in found if match is not None})


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboard:
    name: str
    title: str
    variables: tuple[Variable, ...] = ()
    queries: tuple[Query, ...] = field(default=())

    def resolved(
        self, series: Callable[[str], Sequence[str]]
    ) -> tuple[Mapping[str, str], list[Query]]:
        """The values of its variables, asked for by `series` of an expression, and its queries with them."""
        values: dict[str, str] = {}
        for variable in self.variables:
            found = variable.values(series(filled(variable.expr, values)))
            if variable.many:
                values[variable.name] = ".+"
            elif found:
                values[variable.name] = found[0]
        return values, [replace(each, expr=filled(each.expr, values)) for each in self.queries]


def filled(expr: str, values: Mapping[str, str]) -> str:
    every = {**values, "__rate_interval": _RATE_INTERVAL, "__range": _RANGE}
    names = "|".join(map(re.escape, every))
    return re.sub(rf"\$({names})\b", lambda found: every[found[1]], expr)


def ours() -> list[Dashboard]:
    return [_ours(json.loads(file.read_text()), file.stem) for file in sorted(OURS.glob("*.json"))]


def theirs() -> list[Dashboard]:
    return [
        _theirs(json.loads(file.read_text()), file.stem) for file in sorted(THEIRS.glob("*.json"))
    ]


def _ours(model: Mapping[str, Any], name: str) -> Dashboard:
    variables = tuple(
        Variable(
            name=each["name"],
            query=each["query"]["query"],
            regex=each["regex"],
            many=bool(each.get("multi")),
        )
        for each in model["templating"]["list"]
        if each["type"] == "query"
    )
    queries = tuple(
        Query(
            dashboard=name,
            panel=panel["title"],
            expr=target["expr"],
            legend=target.get("legendFormat", ""),
            unit=panel["fieldConfig"]["defaults"].get("unit", ""),
            kind=panel["type"],
            instant=bool(target.get("instant")),
            about=panel.get("description", ""),
            grid=tuple(panel["gridPos"][each] for each in "xywh"),
            steps=_steps(panel),
        )
        for panel in model["panels"]
        for target in panel.get("targets", ())
    )
    return Dashboard(name=name, title=model["title"], variables=variables, queries=queries)


def _steps(panel: Mapping[str, Any]) -> tuple[tuple[float, str], ...]:
    steps = panel["fieldConfig"]["defaults"].get("thresholds", {}).get("steps", ())
    return tuple((-math.inf if s["value"] is None else s["value"], s["color"]) for s in steps)


def _theirs(model: Mapping[str, Any], name: str) -> Dashboard:
    variables = tuple(
        Variable(name=each, query=its["query"], regex=its["regex"])
        for each, its in model["variables"].items()
    )
    queries = tuple(
        Query(
            dashboard=name,
            panel=each["panel"],
            expr=each["expr"],
            legend=each["legend"],
            unit=each["unit"],
            kind=each["type"],
            instant=each["instant"],
        )
        for each in model["queries"]
    )
    return Dashboard(name=name, title=model["title"], variables=variables, queries=queries)
