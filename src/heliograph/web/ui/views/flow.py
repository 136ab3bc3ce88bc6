"""One flow: its partitions, slowest first, with states, causes and offsets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from heliograph.inspection.mirror_status import FlowView, GapView, PartitionView
from heliograph.model import PartitionState, TopicPartition
from heliograph.web.ui.snapshot import PartitionSample, Snapshot
from heliograph.web.ui.views.flow_state import Tone
from heliograph.web.ui.views.flows import Flow
from heliograph.web.ui.views.links import to_flow
from heliograph.web.ui.views.numbers import UNKNOWN, ago, duration
from heliograph.web.ui.views.sparkline import Sparkline, outline, sparkline

#: Rows without `all=true`: what is wrong or slow is at the top.
FIRST_ROWS = 100
_TONES = {
    "failed": Tone.BAD,
    "retrying": Tone.WARN,
    "no data": Tone.IDLE,
    "copying": Tone.GOOD,
    "quiet": Tone.GOOD,
    "done": Tone.GOOD,
}
_ORDER = (
    PartitionState.FAILED,
    PartitionState.RETRYING,
    PartitionState.RUNNING,
    PartitionState.DONE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """`chart`: the path of its lag over the last five minutes, which the cell beside it has in figures."""

    name: str
    state: str
    tone: Tone
    cause: str
    lag: int | None
    behind: str
    rate: float
    position: int
    source_end: int | None
    target_end: int | None
    copied: str
    chart: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowPage:
    """`hidden`: rows that are not shown. `read`: how long ago the clusters were read, "" if never;
    `observation`: why they could not be."""

    flow: Flow
    rows: tuple[Row, ...]
    found: int
    total: int
    hidden: int
    query: str
    everything: bool
    all_link: str
    rates: Sparkline
    lags: Sparkline
    states: tuple[tuple[str, int, Tone], ...]
    gaps: tuple[GapView, ...]
    service: str
    observation: str | None
    read: str


def flow_page(
    flow: Flow,
    snapshot: Snapshot,
    observed: FlowView | None,
    *,
    query: str = "",
    everything: bool = False,
    observation: str | None = None,
    read_ms: int = 0,
) -> FlowPage:
    """`observed`: what the clusters said at `read_ms`, None if not known; `observation`: why not."""
    samples = flow.sample.partitions if flow.sample is not None else ()
    words = query.lower().split()
    found = (
        [each for each in samples if all(word in _name(each).lower() for word in words)]
        if words
        else list(samples)
    )
    found.sort(key=_slowest)
    shown = found if everything else found[:FIRST_ROWS]
    views = _views(observed)
    rates = flow.sample.rates if flow.sample is not None else ()
    lags = flow.sample.lags if flow.sample is not None else ()
    return FlowPage(
        flow=flow,
        rows=tuple(_row(each, views.get(_key(each)), snapshot.at_ms) for each in shown),
        found=len(found),
        total=len(samples),
        hidden=len(found) - len(shown),
        query=query,
        everything=everything,
        all_link=to_flow(flow.name, **({"q": query} if query else {}), all="true"),
        rates=sparkline(rates, width=280, height=48, what="records per second"),
        lags=sparkline(lags, width=280, height=48, what="lag in records"),
        states=_states(samples),
        gaps=observed.gaps if observed is not None else (),
        service=_service(observed),
        observation=observation,
        read=ago(read_ms, snapshot.at_ms) if observed is not None else "",
    )


def partition_state(each: PartitionSample) -> str:
    """In the words of metrics: one that runs copies, has nothing to copy, or has not fetched yet."""
    if each.receipt.state is not PartitionState.RUNNING:
        return each.receipt.state.lower()
    if each.lag is None:
        return "no data"
    return "copying" if each.lag or each.rate else "quiet"


def _row(each: PartitionSample, view: PartitionView | None, now_ms: int) -> Row:
    receipt, state = each.receipt, partition_state(each)
    notes = []
    if receipt.throttled:
        notes.append("throttled")
    if each.quarantined:
        notes.append(f"{each.quarantined:,} in quarantine")
    if receipt.foreign:
        notes.append("another program writes to its remote partition")
    return Row(
        name=_name(each),
        state=state,
        tone=_TONES[state],
        cause=receipt.error or ""
        if receipt.state in (PartitionState.FAILED, PartitionState.RETRYING)
        else "",
        lag=each.lag,
        behind=UNKNOWN if view is None else duration(view.lag_seconds),
        rate=each.rate,
        position=receipt.position,
        source_end=receipt.source_end if receipt.source_end >= 0 else None,
        target_end=None if view is None else view.target_end,
        copied=ago(receipt.copied_ms, now_ms),
        chart=outline(each.lags, width=72, height=18, step=2),
        notes=tuple(notes),
    )


def _slowest(each: PartitionSample) -> tuple[int, float, str, int]:
    """Failed, then retried, then unknown and large lags."""
    lag = float("inf") if each.lag is None else float(each.lag)
    return _ORDER.index(each.receipt.state), -lag, each.receipt.topic, each.receipt.partition


def _states(samples: tuple[PartitionSample, ...]) -> tuple[tuple[str, int, Tone], ...]:
    states = Counter(map(partition_state, samples))
    return tuple((state, states[state], tone) for state, tone in _TONES.items() if states[state])


def _views(observed: FlowView | None) -> Mapping[TopicPartition, PartitionView]:
    if observed is None:
        return {}
    return {TopicPartition(view.topic, view.partition): view for view in observed.partitions}


def _service(observed: FlowView | None) -> str:
    if observed is None:
        return ""
    others = [f"{member.process} ({member.state.lower()})" for member in observed.members]
    return "; ".join(others)


def _key(each: PartitionSample) -> TopicPartition:
    return each.key[1]


def _name(each: PartitionSample) -> str:
    return str(_key(each))
