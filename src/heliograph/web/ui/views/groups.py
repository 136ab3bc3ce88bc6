"""Consumer groups: their offsets and lags on both clusters, and whether the translation is exact."""

from __future__ import annotations

from dataclasses import dataclass

from heliograph.inspection.mirror_status import FlowView, GroupPartition, GroupState, MirrorStatus
from heliograph.web.ui.views.flow_state import Tone

FIRST_ROWS = 200
_TONES = {
    GroupState.SYNCED: Tone.GOOD,
    GroupState.TRANSLATED: Tone.GOOD,
    GroupState.DUE: Tone.IDLE,
    GroupState.LEFT_ALONE: Tone.IDLE,
    GroupState.NOT_TRANSLATED: Tone.WARN,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    group: str
    partition: str
    source_offset: int
    source_lag: int | None
    target_offset: int | None
    target_lag: int | None
    state: str
    tone: Tone
    exactness: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowGroups:
    name: str
    source: str
    target: str
    rows: tuple[Row, ...]
    hidden: int
    not_followed: tuple[tuple[str, str], ...]
    unknown: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupsPage:
    flows: tuple[FlowGroups, ...]
    query: str
    everything: bool
    observation: str | None


def groups_page(
    status: MirrorStatus | None,
    *,
    query: str = "",
    everything: bool = False,
    observation: str | None = None,
) -> GroupsPage:
    flows = () if status is None else status.flows
    return GroupsPage(
        flows=tuple(_flow(each, query, everything) for each in flows),
        query=query,
        everything=everything,
        observation=observation,
    )


def _flow(view: FlowView, query: str, everything: bool) -> FlowGroups:
    words = query.lower().split()
    found = [
        each
        for each in view.groups
        if all(word in f"{each.group} {each.topic}-{each.partition}".lower() for word in words)
    ]
    shown = found if everything else found[:FIRST_ROWS]
    return FlowGroups(
        name=view.name,
        source=view.source,
        target=view.target,
        rows=tuple(map(_row, shown)),
        hidden=len(found) - len(shown),
        not_followed=tuple(view.not_followed.items()),
        unknown=view.unknown.get("groups"),
    )


def _row(each: GroupPartition) -> Row:
    return Row(
        group=each.group,
        partition=f"{each.topic}-{each.partition}",
        source_offset=each.source_offset,
        source_lag=each.source_lag,
        target_offset=each.target_offset,
        target_lag=each.target_lag,
        state=each.state.lower(),
        tone=_TONES[each.state],
        exactness=exactness(each),
    )


def exactness(each: GroupPartition) -> str:
    """Whether a consumer that moves to the target continues exactly where it was, or why not."""
    if each.translated is None or each.checkpointed is None:
        return each.why or "not translated"
    behind = each.source_offset - each.checkpointed
    if behind > 0:
        exact = f"translated up to source offset {each.checkpointed:,}: {behind:,} before its own"
    else:
        exact = f"exact: continues at {each.translated:,}"
    return f"{exact}; {each.why}" if each.why else exact
