"""A temporary folder of one process; the next start removes the folders of killed processes.

    <tmp>/heliograph-jvm-x7d2/owner     locked (flock) while its process runs

The kernel releases the lock when the process ends. So if the lock is free, the process is gone, whatever its
container or process id was.
"""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import tempfile
from pathlib import Path

log = logging.getLogger(__name__)

_OWNER = "owner"


class ScratchFolder:
    """`path` exists until `close`. Folders with the same `prefix` whose process is gone are removed."""

    def __init__(self, prefix: str) -> None:
        _sweep(prefix)
        self.path = Path(tempfile.mkdtemp(prefix=prefix))
        # Locked before it is renamed: a sweep in between finds no owner file, and keeps the folder.
        unnamed = self.path / f"{_OWNER}.new"
        self._lock = os.open(unnamed, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        unnamed.rename(self.path / _OWNER)

    def close(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def _sweep(prefix: str) -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        try:
            if folder.lstat().st_uid == os.getuid():
                _remove_if_dead(folder)
        except OSError as e:  # another process removes it, too
            log.debug("%s: %s", folder, e)


def _remove_if_dead(folder: Path) -> None:
    try:
        lock = os.open(folder / _OWNER, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return  # being created, or by a version without owner files
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder)
        log.info("%s: removed; its process was killed", folder)
    except BlockingIOError:
        pass  # its process is running
    finally:
        os.close(lock)
