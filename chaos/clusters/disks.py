"""Small disks that can be filled: a tmpfs for each broker's data, and a file that takes the free space."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

from chaos.errors import ChaosError

#: Enough for the records of a long run.
_SIZE = "1g"
_FILLER = "filler"
_PAGE_BYTES = 4096


class SmallDisks:
    """One per node, mounted where an embedded cluster in `folder` keeps that node's data."""

    def __init__(self, folder: Path, nodes: int) -> None:
        self._mounts = {node: folder / f"node-{node}" / "data" for node in range(1, nodes + 1)}
        self._mounted: list[Path] = []

    def mount(self) -> None:
        """Raises ChaosError without the right to mount (root)."""
        for path in self._mounts.values():
            path.mkdir(parents=True)
            command = ["mount", "-t", "tmpfs", "-o", f"size={_SIZE}", "tmpfs", str(path)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise ChaosError(
                    f"cannot mount a tmpfs ({done.stderr.strip()}); "
                    "run as root, or without the fault full-disk"
                )
            self._mounted.append(path)

    def unmount(self) -> None:
        for path in self._mounted:
            subprocess.run(["umount", "--lazy", str(path)], check=False)
        self._mounted.clear()

    def fill(self, node: int) -> None:
        """Fills the disk to the last page, while the broker writes to it as well."""
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
