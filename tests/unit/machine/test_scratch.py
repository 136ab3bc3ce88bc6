from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from heliograph.machine.scratch import ScratchFolder

OWNER = """
import sys, tempfile
tempfile.tempdir = sys.argv[1]
from heliograph.machine.scratch import ScratchFolder
print(ScratchFolder("kept-").path, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _own_folder_for_temporary_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@contextmanager
def owner(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Another process, and its folder."""
    command = [sys.executable, "-c", OWNER, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process, Path(process.stdout.readline().strip())
        finally:
            process.kill()


def test_what_a_killed_process_left_goes_when_the_next_starts(tmp_path: Path) -> None:
    with owner(tmp_path) as (process, folder):
        (folder / "jvm.log").write_text("last words")
        first = ScratchFolder("kept-")
        assert folder.is_dir(), "its process lives"

        process.send_signal(signal.SIGKILL)
        process.wait()
        second = ScratchFolder("kept-")

    assert not folder.exists()
    assert first.path.is_dir()
    assert first.path != second.path
    for each in (first, second):
        each.close()
    assert list(tmp_path.iterdir()) == []


def test_what_has_no_owner_or_another_name_stays(tmp_path: Path) -> None:
    (tmp_path / "kept-by-an-older-version").mkdir()
    (tmp_path / "another").mkdir()
    (tmp_path / "kept-file").write_text("")

    ScratchFolder("kept-").close()

    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "another",
        "kept-by-an-older-version",
        "kept-file",
    ]
