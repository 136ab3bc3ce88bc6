"""Starts one system and measures until all records are on the target."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from benchmarks.brokers import Brokers
from benchmarks.errors import BenchmarkError
from benchmarks.loading import Loaded
from benchmarks.systems import Assignment
from harness.cluster_side import LogEnds
from harness.process_tree import ProcessTree
from harness.processes import kill
from heliograph.embedded.child_process import ChildProcess

Measures = dict[str, float | None]

_POLL_SECONDS = 0.02
_DUTY = 9  # sleep nine times as long as a poll takes: polls of many partitions cost more
_STALL_SECONDS = 120.0
_STOP_SECONDS = 30.0


class Ends(Protocol):
    def total(self) -> int:
        """How many records are on the target."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A measurement: time, records on the target, CPU seconds of the tree and of the brokers."""

    at: float
    records: int
    cpu: float
    broker_cpu: float


class Run:
    """A running system. `started` is the time just before its process started, `started_at` the same in
    seconds since 1970."""

    def __init__(self, assignment: Assignment, brokers: Brokers, ends: Ends) -> None:
        self.assignment = assignment
        self._brokers = brokers
        self._ends = ends
        command = assignment.prepare()
        self.started, self.started_at = time.monotonic(), time.time()
        self._process = ChildProcess(command, output=assignment.output, scratch=None)
        self.tree = ProcessTree(self._process.pid)
        self._stopping = 0.0

    def wait_for(
        self, records: int, duty: float = _DUTY, *, patience: float = _STALL_SECONDS
    ) -> Mark:
        """Measures when the target first has at least so many records."""
        seen, seen_at = 0, time.monotonic()
        while True:
            exited = self._process.exit_code
            asked = time.monotonic()
            found = self._ends.total()
            now = time.monotonic()
            if found >= records:
                return self._mark(now, found)
            if found > seen:
                seen, seen_at = found, now
            if exited is not None:
                raise BenchmarkError(
                    f"exited with code {exited} after {found} of {records} records"
                )
            if now - seen_at > patience:
                raise BenchmarkError(
                    f"no progress for {patience:.0f} s after {found} of {records} records"
                )
            time.sleep(max(_POLL_SECONDS, duty * (now - asked)))

    def raise_if_exited(self) -> None:
        code = self._process.exit_code
        if code is not None:
            raise BenchmarkError(f"exited with code {code} (see {self.assignment.output})")

    def mark(self) -> Mark:
        return self._mark(time.monotonic(), self._ends.total())

    def _mark(self, at: float, records: int) -> Mark:
        return Mark(
            at=at,
            records=records,
            cpu=self.tree.cpu_seconds(),
            broker_cpu=self._brokers.cpu_seconds(),
        )

    def kill(self) -> None:
        """kill -9 of all its processes at once."""
        for process in self.tree.processes():
            kill(process)
        self._process.wait(_STOP_SECONDS)

    def stop(self) -> float:
        """SIGTERM; the seconds until the process had ended."""
        asked = time.monotonic()
        family = self.tree.processes()
        self._process.terminate()
        if not self._process.wait(_STOP_SECONDS):
            for process in reversed(family):
                kill(process)
            self._process.kill()
            self._process.wait(_STOP_SECONDS)
        took = time.monotonic() - asked
        for process in family:  # processes that outlive their parent must not disturb the next run
            kill(process)
        return took


@contextmanager
def running(assignment: Assignment, brokers: Brokers, ends: Ends | None = None) -> Iterator[Run]:
    """Without `ends`, the records of the assignment's topic are counted."""
    committed = assignment.transactional
    ends = ends or LogEnds(brokers.target, assignment.remote_topic, committed=committed)
    run = Run(assignment, brokers, ends)
    try:
        with run.tree:
            yield run
    finally:
        run.stop()


def measure_throughput(assignment: Assignment, brokers: Brokers, loaded: Loaded) -> Measures:
    """From the first records seen on the target to the last.

    Records that are there at the first look count for neither time nor CPU.
    """
    with running(assignment, brokers) as run:
        first = run.wait_for(1)
        last = run.wait_for(loaded.records)
        stop_seconds = run.stop()
        after = run.mark().records
        peak = run.tree.peak_rss_bytes
    measures: Measures = {
        "first_record_s": round(first.at - run.started, 2),
        "peak_rss_mb": round(peak / 1e6),
        "surplus_records": after - loaded.records,
        "stop_s": round(stop_seconds, 2),
    }
    return measures | _steady(first, last, loaded)


def _steady(first: Mark, last: Mark, loaded: Loaded) -> Measures:
    records, seconds = last.records - first.records, last.at - first.at
    if records <= 0 or seconds <= 0:
        return {}  # all records were there at the first look: too few to measure
    payload = loaded.payload_bytes * records / loaded.records
    return {
        "records_per_s": round(records / seconds),
        "mb_per_s": round(payload / 1e6 / seconds, 1),
        "cpu_s_per_gb": round((last.cpu - first.cpu) / (payload / 1e9), 3),
        "steady_s": round(seconds, 2),
        "cpu_s": round(last.cpu - first.cpu, 2),
        "broker_cpu_s": round(last.broker_cpu - first.broker_cpu, 2),
    }
