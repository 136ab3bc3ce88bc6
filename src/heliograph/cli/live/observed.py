"""Turns what was observed on the clusters into what the live view shows, for `heliograph top`. Pure.

Rates come from the ends of the remote partitions: those of two observations, and the time between them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from heliograph.cli.live.screen import ClusterHealth, FlowRow, Shown, TopicRow
from heliograph.inspection.mirror_status import FlowView, MirrorStatus, PartitionView, ServiceState
from heliograph.model import PartitionState

_WINDOW_SECONDS = 10.0
_WORST = (PartitionState.FAILED, PartitionState.RETRYING)
_Key = tuple[str, str]


class ObservedRates:
    """Records per second of each remote topic, over the last seconds. For one thread."""

    def __init__(self) -> None:
        self._samples: deque[tuple[int, Mapping[_Key, int]]] = deque()

    def sample(self, found: MirrorStatus) -> dict[_Key, float]:
        """By flow and topic. A topic that was not there before has no rate yet."""
        self._samples.append((found.at_ms, _copied(found)))
        while (
            len(self._samples) > 2 and self._samples[1][0] <= found.at_ms - 1000 * _WINDOW_SECONDS
        ):
            self._samples.popleft()
        then, before = self._samples[0]
        seconds = max((found.at_ms - then) / 1000, 1e-3)
        now = self._samples[-1][1]
        return {key: max(now[key] - before[key], 0) / seconds for key in now if key in before}


def shown_status(found: MirrorStatus, rates: Mapping[_Key, float]) -> Shown:
    return Shown(
        title="heliograph top",
        uptime=None,
        clusters=tuple(_clusters(found)),
        flows=tuple(map(_flow, found.flows)),
        topics=tuple(_topics(found, rates)),
        problems=tuple(_problems(found)),
    )


def _copied(found: MirrorStatus) -> dict[_Key, int]:
    """The sum of the ends of remote partitions, of topics whose ends are all known."""
    return {
        (flow.name, topic): sum(each.target_end or 0 for each in its)
        for flow in found.flows
        for topic, its in _by_topic(flow).items()
        if all(each.target_end is not None for each in its)
    }


def _by_topic(flow: FlowView) -> dict[str, list[PartitionView]]:
    found: dict[str, list[PartitionView]] = {}
    for each in flow.partitions:
        found.setdefault(each.topic, []).append(each)
    return found


def _clusters(found: MirrorStatus) -> Iterable[ClusterHealth]:
    aliases = dict.fromkeys(alias for flow in found.flows for alias in (flow.source, flow.target))
    for alias in dict.fromkeys([*aliases, *found.unreachable]):
        why = found.unreachable.get(alias)
        yield ClusterHealth(alias=alias, reached=why is None, error=why or "")


def _flow(flow: FlowView) -> FlowRow:
    return FlowRow(
        name=flow.name,
        source=flow.source,
        target=flow.target,
        state=f"{flow.service.state} ({flow.service.detail})",
        groups=len({each.group for each in flow.groups}) if flow.groups else None,
    )


def _topics(found: MirrorStatus, rates: Mapping[_Key, float]) -> Iterable[TopicRow]:
    for flow in found.flows:
        for topic, its in _by_topic(flow).items():
            lags = [each.lag_records for each in its]
            behind = [each.lag_seconds for each in its]
            yield TopicRow(
                flow=flow.name,
                topic=topic,
                partitions=len(its),
                records=sum(each.target_end or 0 for each in its),
                records_per_second=rates.get((flow.name, topic)),
                bytes_per_second=None,
                lag=None if None in lags else sum(lag or 0 for lag in lags),
                behind=None if None in behind else max((s or 0.0 for s in behind), default=0.0),
                trouble=_trouble(flow, its),
            )


def _trouble(flow: FlowView, partitions: Iterable[PartitionView]) -> str | None:
    for state in _WORST:
        for each in partitions:
            if each.state == state:
                return f"{state} {each.partition}: {each.error or 'no cause was reported'}"
    if flow.service.state is not ServiceState.RUNNING:
        return str(flow.service.state)
    waiting = [each for each in partitions if not each.mirrored]
    return f"{waiting[0].state} {waiting[0].partition}" if waiting else None


def _problems(found: MirrorStatus) -> Iterable[str]:
    for alias, why in found.unreachable.items():
        yield f"{alias}: {why}"
    for flow in found.flows:
        for subject, why in {**flow.problems, **flow.not_mirrored, **flow.unknown}.items():
            yield f"{flow.name}: {why if subject in why else f'{subject}: {why}'}"
        for gap in flow.gaps:
            if gap.waits:
                yield f"{flow.name}: {gap.topic}-{gap.partition}: {gap.what}; waits for another offset"
    for name, why in {**found.broken, **found.idle}.items():
        yield f"{name}: {why}"
