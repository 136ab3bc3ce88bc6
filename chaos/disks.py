"""Disks that can be full: a small tmpfs for each broker's data, and a file that takes the rest of it."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

from chaos.errors import ChaosError

#: Takes the records of a long run.
_SIZE = "1g"
_FILLER = "filler"
_PAGE_BYTES = 4096


class SmallDisks:
    """One per node, mounted where an embedded cluster in `folder` keeps that node's data."""

    def __init__(self, folder: Path, nodes: int) -> None:
        self._mounts = {node: folder / f"node-{node}" / "data" for node in range(1, nodes + 1)}
        self._mounted: list[Path] = []

    def mount(self) -> None:
        """ChaosError where this is not allowed: mounting takes root."""
        for path in self._mounts.values():
            path.mkdir(parents=True)
            command = ["mount", "-t", "tmpfs", "-o", f"size={_SIZE}", "tmpfs", str(path)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise ChaosError(
                    f"a small disk cannot be mounted ({done.stderr.strip()}); "
                    "run as root, or leave the fault full-disk out"
                )
            self._mounted.append(path)

    def unmount(self) -> None:
        for path in self._mounted:
            subprocess.run(["umount", "--lazy", str(path)], check=False)
        self._mounted.clear()

    def fill(self, node: int) -> None:
        """To the last page, while the broker takes its own share of what is left."""
        path = self._mounts[node]
        status = os.statvfs(path)
        size, taken = status.f_bavail * status.f_frsize, 0
        with (path / _FILLER).open("wb") as file:
            while size >= _PAGE_BYTES:
                try:
                    os.posix_fallocate(file.fileno(), taken, size)
                    taken += size
                except OSError as e:
                    if e.errno != errno.ENOSPC:
                        raise
                    size //= 2

    def empty(self, node: int) -> None:
        (self._mounts[node] / _FILLER).unlink(missing_ok=True)
