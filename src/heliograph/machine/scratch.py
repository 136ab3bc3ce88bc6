"""A temporary folder that goes with its process; what a killed one leaves, the next that starts removes.

    <tmp>/heliograph-jvm-x7d2/owner     locked (flock) as long as its process lives

The kernel gives up the lock of whoever dies, however it dies. So a lock that can be had is that of the
dead, in whatever container or with whatever process id it lived.
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
    """`path` is there until `close`. `prefix` says what is in it; folders of the same kind are swept."""

    def __init__(self, prefix: str) -> None:
        _sweep(prefix)
        self.path = Path(tempfile.mkdtemp(prefix=prefix))
        # Locked before it has its name: whoever sweeps now sees no owner, and leaves the folder alone.
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
        except OSError as e:  # somebody else sweeps, too
            log.debug("%s: %s", folder, e)


def _remove_if_dead(folder: Path) -> None:
    try:
        lock = os.open(folder / _OWNER, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return  # being made just now, or by a version that had no owners
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder)
        log.info("%s: removed, its process was killed", folder)
    except BlockingIOError:
        pass  # its process lives
    finally:
        os.close(lock)
