"""The samples of families as points of OpenTelemetry's data model, for their export by OTLP. Pure.

heliograph_records_total{flow="a->b"} 42           Point({"flow": "a->b"}, 42), of a counter
heliograph_…_seconds_bucket{…,le="0.5"} 3  …       Buckets({…}, counts between the bounds, sum)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from heliograph.metrics.families import Family
from heliograph.metrics.table import Kind

_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")
_CHARACTERS = {"n": "\n"}
#: UCUM, as OpenTelemetry asks.
_UNITS = {"seconds": "s", "bytes": "By", "": ""}


@dataclass(frozen=True, slots=True)
class Point:
    attributes: Mapping[str, str]
    value: float


@dataclass(frozen=True, slots=True)
class Buckets:
    """`counts[i]` are those above bound i - 1 up to bound i, the last ones those above every bound."""

    attributes: Mapping[str, str]
    counts: tuple[int, ...]
    bounds: tuple[float, ...]
    total: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One metric; `counts`: its points only grow, from the start of the service."""

    name: str
    unit: str
    description: str
    counts: bool = False
    points: tuple[Point, ...] = ()
    buckets: tuple[Buckets, ...] = ()


@dataclass(slots=True)
class _Histogram:
    cumulated: list[tuple[float, int]] = field(default_factory=list)
    total: float = 0.0


class Points:
    """Remembers the labels of the export before: most series are in every export. For one thread."""

    def __init__(self) -> None:
        self._labels: dict[str, Mapping[str, str]] = {}

    def series(self, families: Iterable[Family]) -> list[Series]:
        before, self._labels = self._labels, {}
        found = []
        for family in families:
            samples = [
                (suffix, self._read(text, before), value) for suffix, text, value in family.samples
            ]
            found.append(_series(family, samples))
        return found

    def _read(self, text: str, before: Mapping[str, Mapping[str, str]]) -> Mapping[str, str]:
        labels = self._labels.get(text)
        if labels is None:
            labels = before.get(text)
            self._labels[text] = labels = read_labels(text) if labels is None else labels
        return labels


def read_labels(text: str) -> Mapping[str, str]:
    """Law: the labels that `Families` has written."""
    return {
        name: _ESCAPED.sub(lambda found: _CHARACTERS.get(found[1], found[1]), value)
        for name, value in _LABEL.findall(text)
    }


def _series(family: Family, samples: list[tuple[str, Mapping[str, str], float]]) -> Series:
    found = Series(
        name=family.name,
        unit=_UNITS.get(family.unit, f"{{{family.unit}}}"),
        description=family.help,
        counts=family.kind is not Kind.GAUGE,
    )
    if family.kind is Kind.HISTOGRAM:
        return replace(found, buckets=tuple(_buckets(samples)))
    # The sum of a summary; its count has a name of its own in Prometheus only.
    points = tuple(Point(labels, value) for suffix, labels, value in samples if suffix != "_count")
    return replace(found, points=points)


def _buckets(samples: list[tuple[str, Mapping[str, str], float]]) -> Iterable[Buckets]:
    found: dict[tuple[tuple[str, str], ...], _Histogram] = {}
    for suffix, labels, value in samples:
        key = tuple((name, text) for name, text in labels.items() if name != "le")
        its = found.setdefault(key, _Histogram())
        if suffix == "_bucket":
            its.cumulated.append((float(labels["le"].replace("+Inf", "inf")), int(value)))
        elif suffix == "_sum":
            its.total = value
    for key, its in found.items():
        its.cumulated.sort()
        numbers = [count for _, count in its.cumulated]
        yield Buckets(
            attributes=dict(key),
            counts=tuple(now - then for then, now in zip([0, *numbers], numbers, strict=False)),
            bounds=tuple(bound for bound, _ in its.cumulated[:-1]),
            total=its.total,
        )
