"""Samples CPU and memory of a process with all its descendants."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import psutil

from harness.processes import family

_SAMPLE_SECONDS = 0.2
_TICK_SECONDS = 0.02  # the kernel counts in ticks of 10 ms; user and system are rounded each


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    parent: int
    own: float  # user and system seconds of the process itself
    reaped: float  # of descendants that have ended and were waited for

    @property
    def total(self) -> float:
        return self.own + self.reaped


class ProcessTree:
    """Samples every 0.2 s on a thread; `cpu_seconds` takes a sample at once.

    The CPU time of a process that ends is added to its parent's if the parent waits for it, and lost
    otherwise. So the last sample of every process is kept until its parent accounts for it.
    """

    def __init__(self, root: int) -> None:
        self._root = psutil.Process(root)
        self._lock = threading.Lock()
        self._last: dict[int, Sample] = {}
        self._departed = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="process-tree", daemon=True)
        self.peak_rss_bytes = 0
        self.rss_bytes = 0  # as of the last sample

    def __enter__(self) -> ProcessTree:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def cpu_seconds(self) -> float:
        """User and system seconds since the start, of all that run and all that have ended."""
        with self._lock:
            self._sample()
            return self._departed + sum(each.total for each in self._last.values())

    def processes(self) -> list[psutil.Process]:
        return family(self._root)

    def _loop(self) -> None:
        while not self._stop.wait(_SAMPLE_SECONDS):
            with self._lock:
                self._sample()

    def _sample(self) -> None:
        now: dict[int, Sample] = {}
        rss = 0
        for process in self.processes():
            try:
                with process.oneshot():
                    times = process.cpu_times()
                    rss += process.memory_info().rss
                    parent = process.ppid()
            except psutil.NoSuchProcess:
                continue
            now[process.pid] = Sample(
                parent=parent,
                own=times.user + times.system,
                reaped=times.children_user + times.children_system,
            )
        self._departed += departed(self._last, now)
        self._last = now
        self.rss_bytes = rss
        self.peak_rss_bytes = max(self.peak_rss_bytes, rss)


def departed(before: dict[int, Sample], now: dict[int, Sample]) -> float:
    """CPU seconds of ended processes that no parent accounts for."""
    lost = 0.0
    taken_over = {
        pid: sample.reaped - before[pid].reaped for pid, sample in now.items() if pid in before
    }
    for pid, sample in before.items():
        if pid in now:
            continue
        if taken_over.get(sample.parent, 0.0) >= sample.total - _TICK_SECONDS:
            taken_over[sample.parent] = taken_over.get(sample.parent, 0.0) - sample.total
        else:
            lost += sample.total
    return lost
