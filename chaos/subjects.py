"""The systems under test: their configurations and processes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import psutil

from harness.mirrors import heliograph_command, mirror_properties, write_mirror_file
from harness.processes import family, kill, runs, stop
from heliograph.embedded.child_process import ChildProcess
from heliograph.embedded.tools import mirror_maker_command

_STOP_SECONDS = 60.0


class System(StrEnum):
    HELIOGRAPH = "heliograph"
    MM2 = "mm2"


class Mode(StrEnum):
    DEFAULT = "default"
    EXACTLY_ONCE = "exactly-once"


class Isolation(StrEnum):
    READ_COMMITTED = "read_committed"
    READ_UNCOMMITTED = "read_uncommitted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One system in one mode. Every session has new aliases, and so new remote and internal topics."""

    system: System
    mode: Mode
    session: str
    source: str
    target: str
    folder: Path
    master: str | None = None
    replicas: int = 3
    isolation: Isolation = Isolation.READ_COMMITTED
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.system} {self.mode}"

    @property
    def source_alias(self) -> str:
        return f"{self.session}-{'eo' if self.mode is Mode.EXACTLY_ONCE else 'de'}"

    @property
    def target_alias(self) -> str:
        return f"{self.source_alias}-t"

    def remote(self, topic: str) -> str:
        return f"{self.source_alias}.{topic}"

    def properties(self) -> Mapping[str, str]:
        source, target = self.source_alias, self.target_alias
        properties = mirror_properties(
            (source, self.source),
            (target, self.target),
            f"{self.session}-.*",
            replicas=self.replicas,
        )
        properties[f"{source}.consumer.isolation.level"] = self.isolation.value
        properties |= self.extra
        # Exactly once needs read_committed: under read_uncommitted the default mode runs.
        if self.mode is Mode.EXACTLY_ONCE and self.isolation is Isolation.READ_COMMITTED:
            properties[f"{target}.exactly.once.source.support"] = "enabled"
            if self.system is System.MM2:
                properties["dedicated.mode.enable.internal.rest"] = "true"
                properties["listeners"] = "http://127.0.0.1:0"
        return properties

    def prepare(self) -> list[str]:
        """Writes its configuration; returns the command that starts it."""
        file = write_mirror_file(self.folder, self.properties())
        if self.system is System.MM2:
            return mirror_maker_command(file, log=self.folder / "mm2.log")
        options = () if self.master is None else ("--master", self.master)
        return heliograph_command("run", str(file), *options)


class Service:
    """A process of a subject; `look_after` starts it again if it has ended, as a process supervisor would."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.exits = 0  # ended by itself
        self._command = subject.prepare()
        self._starts = 0
        self._known: set[psutil.Process] = set()
        self._process = self._launch()

    def _launch(self) -> ChildProcess:
        self._starts += 1
        output = self.subject.folder / f"output-{self._starts}-{time.time_ns()}.log"
        return ChildProcess(self._command, output=output, scratch=None)

    @property
    def running(self) -> bool:
        return self._process.exit_code is None

    def family(self) -> list[psutil.Process]:
        """The driver, Spark's JVM, the daemon that forks Python workers, and the workers."""
        found = family(self._process.pid)
        self._known.update(found)
        return found

    def workers(self) -> list[psutil.Process]:
        """Python workers: forked by Spark's daemon, so they have its command line."""
        daemons = [each for each in self.family() if is_daemon(each)]
        return [each for each in daemons if is_daemon(each.parent())]

    def kill(self, *, whole_family: bool) -> None:
        """kill -9 of the driver alone (its workers may run for another moment) or of all its processes."""
        processes = self.family()
        self._process.kill()
        if whole_family:
            for process in processes:
                kill(process)
        self._process.wait(_STOP_SECONDS)

    def restart(self, subject: Subject | None = None) -> None:
        """Starts it again, with another configuration if one is given."""
        if subject is not None:
            self.subject = subject
            self._command = subject.prepare()
        self._process = self._launch()

    def adopt(self, other: Service) -> None:
        """Ends the other service's remaining processes when this one stops."""
        self._known |= other._known

    def look_after(self) -> None:
        if not self.running:
            self.exits += 1
            self.restart()

    def stop(self) -> None:
        """SIGTERM, then kill -9 of its remaining processes."""
        self.family()
        stop(self._process, _STOP_SECONDS)
        for process in self._known:
            kill(process)


def is_daemon(process: psutil.Process | None) -> bool:
    return process is not None and runs(process, "pyspark.daemon")
