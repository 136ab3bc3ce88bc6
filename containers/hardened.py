"""Runs the image as the manifests do: not as root, a read-only root file system, no capabilities, 1 GB."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from containers.errors import LabError
from containers.images import TAG
from containers.shell import run

#: crun does not start on hosts with both kinds of control groups.
_PODMAN = ("podman", "--runtime", "runc", "--cgroup-manager", "cgroupfs")
HARDENED = (
    *("--read-only", "--tmpfs", "/tmp:rw,size=256m,mode=1777"),
    *("--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
    *("--memory", "1g", "--memory-swap", "1g"),
    *("--ulimit", "nofile=20000:20000", "--ulimit", "nproc=20000:20000"),
    # podman runs health checks by systemd, which need not be there; they are asked by `Container.health`.
    *("--pull", "never", "--no-healthcheck"),
)
_READY_SECONDS = 120.0
_STOP_SECONDS = 40


@dataclass(frozen=True, slots=True)
class Container:
    name: str

    def health(self) -> dict[str, Any] | None:
        """What /health answers; None: it is not ready."""
        command = [*_PODMAN, "exec", self.name]
        command += ["/opt/heliograph/bin/python", "-m", "heliograph.cli.container", "health"]
        done = subprocess.run(command, capture_output=True, text=True)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def wait_until_ready(self) -> float:
        """Seconds until it was."""
        began = time.monotonic()
        while self.health() is None:
            if not self.running or time.monotonic() - began > _READY_SECONDS:
                raise LabError(
                    f"container {self.name}: not ready; it logged:\n{self.logs()[-3000:]}"
                )
            time.sleep(0.5)
        return time.monotonic() - began

    @property
    def running(self) -> bool:
        text = run([*_PODMAN, "inspect", "--format", "{{.State.Running}}", self.name])
        return text.strip() == "true"

    def logs(self) -> str:
        done = subprocess.run([*_PODMAN, "logs", self.name], capture_output=True, text=True)
        return done.stdout + done.stderr

    def memory_peak(self) -> int:
        """Bytes that processes and files in /tmp held at most; 0 if the kernel does not say."""
        path = run([*_PODMAN, "inspect", "--format", "{{.State.CgroupPath}}", self.name]).strip()
        for file in (
            Path(f"/sys/fs/cgroup/memory{path}/memory.max_usage_in_bytes"),
            Path(f"/sys/fs/cgroup{path}/memory.peak"),
        ):
            if file.exists():
                return int(file.read_text())
        return 0

    def stop(self) -> int:
        """Its exit code after SIGTERM."""
        run([*_PODMAN, "stop", "--time", str(_STOP_SECONDS), self.name])
        return int(run([*_PODMAN, "inspect", "--format", "{{.State.ExitCode}}", self.name]))


@contextmanager
def running(
    name: str, mounts: Mapping[Path, str], arguments: Sequence[str] = (), tag: str = TAG
) -> Iterator[Container]:
    """A container until the block ends; `mounts` are read-only."""
    volumes = [word for host, inside in mounts.items() for word in ("-v", f"{host}:{inside}:ro")]
    run([*_PODMAN, "run", "-d", "--name", name, *HARDENED, *volumes, tag, *arguments])
    try:
        yield Container(name)
    finally:
        subprocess.run([*_PODMAN, "rm", "-f", "-t", "1", name], capture_output=True)


def run_once(
    arguments: Sequence[str] = (), options: Sequence[str] = (), tag: str = TAG
) -> subprocess.CompletedProcess[str]:
    """A container that ends by itself."""
    command = [*_PODMAN, "run", "--rm", *HARDENED, *options, tag, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)
