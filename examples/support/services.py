"""Starts a mirror or a worker: by command, as a reader does, or in this process for the short form."""

from __future__ import annotations

import logging
import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol as Interface

from examples.support.protocol import PATIENCE_SECONDS, StoryFailed
from harness.mirrors import heliograph_command
from heliograph.config.connectors.read_connectors import assemble
from heliograph.config.connectors.rest import read_rest_config
from heliograph.config.connectors.worker import load_worker
from heliograph.config.formats.load import LoadOptions, load
from heliograph.config.mirror_config import MirrorConfig
from heliograph.connect.logger_levels import LoggerLevels
from heliograph.connect.worker_herder import WorkerHerder, work_group
from heliograph.runtime.driver import Mirror
from heliograph.runtime.progress import Progress
from heliograph.spark.session import LocalSpark
from heliograph.web.listener.server import RestServer, now_ms

_LOG = logging.getLogger("heliograph")


@dataclass(frozen=True, kw_only=True)
class Launch:
    """`config` None: a worker that is configured by its environment alone. `script`: the user's own script,
    which starts the mirror of `config`."""

    config: Path | None
    log: Path
    environment: Mapping[str, str]
    secrets: Sequence[Path] = ()
    script: Path | None = None


class Service:
    """A mirror or worker that runs. Its log begins at `log_start` of the file: others may have used it."""

    def __init__(self, log: Path, stop: Callable[[], int], alive: Callable[[], bool]) -> None:
        self.log = log
        self.log_start = 0
        self.stop = stop
        self._alive = alive

    def said(self) -> str:
        return self.log.read_bytes()[self.log_start :].decode(errors="replace")

    def raise_if_ended(self) -> None:
        if not self._alive():
            raise StoryFailed(f"it has ended; its log ends with:\n{self.said()[-3000:]}")


class Services(Interface):
    def mirror(self, launch: Launch) -> Service: ...

    def worker(self, launch: Launch) -> Service: ...


@contextmanager
def running(start: Callable[[Launch], Service], launch: Launch) -> Iterator[Service]:
    """Until the block ends; the end of its log goes with an error."""
    before = launch.log.stat().st_size if launch.log.exists() else 0
    service = start(launch)
    service.log_start = before
    try:
        yield service
    except BaseException as e:
        e.add_note(f"the log of {launch.log.name} ends with:\n{service.said()[-3000:]}")
        raise
    finally:
        service.stop()


class Commands:
    """`heliograph run` and `heliograph serve`, as processes."""

    def mirror(self, launch: Launch) -> Service:
        secrets = [word for path in launch.secrets for word in ("--secrets", str(path))]
        if launch.script is not None:
            return self._start(["bash", str(launch.script)], launch)
        return self._start(heliograph_command("run", str(launch.config), *secrets), launch)

    def worker(self, launch: Launch) -> Service:
        arguments = [] if launch.config is None else [str(launch.config)]
        return self._start(heliograph_command("serve", *arguments), launch)

    def _start(self, command: Sequence[str], launch: Launch) -> Service:
        with launch.log.open("ab") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **launch.environment},
            )

        def stop() -> int:
            process.terminate()
            try:
                return process.wait(PATIENCE_SECONDS)
            finally:
                process.kill()
                process.wait()

        return Service(launch.log, stop, lambda: process.poll() is None)


class InProcess:
    """The same, in threads of this process and on one Spark: a story without the seconds of a start."""

    def __init__(self, spark: LocalSpark) -> None:
        self._spark = spark

    def mirror(self, launch: Launch) -> Service:
        if launch.script is not None:  # it writes the file, and `true` stands for the mirror
            environment = {**os.environ, **launch.environment}
            subprocess.run(["bash", str(launch.script)], env=environment, check=True)
        if launch.config is None:
            raise StoryFailed("a mirror needs a file")
        handler = _log_to(launch.log)
        config = load(launch.config, LoadOptions(secrets=launch.secrets), launch.environment)
        for warning in config.warnings:
            _LOG.warning("%s", warning)
        stop = threading.Event()
        mirror = Mirror(config, self._spark, stop=stop, progress=Progress())
        return _threaded(mirror, stop, launch.log, lambda: _forget(handler))

    def worker(self, launch: Launch) -> Service:
        handler = _log_to(launch.log)
        worker = load_worker(launch.config, launch.environment)
        settings = {name: each.value for name, each in worker.settings.items()}
        rest = read_rest_config(settings, launch.environment)
        url = rest.advertised_url(os.uname().nodename)
        stop, progress, levels = threading.Event(), Progress(), LoggerLevels(now_ms)
        nothing: MirrorConfig = assemble([], worker)
        group = work_group(worker, url)
        mirror = Mirror(nothing, self._spark, stop=stop, progress=progress, group=group)
        herder = WorkerHerder(worker, url, mirror, progress, levels.set)
        server = RestServer(rest, herder, levels, herder.set_level_everywhere)
        server.start()
        herder.start()

        def end() -> None:
            server.stop()
            herder.close()
            _forget(handler)

        return _threaded(mirror, stop, launch.log, end)


def _threaded(mirror: Mirror, stop: threading.Event, log: Path, end: Callable[[], None]) -> Service:
    failures: list[BaseException] = []
    ended = threading.Event()

    def run() -> None:
        try:
            mirror.run()
        except BaseException as e:  # noqa: BLE001 - the story fails with it
            failures.append(e)

    thread = threading.Thread(target=run, name="mirror of a story")
    thread.start()

    def halt() -> int:
        stop.set()
        thread.join(PATIENCE_SECONDS)
        if not ended.is_set():
            ended.set()
            end()
        return 1 if failures or thread.is_alive() else 0

    return Service(log, halt, lambda: thread.is_alive() and not failures)


def _log_to(path: Path) -> logging.Handler:
    handler = logging.FileHandler(path)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    _LOG.addHandler(handler)
    _LOG.setLevel(logging.INFO)
    return handler


def _forget(handler: logging.Handler) -> None:
    _LOG.removeHandler(handler)
    with suppress(OSError):
        handler.close()
