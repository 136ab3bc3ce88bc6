"""Reads the durations of recurring jobs from the systems' own logs: `<job> took <N> ms`.

MM2's line is logged by `Scheduler`, Heliograph's by `runtime/connectors/schedule.py`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from benchmarks.systems import Assignment, System

_LINE = re.compile(rb"(?: INFO |: )([a-zA-Z][a-zA-Z ]*) took (\d+) ms\b")

#: The jobs of each figure, by system. One job of Heliograph's may be several of MM2's, in sequence.
TOPICS = "refresh_ms"
JOBS: Mapping[str, Mapping[System, tuple[str, ...]]] = {
    TOPICS: {System.MM2: ("refreshing topics",), System.HELIOGRAPH: ("topics",)},
    "refresh_groups_ms": {
        System.MM2: ("refreshing consumer groups",),
        System.HELIOGRAPH: ("groups",),
    },
    "sync_configs_ms": {
        System.MM2: ("syncing topic configs",),
        System.HELIOGRAPH: ("topic configurations",),
    },
    "sync_groups_ms": {
        System.MM2: (
            "refreshing idle consumers group offsets at target cluster",
            "sync idle consumer group offset from source to target",
        ),
        System.HELIOGRAPH: ("group offsets",),
    },
    # MM2 does not log how long its tasks take to compute checkpoints.
    "emit_checkpoints_ms": {System.MM2: (), System.HELIOGRAPH: ("checkpoints",)},
}


@dataclass(frozen=True, slots=True)
class Done:
    """One run of a job: when its line was read, in seconds since 1970, and how long it took."""

    at: float
    seconds: float

    @property
    def began(self) -> float:
        return self.at - self.seconds


class JobLog:
    """Follows the log of a running system; `read` parses new lines."""

    def __init__(self, assignment: Assignment) -> None:
        self._system = assignment.system
        mm2 = assignment.system is System.MM2
        self._file = assignment.folder / "mm2.log" if mm2 else assignment.output
        self._at = 0
        self._rest = b""
        self._runs: dict[str, list[Done]] = {}

    def read(self) -> None:
        data, self._at = _read_from(self._file, self._at)
        now = time.time()
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            if found := parse(line):
                job, milliseconds = found
                self._runs.setdefault(job, []).append(Done(now, milliseconds / 1000))

    def runs(self, figure: str) -> list[Done]:
        """Runs of the figure's last job: when it ends, all of them have ended."""
        jobs = JOBS[figure][self._system]
        return self._runs.get(jobs[-1], []) if jobs else []

    def median_ms(self, figure: str, since: float) -> float | None:
        """Over the runs that began after `since`; None if the log has none."""
        return self._summary(figure, since, median)

    def mean_ms(self, figure: str, since: float) -> float | None:
        return self._summary(figure, since, fmean)

    def _summary(
        self, figure: str, since: float, middle: Callable[[list[float]], float]
    ) -> float | None:
        times = [
            [run.seconds * 1000 for run in self._runs.get(job, []) if run.began >= since]
            for job in JOBS[figure][self._system]
        ]
        return round(sum(map(middle, times)), 1) if times and all(times) else None


def mean(figure: str) -> str:
    """The name of a figure's mean."""
    return figure.replace("_ms", "_mean_ms")


def parse(line: bytes) -> tuple[str, int] | None:
    """The job and its milliseconds; None for another line."""
    found = _LINE.search(line)
    return (found[1].decode(), int(found[2])) if found else None


def _read_from(file: Path, position: int) -> tuple[bytes, int]:
    if not file.is_file():
        return b"", position
    with file.open("rb") as log:
        log.seek(position)
        data = log.read()
    return data, position + len(data)
