"""What any user of a machine, or its administrator, can see of processes: arguments and environments."""

from __future__ import annotations

import threading
from pathlib import Path


class Watch(threading.Thread):
    """The arguments and environments of a process and of all that it starts."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.seen: dict[str, str] = {}
        self._pid = pid
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.wait(0.5):
            for pid in _descendants(self._pid):
                for what in ("cmdline", "environ"):
                    if text := _read(Path("/proc", str(pid), what)):
                        self.seen[f"{what} of {pid}"] = text

    def stop(self) -> dict[str, str]:
        self._over.set()
        self.join()
        return self.seen


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""  # gone


def _descendants(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        fields = _read(stat).rpartition(")")[2].split()
        if fields:
            children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, waiting = [], [root]
    while waiting:
        found.append(waiting.pop())
        waiting += children.get(found[-1], [])
    return found
