"""Runs programs to their end; a failure is one sentence with the end of what they printed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from containers.errors import LabError

_LAST_LINES = 15


def run(
    command: Sequence[str | Path],
    *,
    log: Path | None = None,
    environment: Mapping[str, str] | None = None,
    given: str | None = None,
    folder: Path | None = None,
    seconds: float | None = None,
) -> str:
    """What the program printed; with a `log` both streams go there. Raises LabError."""
    words = [str(each) for each in command]
    try:
        done = subprocess.run(
            words,
            input=given,
            capture_output=True,
            text=True,
            env=environment,
            cwd=folder,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        raise LabError(f"{' '.join(words[:4])}: not done after {seconds:.0f} s") from None
    if log is not None:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(done.stdout + done.stderr)
    if done.returncode != 0:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-_LAST_LINES:])
        raise LabError(f"{' '.join(words[:6])}: exit code {done.returncode}:\n{last}")
    return done.stdout


def require(*programs: str, package: str) -> None:
    """Raises LabError if a program is not on the PATH; `package` has it in Debian."""
    missing = [each for each in programs if shutil.which(each) is None]
    if missing:
        raise LabError(
            f"{', '.join(missing)}: not on the PATH; install it, on Debian: apt-get install {package}"
        )
