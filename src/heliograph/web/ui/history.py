"""Turns the totals of partitions, taken every few seconds, into rates and the last five minutes of each.
Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from heliograph.model import TopicPartition
from heliograph.runtime.progress import PartitionProgress
from heliograph.web.ui.snapshot import FlowSample, PartitionSample

#: A chart has so many values, one every so many seconds.
SAMPLES = 60
SAMPLE_SECONDS = 5
#: Tasks report once a second: rates are those of several.
_WINDOW_SECONDS = 5.0

_Key = tuple[str, TopicPartition]
_Totals = Mapping[_Key, PartitionProgress]


class History:
    """For one thread."""

    def __init__(self) -> None:
        self._next = float("-inf")
        self._totals: deque[tuple[float, _Totals]] = deque()
        self._samples: dict[_Key, PartitionSample] = {}
        self._flow_rates: dict[str, tuple[float, ...]] = {}
        self._flow_lags: dict[str, tuple[int | None, ...]] = {}

    def take(self, now: float, partitions: Iterable[PartitionProgress]) -> dict[str, FlowSample]:
        """`now` in seconds of a clock that only goes forward."""
        current = {each.key: each for each in partitions}
        then, before = self._remember(now, current)
        keep = now >= self._next
        if keep:
            self._next = now + SAMPLE_SECONDS
        by_flow: dict[str, list[PartitionSample]] = {}
        known, self._samples = self._samples, {}
        for key, each in current.items():
            last = known.get(key)
            lags = _with(each.lag, () if last is None else last.lags, keep)
            if last is None or not last.rests(each, lags):
                last = _sample(each, before.get(key), now - then, lags)
            self._samples[key] = last
            by_flow.setdefault(key[0], []).append(last)
        flows = {name: self._flow(name, its, keep) for name, its in sorted(by_flow.items())}
        self._flow_rates = {name: each.rates for name, each in flows.items()}
        self._flow_lags = {name: each.lags for name, each in flows.items()}
        return flows

    def _remember(
        self, now: float, current: Mapping[_Key, PartitionProgress]
    ) -> tuple[float, _Totals]:
        """The totals of some seconds ago."""
        self._totals.append((now, current))
        while len(self._totals) > 2 and self._totals[1][0] <= now - _WINDOW_SECONDS:
            self._totals.popleft()
        return self._totals[0]

    def _flow(self, name: str, partitions: list[PartitionSample], keep: bool) -> FlowSample:
        lags = [each.lag for each in partitions]
        lag = None if None in lags else sum(each for each in lags if each is not None)
        rate = sum(each.rate for each in partitions)
        rates, lags_before = self._flow_rates.get(name, ()), self._flow_lags.get(name, ())
        return FlowSample(
            name=name,
            partitions=tuple(partitions),
            lag=lag,
            rate=rate,
            byte_rate=sum(each.byte_rate for each in partitions),
            rates=(*rates[1 - SAMPLES :], rate) if keep else rates,
            lags=(*lags_before[1 - SAMPLES :], lag) if keep else lags_before,
        )


def _with(lag: int | None, lags: tuple[int | None, ...], keep: bool) -> tuple[int | None, ...]:
    """The same object if nothing changes, as while a partition is quiet."""
    if not keep or (len(lags) == SAMPLES and lags.count(lag) == SAMPLES):
        return lags
    return (*lags[1 - SAMPLES :], lag)


def _sample(
    now: PartitionProgress,
    before: PartitionProgress | None,
    seconds: float,
    lags: tuple[int | None, ...],
) -> PartitionSample:
    """A partition that was not there then, or was replaced by another of its name, has no rate yet."""
    if seconds <= 0 or before is None:
        return PartitionSample(*now, 0.0, 0.0, lags)
    more, larger = now.records - before.records, now.bytes - before.bytes
    rate = more / seconds if more > 0 else 0.0
    return PartitionSample(*now, rate, larger / seconds if larger > 0 else 0.0, lags)
