"""The newest reports of running tasks, and their sums since the service started."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from heliograph.measured import ClientReport, TaskReport


class TaskReports:
    """For several threads. Counters of a task begin anew with each epoch."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._running: dict[tuple[str, int], tuple[TaskReport, float]] = {}
        self._ended: dict[str, TaskReport] = {}
        self._last: dict[
            tuple[str, int], float
        ] = {}  # when tasks of the epoch before last reported

    def begin(self) -> None:
        """An epoch begins: the reports of the one before are final."""
        with self._lock:
            for (flow, _), (running, _) in self._running.items():
                report = replace(
                    running, source=running.source.ended(), target=running.target.ended()
                )
                before = self._ended.get(flow)
                self._ended[flow] = report if before is None else _sum(before, report)
            self._last = {key: at for key, (_, at) in self._running.items()}
            self._running = {}

    def update(self, task: int, reports: Iterable[TaskReport]) -> None:
        now = self._clock()
        with self._lock:
            self._running |= {(report.flow, task): (report, now) for report in reports}

    def running(self, flow: str) -> dict[int, tuple[TaskReport, float]]:
        """By task: its newest report, and the age of that in seconds."""
        now = self._clock()
        with self._lock:
            return {
                task: (report, now - at)
                for (name, task), (report, at) in sorted(self._running.items())
                if name == flow
            }

    def ages(self, flow: str) -> dict[int, float]:
        """By task, the seconds since its newest report, of this epoch or of the one before."""
        now = self._clock()
        with self._lock:
            newest = self._last | {key: at for key, (_, at) in self._running.items()}
        return {task: now - at for (name, task), at in newest.items() if name == flow}

    def total(self, flow: str) -> TaskReport | None:
        """The counters of all epochs; None before the first report."""
        with self._lock:
            total = self._ended.get(flow)
            for (name, _), (report, _) in self._running.items():
                if name == flow:
                    total = report if total is None else _sum(total, report)
        return total


def _sum(one: TaskReport, other: TaskReport) -> TaskReport:
    return replace(
        other,
        throttled_seconds=one.throttled_seconds + other.throttled_seconds,
        offset_commits=other.offset_commits.plus(one.offset_commits),
        source=_of_same_cluster(other.source, one.source),
        target=_of_same_cluster(other.target, one.target),
    )


def _of_same_cluster(newer: ClientReport, older: ClientReport) -> ClientReport:
    return newer.plus(older) if newer.cluster == older.cluster else newer
