"""Connectors: their states and tasks, what can be done with them, their configuration with secrets hidden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heliograph.web.ui.snapshot import ConnectorView
from heliograph.web.ui.views.flow_state import Tone
from heliograph.web.ui.views.links import to_action

TONES = {"RUNNING": Tone.GOOD, "FAILED": Tone.BAD, "RESTARTING": Tone.WARN}
#: What may be asked of a connector in each state; REST has the same words.
_ACTIONS = {
    "RUNNING": ("pause", "stop", "restart"),
    "FAILED": ("restart", "pause", "stop"),
    "PAUSED": ("resume", "stop"),
    "STOPPED": ("resume",),
    "RESTARTING": ("pause", "stop"),
}
_READ_ONLY = (
    "Connectors of this service come from its file; set rest.writable=true there to pause, resume, stop and "
    "restart them here."
)

_ROLE = "Your role is read; pausing, resuming, stopping and restarting needs the role write."


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    name: str
    link: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    connector: ConnectorView
    tone: Tone
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorsPage:
    cards: tuple[Card, ...]
    note: str | None
    read_only: str | None


def connectors_page(
    connectors: Sequence[ConnectorView],
    *,
    writable: bool,
    may_write: bool = True,
    note: str | None = None,
) -> ConnectorsPage:
    """`writable`: the service allows changes; `may_write`: the user's role does."""
    read_only = None if may_write else _ROLE
    return ConnectorsPage(
        cards=tuple(_card(each, writable and may_write) for each in connectors),
        note=note,
        read_only=read_only if writable else _READ_ONLY,
    )


def _card(connector: ConnectorView, writable: bool) -> Card:
    names = _ACTIONS.get(connector.state, ()) if writable else ()
    return Card(
        connector=connector,
        tone=TONES.get(connector.state, Tone.IDLE),
        actions=tuple(Action(name=name, link=to_action(connector.name, name)) for name in names),
    )
