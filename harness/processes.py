"""A worker as a child process, and an orderly end of it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

_STOP_SECONDS = 30.0


@contextmanager
def running_process(
    command: Sequence[str], console: Path, environment: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Until the block ends; what it says is added to `console`."""
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
