"""Runs one broker of an embedded cluster: folder, files, process."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from heliograph.embedded.child_process import ChildProcess
from heliograph.embedded.jars import kafka_jars
from heliograph.embedded.properties import log_configuration, render_properties
from heliograph.errors import BrokerNotRunning
from heliograph.machine.java import java_command

_LOG_LINES = 25
_STOP_SECONDS = 30.0
#: The pattern of `log_configuration`: [time] LEVEL message
_LEVEL = re.compile(r"^\[[^]]+\] (TRACE|DEBUG|INFO|WARN|ERROR|FATAL) ")


class Node:
    """Files of node `id_` under `folder`: server.properties, server.log, console.log, data/."""

    def __init__(self, cluster: str, id_: int, folder: Path) -> None:
        self.id = id_
        self.name = f"{cluster}-{id_}"
        self.folder = folder
        self.data = folder / "data"
        self.log = folder / "server.log"
        self.console = folder / "console.log"
        self._process: ChildProcess | None = None

    @property
    def pid(self) -> int | None:
        """Process id of the broker's JVM; None when it does not run."""
        return self._process.pid if self._process is not None and self.running else None

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.exit_code is None

    def start(
        self,
        version: str,
        properties: Mapping[str, str],
        jvm_args: Sequence[str],
        scratch: Path | None,
    ) -> None:
        """Starts the JVM and returns at once; the log directory must be formatted."""
        config = self.folder / "server.properties"
        config.touch(mode=0o600)  # it may hold passwords
        config.write_text(render_properties(properties))
        name, contents, argument = log_configuration(version, self.log)
        (self.folder / name).write_text(contents)
        command = [
            *(*java_command(), *jvm_args, f"{argument}{self.folder / name}"),
            *("-cp", f"{kafka_jars(version)}/*", "kafka.Kafka", str(config)),
        ]
        self._process = ChildProcess(command, output=self.console, scratch=scratch)

    def terminate(self) -> None:
        if self._process is not None:
            self._process.terminate()

    def stop(self) -> None:
        """SIGTERM, and SIGKILL for a broker that still runs after 30 s."""
        self.terminate()
        if self._process is not None and not self._process.wait(_STOP_SECONDS):
            self.kill()

    def kill(self) -> None:
        """SIGKILL; returns when the process has ended."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(_STOP_SECONDS)

    def raise_if_exited(self) -> None:
        code = None if self._process is None else self._process.exit_code
        if code is not None:
            raise BrokerNotRunning(
                f"broker {self.name}: exited with code {code}; its log ends with:\n"
                f"{self.log_tail()}"
            )

    def log_tail(self) -> str:
        """The last lines of the log, and of the console for a JVM that failed before logging.

        Stack frames are left out. If there is an error, so are entries at INFO with their continuation lines
        (a broker logs its whole configuration): they would push the error out.
        """
        lines = [
            line
            for file in (self.console, self.log)
            if file.is_file()
            for line in file.read_text(errors="replace").splitlines()
            if line.strip() and not line.startswith("\tat ")
        ]
        if any(" ERROR " in line or " FATAL " in line for line in lines):
            lines = list(_without_info(lines))
        return "\n".join(f"  {line}" for line in lines[-_LOG_LINES:]) or "  (nothing)"


def _without_info(lines: Iterable[str]) -> Iterator[str]:
    """Entries of a log except those at INFO; an entry starts with a line that has a level."""
    kept = True
    for line in lines:
        level = _LEVEL.search(line)
        if level is not None:
            kept = level[1] != "INFO"
        if kept:
            yield line
