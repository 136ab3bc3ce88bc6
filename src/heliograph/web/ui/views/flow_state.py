"""The state of a flow in one word, with its cause.

Silence never looks like health: a paused flow, one without data, one that does not get on and one whose
topics are quiet are different states, and so is one with a cluster that does not answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from heliograph.counted import counted
from heliograph.model import PartitionState
from heliograph.web.ui.history import SAMPLE_SECONDS
from heliograph.web.ui.snapshot import ConnectorView, FlowSample

#: A flow that has a lag and copies nothing for 10 s does not get on.
_STALLED_SAMPLES = 10 // SAMPLE_SECONDS


class Tone(StrEnum):
    """What a colour means; every state also has its word."""

    GOOD = "good"
    WARN = "warn"
    BAD = "bad"
    IDLE = "idle"


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowState:
    label: str
    tone: Tone
    cause: str = ""


_STANDING = {
    "PAUSED": FlowState(label="paused", tone=Tone.IDLE, cause="Its connector is paused."),
    "STOPPED": FlowState(label="stopped", tone=Tone.IDLE, cause="Its connector is stopped."),
}
_ORDER = (Tone.BAD, Tone.WARN, Tone.IDLE, Tone.GOOD)


def flow_state(
    connector: ConnectorView | None,
    sample: FlowSample | None,
    problems: list[str],
    unreachable: Sequence[str] = (),
) -> FlowState:
    """`unreachable`: its clusters of which no broker answers."""
    if connector is not None and connector.state in _STANDING:
        return _STANDING[connector.state]
    if connector is not None and connector.state == "FAILED":
        return FlowState(label="failed", tone=Tone.BAD, cause=connector.trace or "")
    if unreachable:
        names = " and ".join(unreachable)
        cause = f"No broker of {names} answers; the copy goes on when one does."
        return FlowState(label="unreachable", tone=Tone.BAD, cause=cause)
    if connector is not None and connector.state == "UNASSIGNED":
        cause = connector.trace or "No worker runs it."
        return FlowState(label="standby", tone=Tone.IDLE, cause=cause)
    if sample is None or not sample.partitions:
        return _without_data(problems)
    return _copying(sample, problems)


def _without_data(problems: list[str]) -> FlowState:
    if problems:
        return FlowState(label="waiting", tone=Tone.WARN, cause=problems[0])
    return FlowState(label="no data", tone=Tone.IDLE, cause="No partition has reported yet.")


def _copying(sample: FlowSample, problems: list[str]) -> FlowState:
    states = [each.receipt.state for each in sample.partitions]
    failed, retrying = states.count(PartitionState.FAILED), states.count(PartitionState.RETRYING)
    whole = counted(len(states), "partition")
    if failed:
        cause = f"{failed:,} of {whole} failed{_first(sample, PartitionState.FAILED)}"
        return FlowState(label="failed", tone=Tone.BAD, cause=cause)
    if retrying:
        cause = f"{retrying:,} of {whole} being retried{_first(sample, PartitionState.RETRYING)}"
        return FlowState(label="retrying", tone=Tone.WARN, cause=cause)
    if sample.lag is None:
        return FlowState(label="no data", tone=Tone.IDLE, cause="The source's ends are not known.")
    recent = sample.rates[-_STALLED_SAMPLES:]
    if sample.lag and len(recent) == _STALLED_SAMPLES and not any(recent):
        cause = problems[0] if problems else "It has a lag, and copies nothing."
        return FlowState(label="stalled", tone=Tone.WARN, cause=cause)
    if sample.rate or sample.lag:
        return FlowState(label="copying", tone=Tone.GOOD)
    return FlowState(label="quiet", tone=Tone.GOOD, cause="Everything is copied.")


def _first(sample: FlowSample, state: PartitionState) -> str:
    """The cause of one of them, with its remedy; the rows of the flow have all."""
    first = min(
        (each.receipt for each in sample.partitions if each.receipt.state is state),
        key=lambda receipt: (receipt.topic, receipt.partition),
    )
    name = f"{first.topic}-{first.partition}"
    error = first.error or "no cause was reported"
    return f": {error}" if name in error else f": {name}: {error}"


def worst(states: list[FlowState]) -> Tone:
    return min((state.tone for state in states), key=_ORDER.index, default=Tone.IDLE)
