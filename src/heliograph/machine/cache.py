"""The per-user cache: folders that are either complete or absent.

A folder is built under a temporary name and renamed when it is complete, so a killed process leaves no
incomplete one. A lock file lets a second process wait for the first one's result.
"""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_log = logging.getLogger(__name__)


def cache_folder(environment: Mapping[str, str] | None = None) -> Path:
    """$HELIOGRAPH_CACHE, else $XDG_CACHE_HOME/heliograph, else ~/.cache/heliograph."""
    environment = os.environ if environment is None else environment
    if own := environment.get("HELIOGRAPH_CACHE"):
        return Path(own).expanduser().absolute()
    if xdg := environment.get("XDG_CACHE_HOME"):
        return Path(xdg).expanduser().absolute() / "heliograph"
    return Path("~/.cache/heliograph").expanduser()


def build_once(folder: Path, build: Callable[[Path], None]) -> Path:
    """`folder`, filled by `build(temporary folder)`, in this process or in another.

    If `build` raises, nothing is left, and the next caller tries again.
    """
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder.with_name(f".{folder.name}.lock")):
        if folder.is_dir():
            return folder
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            build(temporary)
            temporary.chmod(0o755)
            temporary.rename(folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return folder


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds an flock on `path`; the kernel releases it when the process ends."""
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _log.info("waiting for another process that holds %s", path)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
