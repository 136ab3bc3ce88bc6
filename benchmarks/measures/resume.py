"""Kills a mirror while it copies and starts it again: how soon it resumes, and how many records it copies
twice.

start ─► 40 % copied ─► kill -9 ─► start ─► first new record ─► no new records for 15 s
                                    └ durations from its log ┘
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace

from benchmarks.brokers import Brokers
from benchmarks.loading import Loaded
from benchmarks.running import Measures, Run, running
from benchmarks.systems import Assignment, System

_KILLED_AT = 0.4  # of the records
#: Requests in flight have reached the broker by then.
_LAND_SECONDS = 2.0
#: The copy is complete after so long without a new record.
_QUIET_SECONDS = 15.0
_LOOK_SECONDS = 0.5
#: Connect may keep a killed worker's tasks for it for five minutes (scheduled.rebalance.max.delay.ms).
_PATIENCE_SECONDS = 360.0

_DRIVER = re.compile(r"stored offsets and snapshots took (\d+) ms")
#: Versions before 2026-11-19, which `--before` may run, wrote "N records are already on the target".
_TASK = re.compile(
    r"([\d,]+) partitions?(?: looked at)? in (\d+) ms: (?:already on the target: )?([\d,]+) records?"
)


@dataclass(frozen=True, slots=True)
class Resumed:
    """From Heliograph's log: the driver reads stored offsets and producer snapshots, then all tasks inspect
    the target at the same time. Records that are there already are skipped later, during the copy."""

    partitions: int
    seconds: float
    dropped: int

    @property
    def per_100(self) -> float:
        return self.seconds * 100 / self.partitions


def measure_resume(assignment: Assignment, brokers: Brokers, loaded: Loaded) -> Measures:
    """Records are counted by log ends: what was copied twice is the surplus over what was loaded."""
    with running(assignment, brokers) as run:
        run.wait_for(int(loaded.records * _KILLED_AT))
        run.kill()
        time.sleep(_LAND_SECONDS)
        killed = run.mark().records
    again = replace(assignment, folder=assignment.folder / "again")
    with running(again, brokers) as run:
        first = run.wait_for(killed + 1, patience=_PATIENCE_SECONDS)
        records = _until_quiet(run)
    measures: Measures = {
        "killed_records": killed,
        "resumed_s": round(first.at - run.started, 2),
        "surplus_records": records - loaded.records,
    }
    if assignment.system is System.HELIOGRAPH:
        found = resumed(again.output.read_text(errors="replace"))
        if found is not None:
            measures |= {
                "resume_partitions": found.partitions,
                "resume_s": round(found.seconds, 3),
                "resume_s_per_100": round(found.per_100, 3),
                "dropped_records": found.dropped,
            }
    return measures


def _until_quiet(run: Run) -> int:
    seen, since = run.mark().records, time.monotonic()
    while time.monotonic() - since < _QUIET_SECONDS:
        run.raise_if_exited()
        time.sleep(_LOOK_SECONDS)
        found = run.mark().records
        if found != seen:
            seen, since = found, time.monotonic()
    return seen


def resumed(log: str) -> Resumed | None:
    """None if the log has no such lines."""
    reads = [int(found) for found in _DRIVER.findall(log)]
    tasks = [tuple(int(n.replace(",", "")) for n in found) for found in _TASK.findall(log)]
    if not reads or not tasks:
        return None
    partitions, times, dropped = zip(*tasks, strict=True)
    return Resumed(sum(partitions), (reads[0] + max(times)) / 1000, sum(dropped))
