"""Runs a real Spark standalone cluster from the pip package: a master, and nodes with a worker daemon
each."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import psutil

from chaos.errors import ChaosError
from harness.processes import children, kill, runs
from heliograph.embedded.child_process import ChildProcess
from heliograph.machine.java import java_environment
from heliograph.spark.jvm import spark_home

_START_SECONDS = 180.0  # of a JVM, beside six brokers
_EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
_ADDRESS = re.compile(r"Starting Spark master at (spark://\S+)")


_REGISTERED = re.compile("Successfully registered (with) master")


class SparkCluster:
    """`master` is its address. Executors start and end with an application."""

    def __init__(
        self,
        folder: Path,
        nodes: Sequence[str] = ("worker-1", "worker-2"),
        settings: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`settings`: of Spark, for master and workers; a driver has its own."""
        self.nodes = nodes
        self._folder = folder
        self._settings = settings
        self._processes: dict[str, ChildProcess] = {}
        self._starts: dict[str, int] = {}
        self.master = ""

    def __enter__(self) -> SparkCluster:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._write_settings()
        try:
            self._run("master", "master", "--host", _host(), "--port", "0", "--webui-port", "0")
            self.master = self._await("master", _ADDRESS)
            for node in self.nodes:
                self._run_worker(node)
            for node in self.nodes:
                self._await(node, _REGISTERED)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            if not process.wait(10.0):
                process.kill()
                process.wait(10.0)
        self._processes.clear()

    def executors(self, node: str | None = None) -> list[psutil.Process]:
        """Of one node, or of all. A worker may also have a zombie child: the bash from which `spark-class`
        reads java's command line may end after the script has become that java, which never waits for it."""
        found = []
        for each in self.nodes if node is None else [node]:
            if each in self._processes:
                below = children(self._processes[each].pid, recursive=False)
                found += [child for child in below if runs(child, _EXECUTOR)]
        return found

    def executor_families(self, node: str | None = None) -> list[psutil.Process]:
        """Executors with their Python daemons and workers."""
        executors = self.executors(node)
        return [*executors, *(each for executor in executors for each in children(executor.pid))]

    def kill_node(self, node: str) -> None:
        """kill -9 of everything on it at once: the worker daemon, executors and Python processes."""
        process = self._processes.pop(node)
        family = children(process.pid)
        process.kill()
        for each in family:
            kill(each)
        process.wait(10.0)

    def start_node(self, node: str) -> None:
        """Starts a new worker daemon after `kill_node`; returns when it is registered."""
        self._run_worker(node)
        self._await(node, _REGISTERED)

    def _run_worker(self, node: str) -> None:
        options = ("--cores", "8", "--memory", "4g", "--webui-port", "0")
        self._run(
            node, "worker", *options, "--work-dir", str(self._folder / f"work-{node}"), self.master
        )

    def _run(self, name: str, what: str, *options: str) -> None:
        main = f"org.apache.spark.deploy.{what}.{what.capitalize()}"
        given = ("--properties-file", str(self._properties))
        java = [f"{name}={value}" for name, value in java_environment().items()]
        script = str(spark_home() / "bin" / "spark-class")
        command = ["/usr/bin/env", *java, script, main, *given, *options]
        self._starts[name] = self._starts.get(name, 0) + 1
        log = self._log(name)
        log.touch()
        # env and spark-class end in `exec`, so the pid stays the same.
        self._processes[name] = ChildProcess(command, output=log, scratch=None)

    @property
    def _properties(self) -> Path:
        return self._folder / "spark.properties"

    def _write_settings(self) -> None:
        lines = (f"{name} {value}\n" for name, value in self._settings.items())
        self._properties.write_text("".join(lines))
        self._properties.chmod(0o600)

    def _log(self, name: str) -> Path:
        return self._folder / f"{name}.{self._starts[name]}.log"

    def _await(self, name: str, sign: re.Pattern[str]) -> str:
        log = self._log(name)
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if found := sign.search(log.read_text(errors="replace")):
                return found[1]
            time.sleep(0.1)
        end = log.read_text(errors="replace")[-500:]
        raise ChaosError(f"Spark's {name} did not start within {_START_SECONDS:.0f} s: {end}")


def _host() -> str:
    """The host name that a driver on this machine gives to executors."""
    return os.uname().nodename
