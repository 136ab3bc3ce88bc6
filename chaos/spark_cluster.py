"""A real Spark standalone cluster from the pip package: a master and two workers, one core each."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import psutil

from chaos.errors import ChaosError
from chaos.subjects import runs
from heliograph.embedded.child_process import KeptProcess
from heliograph.spark.jvm import spark_home

_WORKERS = 2
_START_SECONDS = 60.0
_EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
_ADDRESS = re.compile(r"Starting Spark master at (spark://\S+)")


class SparkCluster:
    """`master` is its address. Executors come with an application and go with it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: list[KeptProcess] = []
        self.master = ""

    def __enter__(self) -> SparkCluster:
        self._folder.mkdir(parents=True, exist_ok=True)
        try:
            self._run("master", "--host", _host(), "--port", "0", "--webui-port", "0")
            self.master = self._await("master", _ADDRESS)
            for number in range(1, _WORKERS + 1):
                work = self._folder / f"work-{number}"
                options = ("--cores", "8", "--memory", "4g", "--webui-port", "0")
                self._run(
                    "worker",
                    *options,
                    "--work-dir",
                    str(work),
                    self.master,
                    name=f"worker-{number}",
                )
            for number in range(1, _WORKERS + 1):
                self._await(f"worker-{number}", re.compile("Successfully registered (with) master"))
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            if not process.wait(10.0):
                process.kill()
                process.wait(10.0)
        self._processes.clear()

    def executors(self) -> list[psutil.Process]:
        """Beside them a worker may have a zombie, for good: the bash that `spark-class` reads java's command
        line from may end after the script has become that java, which knows of no such child."""
        found = []
        for process in self._processes:
            try:
                children = psutil.Process(process.pid).children()
            except psutil.NoSuchProcess:
                continue
            found += [child for child in children if runs(child, _EXECUTOR)]
        return found

    def _run(self, what: str, *options: str, name: str | None = None) -> None:
        main = f"org.apache.spark.deploy.{what}.{what.capitalize()}"
        command = [str(spark_home() / "bin" / "spark-class"), main, *options]
        log = self._folder / f"{name or what}.log"
        log.touch()
        # The class is a script that ends in `exec java`: the pid stays.
        self._processes.append(KeptProcess(command, output=log, scratch=None))

    def _await(self, name: str, sign: re.Pattern[str]) -> str:
        log = self._folder / f"{name}.log"
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if found := sign.search(log.read_text(errors="replace")):
                return found[1]
            time.sleep(0.1)
        raise ChaosError(f"Spark's {name} did not start: {log.read_text(errors='replace')[-500:]}")


def _host() -> str:
    """The name by which a driver on this machine tells executors to call back."""
    return os.uname().nodename
