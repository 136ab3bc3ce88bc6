"""`connect-mirror-maker.sh` and `connect-distributed.sh`, with the usage of Kafka's own scripts.

Both are installed with the package, so that a user's scripts and units change nothing but the path.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from heliograph.cli.main import main
from heliograph.cli.output.escaping import visible
from heliograph.config.connectors.worker import load_worker
from heliograph.config.formats.load import load
from heliograph.errors import ConfigError

#: What kafka-run-class.sh reads; it is about a JVM of Kafka's, which there is not.
WITHOUT_EFFECT = (
    *("KAFKA_HEAP_OPTS", "KAFKA_LOG4J_OPTS", "KAFKA_OPTS", "KAFKA_JMX_OPTS", "JMX_PORT"),
    *("KAFKA_JVM_PERFORMANCE_OPTS", "KAFKA_GC_LOG_OPTS", "KAFKA_DEBUG", "EXTRA_ARGS"),
)


@dataclass(frozen=True, slots=True)
class Script:
    """`daemon` is the name that Kafka's script gives the process and its output file."""

    name: str
    usage: str
    command: str
    daemon: str


MIRROR_MAKER = Script(
    "connect-mirror-maker.sh", "[-daemon] mm2.properties [--clusters ALIAS …]", "run", "mirrorMaker"
)
DISTRIBUTED = Script(
    "connect-distributed.sh",
    "[-daemon] connect-distributed.properties",
    "serve",
    "connectDistributed",
)


def mirror_maker() -> None:
    _start(MIRROR_MAKER, sys.argv[1:])


def distributed() -> None:
    _start(DISTRIBUTED, sys.argv[1:])


def unused(environment: Mapping[str, str]) -> list[str]:
    """The variables that are set and have no effect."""
    return [name for name in WITHOUT_EFFECT if environment.get(name)]


def _start(script: Script, arguments: Sequence[str]) -> None:
    if not arguments:
        typer.echo(f"USAGE: {script.name} {script.usage}")
        sys.exit(1)  # as Kafka's
    if arguments[0] in ("-h", "--help"):
        typer.echo(
            f"usage: {script.name} {script.usage}\nthe same as: heliograph {script.command} …"
        )
        sys.exit(0)
    if names := unused(os.environ):
        typer.echo(f"warning: no effect without a JVM of Kafka's: {', '.join(names)}", err=True)
    if arguments[0] == "-daemon":
        sys.exit(_start_daemon(script, arguments[1:]))
    sys.argv = ["heliograph", script.command, *arguments]
    main()


def _start_daemon(script: Script, arguments: Sequence[str]) -> int:
    """In a session of its own, so that it outlives the terminal; its output goes to LOG_DIR."""
    if problems := _refused(script, arguments):
        for problem in problems:
            typer.echo(visible(f"error: {problem}", keep="\n"), err=True)
        return 2
    folder = Path(os.environ.get("LOG_DIR") or "logs")
    path = folder / f"{script.daemon}.out"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        output = path.open("wb")
    except OSError as e:
        typer.echo(f"error: LOG_DIR: {path}: cannot be written: {e.strerror}", err=True)
        return 1
    with output:
        command = [sys.executable, "-m", "heliograph", script.command, *arguments]
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    typer.echo(f"{script.name}: started, process {process.pid}, output in {path}", err=True)
    return 0


def _refused(script: Script, arguments: Sequence[str]) -> list[str]:
    """Why the configuration cannot be used: printed here, not into the output file."""
    if not arguments or arguments[0].startswith("-"):
        return []
    path = Path(arguments[0])
    try:
        load(path) if script is MIRROR_MAKER else load_worker(path)
    except ConfigError as e:
        return e.problems
    return []
