"""Topics: what is mirrored under which name, settings that differ, and what is not mirrored and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heliograph.counted import counted
from heliograph.inspection.mirror_plan import ConfigDifference, FlowPlan, MirrorPlan
from heliograph.web.ui.snapshot import PartitionSample, Snapshot

FIRST_ROWS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    topic: str
    remote_topic: str
    partitions: int
    rate: float | None
    lag: int | None
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowTopics:
    name: str
    source: str
    target: str
    rows: tuple[Row, ...]
    hidden: int
    not_mirrored: tuple[tuple[str, str], ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicsPage:
    flows: tuple[FlowTopics, ...]
    query: str
    everything: bool
    observation: str | None


def topics_page(
    plan: MirrorPlan | None,
    snapshot: Snapshot,
    *,
    query: str = "",
    everything: bool = False,
    observation: str | None = None,
) -> TopicsPage:
    flows = () if plan is None else plan.flows
    return TopicsPage(
        flows=tuple(_flow(each, snapshot, query, everything) for each in flows if each.topics),
        query=query,
        everything=everything,
        observation=observation,
    )


def _flow(plan: FlowPlan, snapshot: Snapshot, query: str, everything: bool) -> FlowTopics:
    by_topic: dict[str, list[PartitionSample]] = {}
    sample = snapshot.flows.get(plan.name)
    for each in sample.partitions if sample is not None else ():
        by_topic.setdefault(each.receipt.topic, []).append(each)
    words = query.lower().split()
    found = [t for t in plan.topics if all(word in t.topic.lower() for word in words)]
    shown = found if everything else found[:FIRST_ROWS]
    return FlowTopics(
        name=plan.name,
        source=plan.source,
        target=plan.target,
        rows=tuple(
            Row(
                topic=each.topic,
                remote_topic=each.remote_topic,
                partitions=each.partitions,
                rate=_rate(by_topic.get(each.topic)),
                lag=_lag(by_topic.get(each.topic)),
                differences=tuple(_differences(plan, each.remote_topic)),
            )
            for each in shown
        ),
        hidden=len(found) - len(shown),
        not_mirrored=tuple(plan.not_mirrored.items()),
        unknown=tuple(f"{part}: {why}" for part, why in plan.unknown.items()),
    )


def _rate(samples: list[PartitionSample] | None) -> float | None:
    return None if samples is None else sum(each.rate for each in samples)


def _lag(samples: list[PartitionSample] | None) -> int | None:
    if samples is None or any(each.lag is None for each in samples):
        return None
    return sum(each.lag or 0 for each in samples)


def _differences(plan: FlowPlan, remote_topic: str) -> Iterable[str]:
    for created in plan.create:
        if created.topic == remote_topic:
            yield "not created yet"
    for grown in plan.grow:
        if grown.topic == remote_topic:
            yield f"{counted(grown.partitions_now, 'partition')}, to be {grown.partitions:,}"
    for change in plan.configs:
        if change.topic == remote_topic:
            yield difference(change)


def difference(change: ConfigDifference) -> str:
    old = "–" if change.old is None else change.old
    default = " (default)" if change.old_is_default else ""
    return f"{change.name}: {old}{default} → {'default' if change.new is None else change.new}"
