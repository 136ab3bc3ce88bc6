"""Child processes with an orderly end, and the processes below them."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil

from heliograph.embedded.child_process import ChildProcess

_STOP_SECONDS = 30.0


@contextmanager
def running_process(
    command: Sequence[str], console: Path, environment: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """A process with an environment of its own until the block ends; its output is appended to `console`."""
    with console.open("ab") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        finally:
            process.kill()
            process.wait()


@contextmanager
def running_child(command: Sequence[str], output: Path) -> Iterator[ChildProcess]:
    """Until the block ends: SIGTERM, and SIGKILL after 30 s."""
    process = ChildProcess(command, output=output, scratch=None)
    try:
        yield process
    finally:
        stop(process)


def stop(process: ChildProcess, seconds: float = _STOP_SECONDS) -> bool:
    """SIGTERM, and SIGKILL if it still runs after that time. Whether SIGTERM was enough."""
    process.terminate()
    ended = process.wait(seconds)
    if not ended:
        process.kill()
        process.wait(seconds)
    return ended


def family(process: psutil.Process | int) -> list[psutil.Process]:
    """A process and all below it; none if it has ended."""
    try:
        root = psutil.Process(process) if isinstance(process, int) else process
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def children(pid: int, *, recursive: bool = True) -> list[psutil.Process]:
    """The processes below one; none if it has ended."""
    try:
        return psutil.Process(pid).children(recursive=recursive)
    except psutil.NoSuchProcess:
        return []


def runs(process: psutil.Process, word: str) -> bool:
    """Whether its command line has this word; a process that has ended, or a zombie, has none."""
    try:
        return word in process.cmdline()
    except psutil.NoSuchProcess:
        return False


def kill(process: psutil.Process) -> None:
    # is_running compares the time of creation: a pid that was given to another process is left alone.
    if process.is_running():
        try:
            os.kill(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
