"""The memory of processes of this machine."""

from __future__ import annotations

import os
from pathlib import Path


def resident_bytes(pid: int | None = None) -> int:
    """Resident memory of a process, or of this one; 0 if it is not known: it has ended, or this is not
    Linux."""
    try:
        fields = Path(f"/proc/{'self' if pid is None else pid}/statm").read_text().split()
    except OSError:
        return 0
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")
