"""Processes that may end between two questions."""

from __future__ import annotations

import psutil


def is_gone(process: psutil.Process | int) -> bool:
    """A zombie has ended, too: only its parent has not asked how."""
    try:
        found = psutil.Process(process) if isinstance(process, int) else process
        return found.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
