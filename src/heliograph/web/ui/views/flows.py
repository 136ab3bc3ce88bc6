"""The flows that the page knows: those of connectors, and those that have reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heliograph.web.ui.snapshot import ConnectorView, FlowSample, Snapshot
from heliograph.web.ui.views.flow_state import FlowState, flow_state
from heliograph.web.ui.views.links import to_flow


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    name: str
    source: str
    target: str
    state: FlowState
    sample: FlowSample | None
    problems: tuple[str, ...]

    @property
    def link(self) -> str:
        return to_flow(self.name)

    @property
    def clusters(self) -> str:
        """What its name does not say, if it is that of a connector."""
        return (
            "" if self.name == f"{self.source}->{self.target}" else f"{self.source} → {self.target}"
        )

    @property
    def rate(self) -> float | None:
        return None if self.sample is None else self.sample.rate

    @property
    def lag(self) -> int | None:
        return None if self.sample is None else self.sample.lag


def known_flows(snapshot: Snapshot, connectors: Sequence[ConnectorView]) -> list[Flow]:
    by_flow = {each.flow: each for each in connectors if each.copies}
    names = [*by_flow, *(name for name in snapshot.flows if name not in by_flow)]
    return [_flow(name, by_flow.get(name), snapshot) for name in names]


def _flow(name: str, connector: ConnectorView | None, snapshot: Snapshot) -> Flow:
    sample, problems = snapshot.flows.get(name), snapshot.problems_of(name)
    source, _, target = name.partition("->")
    if connector is not None:
        source, target = connector.source, connector.target
    return Flow(
        name=name,
        source=source,
        target=target or "?",
        state=flow_state(connector, sample, problems, snapshot.unreachable.get(name, ())),
        sample=sample,
        problems=tuple(problems),
    )
