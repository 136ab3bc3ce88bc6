"""Events as a time line, newest first, by day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heliograph.runtime.events import Event, EventKind, Severity
from heliograph.web.ui.views.flow_state import Tone
from heliograph.web.ui.views.numbers import clock_time, day, iso

_TONES = {Severity.INFO: Tone.IDLE, Severity.WARNING: Tone.WARN, Severity.ERROR: Tone.BAD}
_GOOD = frozenset({EventKind.RESOLVED})
_MOST = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    time: str
    iso: str
    kind: str
    tone: Tone
    severity: str
    subject: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """`days`: title and entries; `kinds`: those that there are, with their number."""

    days: tuple[tuple[str, tuple[Entry, ...]], ...]
    kinds: tuple[tuple[str, int], ...]
    chosen: str
    hidden: int


def timeline(events: Sequence[Event], kind: str = "") -> Timeline:
    """`kind` "": all."""
    kinds = [event.kind for event in events]
    chosen = sorted(
        (event for event in events if not kind or event.kind == kind),
        key=lambda event: (event.at_ms, event.number),
        reverse=True,
    )
    days: dict[str, list[Entry]] = {}
    for event in chosen[:_MOST]:
        days.setdefault(day(event.at_ms), []).append(_entry(event))
    return Timeline(
        days=tuple((title, tuple(entries)) for title, entries in days.items()),
        kinds=tuple((each.value, kinds.count(each)) for each in EventKind if each in kinds),
        chosen=kind,
        hidden=max(len(chosen) - _MOST, 0),
    )


def _entry(event: Event) -> Entry:
    return Entry(
        time=clock_time(event.at_ms),
        iso=iso(event.at_ms),
        kind=event.kind,
        tone=Tone.GOOD if event.kind in _GOOD else _TONES[event.severity],
        severity=event.severity,
        subject=event.subject,
        message=event.message,
    )
