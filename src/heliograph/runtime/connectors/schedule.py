"""Runs recurring jobs one after the other in one thread, as `org.apache.kafka.connect.mirror.Scheduler`.

Unlike there, a failure is not only logged: it is a problem that stays visible until the job succeeds again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from heliograph.errors import ClientError
from heliograph.runtime.problems import Problems, is_passing

log = logging.getLogger(__name__)

#: Returns the problems found, subject -> sentence.
Action = Callable[[], Mapping[str, str]]

#: The shortest pause after a failed request.
_RETRY_SECONDS = 1.0


@dataclass(slots=True)
class _Job:
    area: str
    interval: float
    action: Action
    due: float


class Schedule:
    """Call `every` for each job, then `start`. A job that takes longer than its interval runs again at once;
    missed runs are not made up for."""

    def __init__(self, name: str, problems: Problems, stop: threading.Event) -> None:
        self._problems = problems
        self._stop = stop
        self._jobs: list[_Job] = []
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def every(
        self, interval: float | None, area: str, action: Action, *, first_after: float = 0.0
    ) -> None:
        """`area` names the job and its flow; an interval of None switches the job off."""
        if interval is not None:
            self._jobs.append(_Job(area, interval, action, time.monotonic() + first_after))

    def start(self) -> None:
        if self._jobs:
            self._thread.start()

    def join(self, timeout: float) -> None:
        """Call this once `stop` is set."""
        if self._thread.is_alive():
            self._thread.join(timeout)
            if self._thread.is_alive():
                log.warning("thread %s did not end within %.1f s", self._thread.name, timeout)

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def run_all(self) -> None:
        """Run every job once, in the order of their `every` calls; for bounded runs."""
        for job in self._jobs:
            self._do(job)

    def _run(self) -> None:
        while not self._stop.is_set():
            job = min(self._jobs, key=lambda each: each.due)
            if self._stop.wait(max(job.due - time.monotonic(), 0.0)):
                return
            job.due = max(job.due + job.interval, time.monotonic())
            self._do(job)

    def _do(self, job: _Job) -> None:
        began, passing = time.monotonic(), False
        try:
            found = job.action()
        except ClientError as e:
            if self._stop.is_set():
                return  # the stop interrupted the request
            job.due = max(job.due, time.monotonic() + _RETRY_SECONDS)
            found, passing = {"": f"{e}; retrying" if e.tried_again else str(e)}, is_passing(e)
        except Exception as e:  # noqa: BLE001 - a problem
            self._problems.unexpected(job.area, e)
            return
        log_duration(job.area, began)
        self._problems.update(job.area, found, passing=passing)


def log_duration(area: str, began: float) -> None:
    """Logged by Java's `Scheduler`, too: the duration of a job is the lower limit for its interval."""
    log.debug("%s took %d ms", area, int((time.monotonic() - began) * 1000))


def time_left(seconds: float) -> Callable[[], float]:
    """A function that returns the seconds left, so that several waits can share one limit."""
    deadline = time.monotonic() + seconds
    return lambda: max(deadline - time.monotonic(), 0.0)
