"""Brokers end with the process that started them, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from heliograph.embedded.child_process import ChildProcess
from support.processes import is_gone
from support.waiting import PATIENCE_SECONDS, eventually

CLUSTER_PARENT = """
import sys
from heliograph.embedded import Cluster
cluster = Cluster("orphan")
cluster.start()
print(cluster.folder, *cluster.pids.values(), flush=True)
sys.stdin.read()
"""

# The others stand for Spark's JVM and for multiprocessing: started later, and they outlive us.
PARENT_WITH_OTHER_CHILDREN = """
import os, subprocess, sys, time
from pathlib import Path
from heliograph.embedded.child_process import ChildProcess
kept = ChildProcess(["sleep", "600"], output=Path(os.devnull), scratch=Path(sys.argv[1]))
other = subprocess.Popen(["sleep", "600"], close_fds=False)
forked = os.fork()
if forked == 0:
    time.sleep(600)
print(kept.pid, other.pid, forked, flush=True)
sys.stdin.read()
"""


def children_of(pid: int) -> list[int]:
    return [child.pid for child in psutil.Process(pid).children(recursive=True)]


def start_parent(script: str, *arguments: str) -> tuple[subprocess.Popen[str], list[str]]:
    parent = subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    return parent, parent.stdout.readline().split()


def end(parent: subprocess.Popen[str], number: signal.Signals) -> None:
    parent.send_signal(number)
    parent.wait(PATIENCE_SECONDS)
    for pipe in (parent.stdin, parent.stdout):
        assert pipe is not None
        pipe.close()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_brokers_and_their_files_go_when_the_parent_is_killed(number: signal.Signals) -> None:
    parent, (folder, *brokers) = start_parent(CLUSTER_PARENT)
    family = children_of(parent.pid)
    assert {int(pid) for pid in brokers} <= set(family)

    end(parent, number)

    eventually(lambda: [pid for pid in family if not is_gone(pid)], lambda left: not left)
    eventually(Path(folder).exists, lambda there: not there)


def test_other_children_of_the_parent_do_not_keep_it_alive(tmp_path: Path) -> None:
    parent, pids = start_parent(PARENT_WITH_OTHER_CHILDREN, str(tmp_path / "scratch"))
    kept, *others = map(int, pids)

    end(parent, signal.SIGKILL)

    try:
        eventually(lambda: is_gone(kept), bool)
        assert not any(is_gone(other) for other in others)
    finally:
        for other in others:
            os.kill(other, signal.SIGKILL)


def test_nothing_is_left_when_the_program_ends_by_itself(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    before = set(children_of(os.getpid()))

    process = ChildProcess(["sh", "-c", "exit 7"], output=tmp_path / "out", scratch=scratch)

    assert process.wait(PATIENCE_SECONDS)
    assert process.exit_code == 7
    assert set(children_of(os.getpid())) == before
    assert scratch.is_dir(), "only an orphan's folder is removed"


def test_output_goes_to_its_file(tmp_path: Path) -> None:
    command = ["sh", "-c", "echo told; echo warned >&2"]

    process = ChildProcess(command, output=tmp_path / "out", scratch=None)

    assert process.wait(PATIENCE_SECONDS)
    assert (tmp_path / "out").read_text() == "told\nwarned\n"


def test_a_killed_program_reports_its_signal(tmp_path: Path) -> None:
    process = ChildProcess(["sleep", "600"], output=tmp_path / "out", scratch=None)
    assert process.exit_code is None

    process.kill()

    assert process.wait(PATIENCE_SECONDS)
    assert process.exit_code == 128 + signal.SIGKILL
