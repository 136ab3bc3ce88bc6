"""Starts the driver's JVM of a cluster with Spark's own launcher, spark-submit.

Its output goes to our log: at DEBUG, and its errors in one line each once it has started. Spark tries to
reach a standalone master for over a minute, whatever listens there; this ends at its first refusal.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import subprocess
import threading
from collections import deque
from typing import Any

import javaproperties

from heliograph.machine.scratch import ScratchFolder
from heliograph.plan.spark.settings import SparkSettings
from heliograph.spark.failures import root_cause

log = logging.getLogger(__name__)

_KEPT_LINES = 400
_ERROR = re.compile(r"^\S+ \S+ (?:ERROR|FATAL) (.+)")
_NOT_REACHED = re.compile(r"Failed to connect to master (\S+)")
#: The trace with the cause follows the message.
_TRACE_SECONDS = 0.5
_SUBMIT_ARGS = "PYSPARK_SUBMIT_ARGS"


class Launcher:
    """`masters` is how many addresses the URL of a standalone cluster has, 0 for others: when each has
    failed, the JVM is killed."""

    def __init__(self, users: SparkSettings, masters: int) -> None:
        self._users = users
        self._masters = masters
        self._lines: deque[str] = deque(maxlen=_KEPT_LINES)
        self._failed: set[str] = set()
        self._gateway: Any = None
        self._started = False
        self._folder: ScratchFolder | None = None

    def launch(self) -> None:
        """Blocks until the JVM runs, and gives it to pyspark. Raises PySparkException if it ends before."""
        from pyspark import SparkContext
        from pyspark.java_gateway import launch_gateway

        reading, writing = os.pipe()
        threading.Thread(
            target=self._read, args=(reading,), name="spark-output", daemon=True
        ).start()
        before = os.environ.get(_SUBMIT_ARGS)
        os.environ[_SUBMIT_ARGS] = self._arguments(before or "pyspark-shell")
        try:
            self._gateway = launch_gateway(popen_kwargs={"stdout": writing, "stderr": writing})
        finally:
            os.close(writing)
            if before is None:
                del os.environ[_SUBMIT_ARGS]
            else:
                os.environ[_SUBMIT_ARGS] = before
        SparkContext._ensure_initialized(gateway=self._gateway)

    def started(self) -> None:
        """The session is there: errors from now on are told as they come."""
        self._started = True

    def close(self, patience: float = 3.0) -> None:
        """End the JVM, which removes its temporary folders; kill one that still runs after `patience`."""
        if self._gateway is not None:
            self._gateway.proc.stdin.close()
            try:
                self._gateway.proc.wait(patience)
            except subprocess.TimeoutExpired:
                self._gateway.proc.kill()
                self._gateway.proc.wait()
        if self._folder is not None:
            self._folder.close()
            self._folder = None

    @property
    def reason(self) -> str | None:
        """Why the session did not start, by what the JVM wrote; None: it wrote nothing."""
        text = "\n".join(self._lines)
        if "All masters are unresponsive" in text:  # Spark's own limit, over a minute
            return "the server there accepts connections, but does not answer as a Spark master"
        if self._failed:
            return (
                "the server there does not answer as a Spark master of this version, whose port is 7077 by "
                f"default (8080 is its web page): {root_cause(text)}"
            )
        return root_cause(text) if text else None

    def _arguments(self, given: str) -> str:
        """The user's settings as a file: values on a command line could be read by all users."""
        if not self._users.settings and not self._users.from_file:
            return given
        self._folder = ScratchFolder("heliograph-conf-")
        file = self._folder.path / "spark.properties"
        file.touch(mode=0o600)
        file.write_text(javaproperties.dumps(dict(self._users.settings), timestamp=False))
        defaults = [] if self._users.from_file else ["--load-spark-defaults"]
        return f"{shlex.join(['--properties-file', str(file), *defaults])} {given}"

    def _read(self, reading: int) -> None:
        with os.fdopen(reading, errors="replace") as output:
            for each in output:
                self._take(each.rstrip())

    def _take(self, line: str) -> None:
        self._lines.append(line)
        log.debug("Spark: %s", line)
        if self._started:
            if found := _ERROR.match(line):
                log.warning("Spark: %s", found[1][:300])
        elif found := _NOT_REACHED.search(line):
            self._failed.add(found[1])
            if len(self._failed) == self._masters:
                threading.Timer(_TRACE_SECONDS, self._gateway.proc.kill).start()
