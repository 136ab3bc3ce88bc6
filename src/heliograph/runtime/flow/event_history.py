"""A flow's part of the time line in its state topic, so that yesterday's gap is still found today.

    EventLog ──► pending ──► state topic          what concerns the flow, every few seconds
       ▲                         │
       └──────── load ◄──────────┘                once, when the flow is first observed

Of each severity so many are kept as it has slots (`EVENT_SLOTS`); the oldest are overwritten.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

from heliograph.mm2.state_records import EVENT_SLOTS, LONGEST_MESSAGE, EventRecord
from heliograph.runtime.events import Event, EventKind, EventLog, Severity

_KINDS = frozenset(map(str, EventKind))


class EventHistory:
    """`load` is called by the thread that observes the flow, `pending` and `stored` by the one that writes
    its state."""

    def __init__(self, flow: str, log: EventLog) -> None:
        self._flow = flow
        self._log = log
        self._lock = threading.Lock()
        self._loaded = False
        self._known: set[tuple[int, str, str, str]] = set()
        self._seen = 0  # the number of the newest event that was stored, or needs not be
        self._next = dict.fromkeys(EVENT_SLOTS, 0)

    def load(self, records: Iterable[EventRecord]) -> None:
        """Those of the state topic."""
        found = sorted(records, key=lambda record: (record.at_ms, record.number))
        events = [_event(record) for record in found if record.kind in _KINDS]
        with self._lock:
            for record in found:
                self._next[record.severity] = max(self._next[record.severity], record.number + 1)
            self._known |= {event.content for event in events}
            self._loaded = True
        self._log.restore(events)

    def pending(self) -> tuple[list[EventRecord], int]:
        """What is to be stored, and the number of the newest event that it covers, for `stored`. Nothing
        before `load`, since the slots are not known."""
        with self._lock:
            if not self._loaded:
                return [], self._seen
            events = self._log.since(self._seen)
            following, found = dict(self._next), []
            for event in events:
                if not event.earlier and concerns(event, self._flow) and self._is_new(event):
                    found.append(_record(event, self._flow, following[event.severity]))
                    following[event.severity] += 1
            return found, events[-1].number if events else self._seen

    def stored(self, records: Iterable[EventRecord], seen: int) -> None:
        """They are in the state topic."""
        with self._lock:
            self._seen = seen
            for record in records:
                self._next[record.severity] = record.number + 1

    def _is_new(self, event: Event) -> bool:
        """A gap's event is made again by every service that reads its record."""
        return _event(_record(event, self._flow, 0)).content not in self._known


def concerns(event: Event, flow: str) -> bool:
    """Whether it is one of the flow, or of the whole service: an epoch, a connector, a leadership."""
    subject = event.subject
    if not subject.startswith("flow "):
        return True
    return subject == f"flow {flow}" or subject.startswith(f"flow {flow}:")


def _event(record: EventRecord) -> Event:
    return Event(
        number=record.number,
        at_ms=record.at_ms,
        kind=EventKind(record.kind),
        severity=Severity(record.severity),
        subject=record.subject,
        message=record.message,
    )


def _record(event: Event, flow: str, number: int) -> EventRecord:
    message = event.message
    if len(message) > LONGEST_MESSAGE:
        message = f"{message[: LONGEST_MESSAGE - 1]}…"
    return EventRecord(
        flow=flow,
        severity=event.severity.value,
        number=number,
        at_ms=event.at_ms,
        kind=event.kind.value,
        subject=event.subject,
        message=message.encode("utf-8", "replace").decode(),
    )
