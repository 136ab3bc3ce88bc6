"""A log file that is rolled every hour, as by Connect's own configuration: connect-2026-11-18-10.log."""

from __future__ import annotations

import logging
import stat
import time
from logging.handlers import BaseRotatingHandler
from pathlib import Path


class HourlyFile(BaseRotatingHandler):
    """Appends to `path`. Files of earlier hours are kept until someone deletes them, as in Connect."""

    def __init__(self, path: Path) -> None:
        """Raises OSError."""
        super().__init__(str(path.absolute()), "a", encoding="utf-8", errors="backslashreplace")
        self._path = Path(self.baseFilename)
        found = self._path.stat()
        self._hour = _hour(found.st_mtime if found.st_size else time.time())

    def shouldRollover(self, record: logging.LogRecord) -> bool:
        """Not for a clock that goes back; the hour that daylight saving time repeats has one file."""
        return _hour(record.created) > self._hour

    def doRollover(self) -> None:
        mode = stat.S_IMODE(self._path.stat().st_mode)
        self.close()
        earlier = self._path.with_name(f"{self._path.stem}-{self._hour}{self._path.suffix}")
        if not earlier.exists():  # another process that logs to the same file has not renamed it
            self._path.rename(earlier)
        self.stream = self._open()
        self._path.chmod(mode)  # the umask may have changed since the start
        self._hour = _hour(time.time())


def _hour(seconds: float) -> str:
    return time.strftime("%Y-%m-%d-%H", time.localtime(seconds))
