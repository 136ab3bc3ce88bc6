"""The targets of Heliograph against MM2, checked against rows of results."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.results import MANY, MANY_FIGURES, RESUME, Row, is_late
from benchmarks.shapes import SHAPES
from benchmarks.systems import System

_HEADLINE = tuple(shape.name for shape in SHAPES if shape.headline)
_LATENCY = tuple(shape.name for shape in SHAPES if shape.rate is not None)
#: All times, and memory; changes of the resident set have no target.
_MANY_TARGETS = tuple(each for each in MANY_FIGURES if each not in ("copied_rss_mb", "end_rss_mb"))
_EPOCH_CHANGES = 2
#: After SIGTERM, during any copy.
_STOP_SECONDS = 5.0
_RESUME_BOUNDS = {"resume_s_per_100": 1.0, "surplus_records": 0.0}
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "<": operator.lt,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Heliograph's figure divided by the other system's, compared with a bound."""

    of: System = System.HELIOGRAPH
    figure: str
    against: System
    sign: str
    bound: float
    shapes: tuple[str, ...]

    def holds(self, ratio: float) -> bool:
        return _COMPARE[self.sign](ratio, self.bound)


TARGETS = (
    *(
        Target(figure="records_per_s", against=rival, sign=">=", bound=bound, shapes=_HEADLINE)
        for rival, bound in ((System.MM2, 4.0), (System.MM2_TUNED, 1.5), (System.RAW_COPY, 0.85))
    ),
    *(
        Target(figure="cpu_s_per_gb", against=rival, sign="<=", bound=bound, shapes=_HEADLINE)
        for rival, bound in ((System.MM2, 0.1), (System.MM2_TUNED, 0.2))
    ),
    Target(
        of=System.HELIOGRAPH_EOS,
        figure="records_per_s",
        against=System.HELIOGRAPH,
        sign=">=",
        bound=0.9,
        shapes=_HEADLINE,
    ),
    Target(figure="first_record_s", against=System.MM2, sign="<=", bound=1, shapes=_HEADLINE),
    Target(figure="peak_rss_mb", against=System.MM2, sign="<", bound=1, shapes=_HEADLINE),
    Target(figure="p99_ms", against=System.MM2, sign="<=", bound=1, shapes=_LATENCY),
    *(
        Target(figure=figure, against=System.MM2, sign="<=", bound=1, shapes=tuple(MANY))
        for figure in _MANY_TARGETS
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    shape: str
    text: str
    ratio: float
    met: bool


def verdicts(rows: Sequence[Row]) -> Iterator[Verdict]:
    """For every target whose two figures were measured."""
    found = {(row["shape"], row["system"]): row for row in rows}
    for target in TARGETS:
        for shape in target.shapes:
            ratio = ratio_of(found, shape, target.figure, target.against, target.of)
            if ratio is not None:
                yield Verdict(
                    shape=shape,
                    text=_words(target),
                    ratio=ratio,
                    # A late figure is a lower bound: it cannot meet a target.
                    met=target.holds(ratio) and not is_late(found[shape, target.of], target.figure),
                )
    for shape in RESUME:
        if row := found.get((shape, System.HELIOGRAPH)):
            yield from _resuming(row)
    for shape in _HEADLINE:
        if row := found.get((shape, System.HELIOGRAPH)):
            yield from _stopping(row)
    for shape in _LATENCY:
        row = found.get((shape, System.HELIOGRAPH))
        changes = [each.get("epoch_changes") for each in row["rounds"]] if row else []
        if changes:
            fewest = min(each or 0 for each in changes)
            text = f"changes of epoch in the measured time >= {_EPOCH_CHANGES}"
            yield Verdict(shape=shape, text=text, ratio=fewest, met=fewest >= _EPOCH_CHANGES)


def _resuming(row: Row) -> Iterator[Verdict]:
    for figure, bound in _RESUME_BOUNDS.items():
        if row[figure] is not None:
            text = f"{figure} <= {bound:g}"
            yield Verdict(
                shape=row["shape"], text=text, ratio=row[figure], met=row[figure] <= bound
            )


def _stopping(row: Row) -> Iterator[Verdict]:
    stops = [each["stop_s"] for each in row["rounds"] if each.get("stop_s") is not None]
    if stops:
        text = f"stop_s <= {_STOP_SECONDS:g}"
        longest = max(stops)
        yield Verdict(shape=row["shape"], text=text, ratio=longest, met=longest <= _STOP_SECONDS)


def _words(target: Target) -> str:
    of = "" if target.of is System.HELIOGRAPH else f"{target.of}: "
    return f"{of}{target.figure} {target.sign} {target.bound:g} x {target.against}"


def ratio_of(
    rows: dict[tuple[str, str], Row],
    shape: str,
    figure: str,
    against: System,
    of: System = System.HELIOGRAPH,
) -> float | None:
    """Heliograph's figure over the other's; None if one of the two is missing."""
    own, other = (rows.get((shape, system)) for system in (of, against))
    if own is None or other is None or own.get(figure) is None or not other.get(figure):
        return None
    return float(own[figure]) / float(other[figure])
