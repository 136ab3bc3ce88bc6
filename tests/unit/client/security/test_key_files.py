"""Key files for libraries are removed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from heliograph.client.security import key_files
from heliograph.client.security.key_files import KEYSTORE, KEYTAB, key_file, sweep_key_folders

HOLDER = """
import sys, tempfile
tempfile.tempdir = sys.argv[1]
from heliograph.client.security import key_files
if sys.argv[2] == "disk":
    key_files._in_memory = lambda *_: None
with key_files.key_file("keystore.pem", b"private") as path:
    print(path, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _own_folder_for_temporary_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def held(tmp_path: Path, where: str) -> subprocess.Popen[str]:
    """Another process in the midst of using a key."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path), where],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline()
    return process


def end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def made_old(tmp_path: Path) -> None:
    for folder in tmp_path.iterdir():
        os.utime(folder, (time.time() - 3600,) * 2)


@pytest.mark.parametrize("where", ["memory", "disk"])
def test_a_library_reads_it_and_then_it_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    if where == "disk":
        monkeypatch.setattr(key_files, "_in_memory", lambda *_: None)

    with key_file(KEYTAB, b"private") as path:
        assert Path(path).read_bytes() == b"private"
        assert Path(path).read_bytes() == b"private", "OpenSSL reads it twice"

    assert not Path(path).exists()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="this system has no files in memory")
def test_a_killed_process_leaves_nothing_where_files_can_be_in_memory(tmp_path: Path) -> None:
    process = held(tmp_path, "memory")
    assert list(tmp_path.iterdir()) == []
    end(process)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_on_a_disk_goes_when_the_next_starts(tmp_path: Path) -> None:
    process = held(tmp_path, "disk")
    try:
        (folder,) = tmp_path.iterdir()
        assert (folder.stat().st_mode & 0o777, folder.name[:15]) == (0o700, "heliograph-key-")
        assert (folder / KEYSTORE).stat().st_mode & 0o777 == 0o600
        made_old(tmp_path)
        assert sweep_key_folders() == 0, "its process lives"
    finally:
        end(process)

    assert (folder / KEYSTORE).exists()
    assert sweep_key_folders() == 1
    assert list(tmp_path.iterdir()) == []


def test_folders_of_before_are_swept_and_all_others_stay(tmp_path: Path) -> None:
    def folder(name: str, *files: str) -> None:
        (tmp_path / name).mkdir()
        for file in files:
            (tmp_path / name / file).write_text("private")

    folder("heliograph-abc", KEYSTORE)
    folder("heliograph-def", KEYTAB)
    folder("heliograph-jvm-1", "owner", "jvm.log")
    folder("heliograph-query", "commits")
    folder("heliograph-both", KEYSTORE, "mine.txt")
    folder("other-abc", KEYSTORE)
    (tmp_path / "heliograph-link").symlink_to(tmp_path / "other-abc")
    (tmp_path / "heliograph-file").write_text("")
    made_old(tmp_path)
    folder("heliograph-new", KEYSTORE)

    assert sweep_key_folders() == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "heliograph-both",
        "heliograph-file",
        "heliograph-jvm-1",
        "heliograph-link",
        "heliograph-new",
        "heliograph-query",
        "other-abc",
    ]
