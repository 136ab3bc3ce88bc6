"""Kafka's sampled windows: rates, means and extremes over the last two samples of 30 s.

As `SampledStat`, `Rate`, `Avg`, `Min` and `Max` of org.apache.kafka.common.metrics with the defaults of
metrics.sample.window.ms and metrics.num.samples. The rate of a window that has just begun is that of 30 s at
least, so that the first record is not an infinite rate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from heliograph.measured import Times

_SAMPLE_SECONDS = 30.0
_SAMPLES = 2


class Spread(NamedTuple):
    """Seconds; NaN if there was nothing in the window. `last` is 0 before the first value, as in Kafka."""

    last: float = 0.0
    mean: float = math.nan
    least: float = math.nan
    most: float = math.nan


class Rates(NamedTuple):
    """Per second."""

    records: float = 0.0
    bytes: float = 0.0


NOTHING = Spread()
NO_RATES = Rates()


@dataclass(slots=True)
class _Durations:
    count: int = 0
    total: float = 0.0
    least: float = math.inf
    most: float = -math.inf

    def add(self, before: Times, now: Times) -> None:
        self.count += now.count - before.count
        self.total += now.total - before.total
        self.least = min(self.least, now.least)
        self.most = max(self.most, now.most)


@dataclass(slots=True)
class _Sample:
    start: float
    records: int = 0
    bytes: int = 0
    ages: _Durations = field(default_factory=_Durations)
    latencies: _Durations = field(default_factory=_Durations)


class Counted(NamedTuple):
    """Counters that only grow, until they start again at 0."""

    records: int = 0
    bytes: int = 0
    ages: Times = Times()
    latencies: Times = Times()


class Window:
    """Of one partition. The caller gives the time, in seconds."""

    __slots__ = ("_before", "_last", "_samples")

    def __init__(self) -> None:
        self._samples: list[_Sample] = []
        self._before = Counted()
        self._last = (0.0, 0.0)

    def restart(self) -> None:
        """The counters start again at 0."""
        self._before = Counted()

    def note(self, now: Counted, at: float) -> None:
        before, self._before = self._before, now
        counts = (now.records, now.ages.count, now.latencies.count)
        if counts == (before.records, before.ages.count, before.latencies.count):
            return
        sample = self._current(at)
        sample.records += now.records - before.records
        sample.bytes += now.bytes - before.bytes
        sample.ages.add(before.ages, now.ages)
        sample.latencies.add(before.latencies, now.latencies)
        self._last = (
            now.ages.last if now.ages.count else self._last[0],
            now.latencies.last if now.latencies.count else self._last[1],
        )

    def rates(self, at: float) -> Rates:
        live = self._live(at)
        if not live:
            return Rates()
        elapsed = at - live[0].start
        missing = _SAMPLES - 1 - int(elapsed // _SAMPLE_SECONDS)
        elapsed += max(missing, 0) * _SAMPLE_SECONDS
        return Rates(
            sum(each.records for each in live) / elapsed, sum(each.bytes for each in live) / elapsed
        )

    def ages(self, at: float) -> Spread:
        return _spread(self._last[0], [each.ages for each in self._live(at)])

    def latencies(self, at: float) -> Spread:
        return _spread(self._last[1], [each.latencies for each in self._live(at)])

    def _current(self, at: float) -> _Sample:
        if not self._samples or at - self._samples[-1].start >= _SAMPLE_SECONDS:
            self._samples = [*self._live(at), _Sample(at)][-_SAMPLES:]
        return self._samples[-1]

    def _live(self, at: float) -> list[_Sample]:
        return [s for s in self._samples if at - s.start < _SAMPLES * _SAMPLE_SECONDS]


def _spread(last: float, durations: list[_Durations]) -> Spread:
    count = sum(each.count for each in durations)
    if not count:
        return Spread(last=last)
    return Spread(
        last,
        sum(each.total for each in durations) / count,
        min(each.least for each in durations),
        max(each.most for each in durations),
    )
