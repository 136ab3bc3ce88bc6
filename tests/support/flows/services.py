"""`heliograph run` or `serve` as a process, with a log, a REST API and a Spark configuration of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import javaproperties

from heliograph.embedded.ports import free_port
from heliograph.embedded.tools import SHORT_LIVED
from support.java.connect_worker import Rest
from support.waiting import PATIENCE_SECONDS

_JVM = " ".join(SHORT_LIVED)
#: The JVMs of a Spark that runs for a test, wherever Spark's own scripts start them.
QUICK_SPARK = {"SPARK_DAEMON_JAVA_OPTS": _JVM, "SPARK_LAUNCHER_OPTS": _JVM}
_QUICK_APPLICATION = {f"spark.{who}.extraJavaOptions": _JVM for who in ("driver", "executor")}
_PLAIN = ("-m", "heliograph")
_DEBUG = (
    "-c",
    "import logging; logging.basicConfig(level=logging.DEBUG); "
    "from heliograph.cli.main import main; main()",
)


class Service:
    def __init__(
        self,
        folder: Path,
        command: str,
        properties: Mapping[str, str],
        *arguments: str,
        environment: Mapping[str, str],
        listeners: Sequence[str] = (),
        debug: bool = False,
    ) -> None:
        self.rest = Rest(free_port())
        self.log = folder / f"{command}.log"
        self.config = folder / f"{command}.properties"
        every = [f"http://127.0.0.1:{self.rest.port}", *listeners]
        given = {"listeners": ",".join(every), **properties}
        self.config.write_text(javaproperties.dumps(given, timestamp=False))
        self.config.chmod(0o600)
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, *(_DEBUG if debug else _PLAIN), command, self.config, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
            )

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def stop(self) -> int:
        """In order; its exit code."""
        self.process.terminate()
        return self.process.wait(PATIENCE_SECONDS)


@contextmanager
def service(
    folder: Path,
    command: str,
    properties: Mapping[str, str],
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    listeners: Sequence[str] = (),
    debug: bool = False,
) -> Iterator[Service]:
    """`listeners` are further ones; `debug`: every logger at DEBUG, from the first line on."""
    one = Service(
        folder,
        command,
        properties,
        *arguments,
        environment=environment or spark_environment(folder),
        listeners=listeners,
        debug=debug,
    )
    try:
        yield one
    except BaseException as e:
        e.add_note(one.said()[-4000:])
        raise
    finally:
        one.process.kill()
        one.process.wait()


def spark_environment(
    folder: Path, settings: Mapping[str, str] = types.MappingProxyType({})
) -> dict[str, str]:
    """For a process that starts a Spark by these settings, not the one of these tests."""
    every = {**_QUICK_APPLICATION, **settings}
    lines = (f"{name} {value}\n" for name, value in every.items())
    (folder / "spark-defaults.conf").write_text("".join(lines))
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYSPARK_")}
    return {**environment, **QUICK_SPARK, "SPARK_CONF_DIR": str(folder)}
