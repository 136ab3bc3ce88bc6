"""Sums partitions up to topics or flows, as `metrics.detail` asks for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from heliograph.config.metrics_config import Detail
from heliograph.measured import BatchCounts, Times
from heliograph.metrics.snapshot import PartitionFigures, PartitionHealth
from heliograph.metrics.windows import Rates, Spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One partition, or all of a topic or a flow. `topic`, `remote_topic` and `partition` None: of several.
    Lags, counters and rates are sums; seconds and ages are those of the slowest partition."""

    flow: str
    topic: str | None
    remote_topic: str | None
    partition: str | None
    task: int
    states: Sequence[tuple[PartitionHealth, int]]
    position: int | None
    lag: int | None
    lag_seconds: float | None
    copy_age: float | None
    records: int
    bytes: int
    foreign: int
    fallbacks: int
    quarantined: int
    skipped: int
    resumes: int
    batches: BatchCounts
    latencies: Times
    rates: Rates
    age: Spread
    latency: Spread


def rows(partitions: Iterable[PartitionFigures], detail: Detail) -> list[Row]:
    if detail is Detail.PARTITION:
        return [_single(each) for each in partitions]
    by_topic = detail is Detail.TOPIC
    found: dict[tuple[str, str | None], list[PartitionFigures]] = {}
    for each in partitions:
        found.setdefault((each.flow, each.topic if by_topic else None), []).append(each)
    return [_sum(flow, topic, its) for (flow, topic), its in found.items()]


def _single(each: PartitionFigures) -> Row:
    return Row(
        flow=each.flow,
        topic=each.topic,
        remote_topic=each.remote_topic,
        partition=str(each.partition),
        task=each.task,
        states=((each.health, 1),),
        position=each.position,
        lag=each.lag,
        lag_seconds=each.lag_seconds,
        copy_age=each.copy_age,
        records=each.records,
        bytes=each.bytes,
        foreign=each.foreign,
        fallbacks=each.fallbacks,
        quarantined=each.quarantined,
        skipped=each.skipped,
        resumes=each.resumes,
        batches=each.batches,
        latencies=each.latencies,
        rates=each.rates,
        age=each.age,
        latency=each.latency,
    )


def _sum(flow: str, topic: str | None, its: Sequence[PartitionFigures]) -> Row:
    lags = [each.lag for each in its if each.lag is not None]
    healths = [each.health for each in its]
    return Row(
        flow=flow,
        topic=topic,
        remote_topic=its[0].remote_topic if topic is not None else None,
        partition=None,
        task=its[0].task,
        states=[(state, healths.count(state)) for state in PartitionHealth if state in healths],
        position=None,
        lag=sum(lags) if lags else None,
        lag_seconds=_worst(its, lambda each: each.lag_seconds),
        copy_age=_worst(its, lambda each: each.copy_age),
        records=sum(each.records for each in its),
        bytes=sum(each.bytes for each in its),
        foreign=sum(each.foreign for each in its),
        fallbacks=sum(each.fallbacks for each in its),
        quarantined=sum(each.quarantined for each in its),
        skipped=sum(each.skipped for each in its),
        resumes=sum(each.resumes for each in its),
        batches=BatchCounts(*map(sum, zip(*(each.batches for each in its), strict=True))),
        latencies=sum_times(each.latencies for each in its),
        rates=Rates(*map(sum, zip(*(each.rates for each in its), strict=True))),
        age=_spread([each.age for each in its]),
        latency=_spread([each.latency for each in its]),
    )


def sum_times(times: Iterable[Times]) -> Times:
    """Faster than `plus` one by one: there may be thousands."""
    counted = [each for each in times if each.count]
    if not counted:
        return Times()
    return Times(
        sum(each.count for each in counted),
        sum(each.total for each in counted),
        tuple(map(sum, zip(*(each.buckets for each in counted), strict=True))),
    )


def _worst(
    its: Iterable[PartitionFigures], value: Callable[[PartitionFigures], float | None]
) -> float | None:
    return max((found for each in its if (found := value(each)) is not None), default=None)


def _spread(spreads: Sequence[Spread]) -> Spread:
    """The mean of means: partitions weigh alike."""
    known = [each for each in spreads if not math.isnan(each.mean)]
    if not known:
        return Spread(last=max(each.last for each in spreads))
    return Spread(
        max(each.last for each in known),
        sum(each.mean for each in known) / len(known),
        min(each.least for each in known),
        max(each.most for each in known),
    )
