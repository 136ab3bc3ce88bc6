"""Collects samples into families: one of each name, with constant labels.

A label set is written as text once and used by every family that has it, and by the next scrape: of 10,000
partitions there are 20 series each, and writing their labels anew takes most of the time of a scrape.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from prometheus_client.utils import floatToGoString

from heliograph.measured import BOUNDS, Times
from heliograph.metrics.table import Kind, Metric

_LES = (*map(floatToGoString, BOUNDS), "+Inf")
#: By names of labels: the text of each set of values.
LabelTexts = dict[tuple[str, ...], dict[Sequence[str | None], str]]
_NO_TEXTS: Mapping[Sequence[str | None], str] = {}


@dataclass(slots=True)
class Family:
    """`samples` are (suffix of the name, labels as text, value). `name` as in OpenMetrics: that of a counter
    lacks _total. OpenMetrics requires a unit to be the end of the name."""

    name: str
    kind: Kind
    unit: str
    help: str
    samples: list[tuple[str, str, float]] = field(default_factory=list)


class Families:
    """A family that several vocabularies give has the samples of all of them. `texts` are those of the scrape
    before, with the same constant labels."""

    def __init__(
        self, constant: Iterable[tuple[str, str]] = (), texts: LabelTexts | None = None
    ) -> None:
        self._constant = tuple(constant)
        self._families: dict[str, Family] = {}
        self._before = texts or {}
        self.texts: LabelTexts = {}

    def of(self, metric: Metric) -> FamilySamples:
        name = metric.name.removesuffix("_total") if metric.kind is Kind.COUNTER else metric.name
        family = self._families.get(name)
        if family is None:
            unit = metric.unit if metric.unit and name.endswith(f"_{metric.unit}") else ""
            family = self._families[name] = Family(name, metric.kind, unit, metric.help)
        texts = self.texts.setdefault(metric.labels, {})
        before = self._before.get(metric.labels, _NO_TEXTS)
        return FamilySamples(family, metric, self._constant, texts, before)

    def all(self) -> list[Family]:
        return [family for family in self._families.values() if family.samples]


class FamilySamples:
    """Adds samples of one declared metric; a label whose value is None is left out."""

    __slots__ = ("_before", "_constant", "_names", "_samples", "_suffix", "_texts")

    def __init__(
        self,
        family: Family,
        metric: Metric,
        constant: Sequence[tuple[str, str]],
        texts: dict[Sequence[str | None], str],
        before: Mapping[Sequence[str | None], str],
    ) -> None:
        self._samples = family.samples
        self._suffix = "_total" if metric.kind is Kind.COUNTER else ""
        self._names = metric.labels
        self._constant = constant
        self._texts = texts
        self._before = before

    def add(self, labels: Sequence[str | None], value: float | None) -> None:
        """Nothing for a value that is not known."""
        if value is None:
            return
        self._samples.append((self._suffix, self._kept_text(labels), value))

    def texts(self, labels: Iterable[Sequence[str | None]]) -> list[str]:
        """For `add_column`, here and for other metrics with the same labels."""
        return [self._kept_text(each) for each in labels]

    def add_column(self, texts: Sequence[str], values: Iterable[float | None]) -> None:
        """As `add` for each: with tens of thousands of series a call for each would take most of the time."""
        suffix = self._suffix
        self._samples += [
            (suffix, text, value)
            for text, value in zip(texts, values, strict=True)
            if value is not None
        ]

    def add_states(self, labels: Sequence[str], current: str, states: Iterable[str]) -> None:
        """A series of each state."""
        for state in states:
            self.add((*labels, state), state == current)

    def add_times(self, labels: Sequence[str | None], times: Times) -> None:
        for le, count in zip(_LES, accumulate(times.buckets), strict=True):
            self._samples.append(("_bucket", self._bucket(labels, le), count))
        text = self._text(labels)
        self._samples += [("_count", text, times.count), ("_sum", text, times.total)]

    def _bucket(self, labels: Sequence[str | None], le: str) -> str:
        key = (*labels, le)
        text = self._texts.get(key)
        if text is None:
            made = self._before.get(key) or self._text(labels, ("le", le))
            text = self._texts[key] = made
        return text

    def add_summary(self, labels: Sequence[str], count: int, total: float) -> None:
        text = self._text(labels)
        self._samples += [("_count", text, count), ("_sum", text, total)]

    def _kept_text(self, labels: Sequence[str | None]) -> str:
        text = self._texts.get(labels)
        if text is None:
            text = self._texts[labels] = self._before.get(labels) or self._text(labels)
        return text

    def _text(self, labels: Sequence[str | None], *more: tuple[str, str]) -> str:
        named = [
            (name, value)
            for name, value in zip(self._names, labels, strict=True)
            if value is not None
        ]
        pairs = sorted([*named, *self._constant, *more])
        return ",".join(f'{name}="{_escaped(value)}"' for name, value in pairs)


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
