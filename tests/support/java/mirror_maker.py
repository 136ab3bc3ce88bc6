"""The real Java MirrorMaker 2 as a child process, and an orderly end of it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from heliograph.embedded.tools import SHORT_LIVED, mirror_maker_command
from support.waiting import PATIENCE_SECONDS


@contextmanager
def java_mirror_maker(properties: Mapping[str, str], folder: Path) -> Iterator[Path]:
    """Runs until the block ends, then stops in order, which is when it stores its offsets. Gives its log."""
    path, log = folder / "java-mm2.properties", folder / "mm2.log"
    path.write_text("".join(f"{key} = {value}\n" for key, value in properties.items()))
    command = mirror_maker_command(path, log=log, heap="512m", jvm_args=SHORT_LIVED)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        yield log
        process.terminate()
        process.wait(PATIENCE_SECONDS)
    finally:
        process.kill()
        process.wait()


def tail(log: Path) -> str:
    """What a failing test shows of it."""
    return log.read_text()[-3000:] if log.exists() else ""
