"""Stable names for processes: a restarted process gets its old name, a second one beside it another.

A name is a locked file. The kernel releases the lock when the process ends, so a process that gets a name
knows that no other process on this machine has it.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import re
import secrets
from pathlib import Path
from typing import IO

from heliograph.machine.cache import cache_folder

log = logging.getLogger(__name__)

#: Names per purpose and machine; further services get none.
_MOST = 16


class Identity:
    """The first free name for a purpose on this machine; `name` is None if there is none."""

    def __init__(self, purpose: str, folder: Path | None = None) -> None:
        self.name: str | None = None
        self._file: IO[str] | None = None
        base = folder or cache_folder() / "services"
        stem = hashlib.sha256(purpose.encode()).hexdigest()[:16]
        try:
            base.mkdir(parents=True, exist_ok=True)
            for number in range(_MOST):
                if self._take(base / f"{stem}-{number}"):
                    return
        except OSError as e:
            log.info("%s: cannot store process names: %s", base, e)

    def close(self) -> None:
        """After an orderly stop the name is deleted: no restart will need it."""
        if self._file is not None:
            Path(self._file.name).unlink(missing_ok=True)
            self._file.close()
            self._file = None

    def _take(self, path: Path) -> bool:
        file = path.open("a+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return False
        file.seek(0)
        token = file.read().strip()
        if not re.fullmatch(r"[0-9a-f]{16}", token):
            token = secrets.token_hex(8)
            file.truncate(0)
            file.write(token)
            file.flush()
        self._file = file
        # With the host name: a folder inside a container image exists on many machines.
        self.name = f"{re.sub('[^a-zA-Z0-9._-]', '-', os.uname().nodename)[:64]}-{token}"
        return True
