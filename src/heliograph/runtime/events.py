"""The time line of a service: the last changes of state, for `GET /events` and the page.

Events are added where a change is logged, so that the time line and the log have the same words. The newest
1,000 of each severity are in memory. A flow's are also in its state topic, in a bounded number
(`flow/event_history.py`), and return from there after a restart.
"""

from __future__ import annotations

import threading
import time
from bisect import insort
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

#: Of each severity, so that frequent events replace no rare ones. Enough for hours of an ordinary service,
#: and for the minutes before and after a fault of a large one.
MOST_EVENTS = 1_000


class EventKind(StrEnum):
    GAP = "gap"  # source and remote partition differ
    PARTITION = "partition"  # partitions are retried, fail, or run again
    PROBLEM = "problem"
    RESOLVED = "resolved"
    LEADERSHIP = "leadership"  # this service runs a group, stands by, or has lost it
    EPOCH = "epoch"  # an epoch of the copy begins or ends
    RESTART = "restart"  # the copy is restarted after a failure
    CONNECTOR = "connector"  # a connector starts, stops or is changed


class Severity(StrEnum):
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """`number` grows with every event that this process learns of. `subject` is a flow, a connector, or the
    area of a problem; "" for the whole service. `earlier`: another process wrote it to the state topic."""

    number: int
    at_ms: int
    kind: EventKind
    severity: Severity
    subject: str
    message: str
    earlier: bool = False

    @property
    def content(self) -> tuple[int, str, str, str]:
        """Two events with the same content are one."""
        return self.at_ms, self.kind, self.subject, self.message


class EventLog:
    """For several threads. Numbers start behind `first`: with the time of the start, in milliseconds, they
    also grow from process to process, so that a reader who asks for those after a number misses none."""

    def __init__(
        self, now_ms: Callable[[], int] | None = None, most: int = MOST_EVENTS, *, first: int = 0
    ) -> None:
        self._now_ms = now_ms or (lambda: int(time.time() * 1000))
        self._most = most
        self._kept: dict[Severity, list[Event]] = {severity: [] for severity in Severity}
        self._lock = threading.Lock()
        self._newest = first

    @property
    def newest(self) -> int:
        """The number of the newest event; that of the start if there was none."""
        return self._newest

    def add(
        self,
        kind: EventKind,
        subject: str,
        message: str,
        severity: Severity = Severity.INFO,
        *,
        at_ms: int | None = None,
    ) -> None:
        """`at_ms`: of an event that happened earlier; it is added once."""
        event = Event(
            number=0,
            at_ms=self._now_ms() if at_ms is None else at_ms,
            kind=kind,
            severity=severity,
            subject=subject,
            message=message,
        )
        with self._lock:
            if at_ms is None or not self._has(event):
                self._add(event)

    def restore(self, events: Iterable[Event]) -> None:
        """Add those of earlier processes; their numbers are given anew."""
        with self._lock:
            for event in events:
                if not self._has(event):
                    self._add(replace(event, earlier=True))

    def since(self, number: int = 0) -> tuple[Event, ...]:
        """The events after this one, in the order in which this process learned of them."""
        with self._lock:
            found = [e for kept in self._kept.values() for e in kept if e.number > number]
        return tuple(sorted(found, key=lambda event: event.number))

    def _add(self, event: Event) -> None:
        self._newest += 1
        kept = self._kept[event.severity]
        insort(kept, replace(event, number=self._newest), key=lambda each: each.at_ms)
        del kept[: -self._most]

    def _has(self, event: Event) -> bool:
        return any(each.content == event.content for each in self._kept[event.severity])
