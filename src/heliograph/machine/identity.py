"""Names that tell a process that was started again from a second one beside it.

A name is a file with a lock on it, which the kernel takes off when the process ends, however it ends. So
whoever gets a name knows that nobody on this machine has it any more.
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

#: More services with one purpose than this on one machine get no name.
_MOST = 16


class Identity:
    """The first free name for a purpose on this machine; `name` is None if none can be had."""

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
            log.info("%s: no names can be kept here: %s", base, e)

    def close(self) -> None:
        """After an end in order nobody is to come back: the name is thrown away."""
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
        # The host's name, too: a folder that came with an image is on many machines.
        self.name = f"{re.sub('[^a-zA-Z0-9._-]', '-', os.uname().nodename)[:64]}-{token}"
        return True
