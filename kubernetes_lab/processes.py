"""Starts the programs of the lab as children of this process, each with a log, and ends them in order."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from containers.errors import LabError

_STOP_SECONDS = 20.0
_TICK_SECONDS = 0.2


class Processes:
    """Ended in the reverse order of their starts."""

    def __init__(self, logs: Path, environment: Mapping[str, str]) -> None:
        self._logs = logs
        self._environment = dict(environment)
        self._running: list[tuple[str, subprocess.Popen[bytes]]] = []

    def start(
        self, name: str, command: Sequence[str | Path], more: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        with self.log(name).open("ab") as log:
            process = subprocess.Popen(
                [str(each) for each in command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**self._environment, **(more or {})},
                start_new_session=True,
            )
        self._running.append((name, process))
        return process

    def log(self, name: str) -> Path:
        return self._logs / f"{name}.log"

    def stop(self) -> None:
        for _, process in reversed(self._running):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._running = []

    def wait(self, what: str, done: Callable[[], bool], seconds: float = 120.0) -> float:
        """Seconds until `done`. Raises LabError, also as soon as one of the programs has ended."""
        began = time.monotonic()
        while not done():
            self._raise_if_one_has_ended()
            if time.monotonic() - began > seconds:
                raise LabError(f"{what}: not after {seconds:.0f} s; logs are in {self._logs}")
            time.sleep(_TICK_SECONDS)
        return time.monotonic() - began

    def _raise_if_one_has_ended(self) -> None:
        for name, process in self._running:
            if process.poll() is not None:
                tail = self.log(name).read_text(errors="replace")[-1500:]
                raise LabError(
                    f"{name}: exit code {process.returncode}; its log ends with:\n{tail}"
                )
