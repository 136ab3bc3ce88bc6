"""The first page: a map of clusters with flows as arrows, and a table of the flows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heliograph.counted import counted
from heliograph.web.ui.snapshot import ConnectorView, Snapshot
from heliograph.web.ui.views.flow_state import FlowState, Tone, worst
from heliograph.web.ui.views.flows import Flow, known_flows
from heliograph.web.ui.views.map_layout import Layout, lay_out
from heliograph.web.ui.views.sparkline import Sparkline, sparkline

#: A map of more clusters is a knot; the table has them all.
_MOST_ON_MAP = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    flow: Flow
    partitions: int | None
    chart: Sparkline


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """`maps`: one for a wide screen and, for two clusters, one for a narrow one; none for very many."""

    rows: tuple[Row, ...]
    maps: tuple[tuple[str, Layout], ...]
    summary: str
    tone: Tone
    attention: tuple[tuple[Flow, str], ...]
    note: str | None


def overview(
    snapshot: Snapshot, connectors: Sequence[ConnectorView], note: str | None = None
) -> Overview:
    """`note`: why connectors could not be read."""
    flows = known_flows(snapshot, connectors)
    pairs = [(flow.source, flow.target) for flow in flows]
    clusters = {name for pair in pairs for name in pair}
    drawn = 0 < len(clusters) <= _MOST_ON_MAP
    return Overview(
        rows=tuple(_row(flow) for flow in flows),
        maps=tuple(
            (name, lay_out(pairs, tall=tall))
            for name, tall in (("wide", False), ("tall", True))
            if drawn and (len(clusters) <= 2 or not tall)
        ),
        summary=summary([flow.state for flow in flows]),
        tone=worst([flow.state for flow in flows]),
        attention=tuple((flow, sentence) for flow in flows for sentence in _attention(flow)),
        note=note,
    )


def summary(states: Sequence[FlowState]) -> str:
    """Changes only with states, so that a screen reader announces states and not figures."""
    if not states:
        return "No flows yet"
    labels = [state.label for state in states]
    if len(set(labels)) == 1:
        few = {1: "The flow", 2: "Both flows"}
        return f"{few.get(len(labels), f'All {len(labels):,} flows')} {_verb(labels)}"
    each_state = ", ".join(f"{labels.count(each):,} {each}" for each in dict.fromkeys(labels))
    return f"{counted(len(labels), 'flow')}: {each_state}"


def _verb(labels: Sequence[str]) -> str:
    one = len(labels) == 1
    if labels[0] == "unreachable":
        return f"{'has' if one else 'have'} an unreachable cluster"
    return f"{'is' if one else 'are'} {'without data' if labels[0] == 'no data' else labels[0]}"


def _row(flow: Flow) -> Row:
    sample = flow.sample
    rates = () if sample is None else sample.rates
    return Row(
        flow=flow,
        partitions=None if sample is None else len(sample.partitions),
        chart=sparkline(rates, width=120, height=24, what="records per second"),
    )


def _attention(flow: Flow) -> list[str]:
    """What an operator should read: the cause of a state that is not good, then the flow's problems."""
    causes = [flow.state.cause] if flow.state.tone in (Tone.WARN, Tone.BAD) else []
    return list(dict.fromkeys([*causes, *flow.problems]))
