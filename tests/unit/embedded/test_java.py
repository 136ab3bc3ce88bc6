from __future__ import annotations

from pathlib import Path

import pytest

from heliograph.errors import EnvironmentProblem
from heliograph.machine.java import find_java, java_version, require_java


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


def test_a_missing_java_is_one_sentence() -> None:
    with pytest.raises(EnvironmentProblem, match="not found in JAVA_HOME or on the PATH"):
        require_java({"PATH": "/nowhere"})


def test_a_java_home_without_java_is_named(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match=f"JAVA_HOME is '{tmp_path}'"):
        require_java({"JAVA_HOME": str(tmp_path)})


def test_an_old_java_is_named_with_its_version(tmp_path: Path) -> None:
    java = fake_java(tmp_path, "11.0.2")

    with pytest.raises(EnvironmentProblem, match=f"17 or later is needed, {java} is version 11"):
        require_java({"JAVA_HOME": str(tmp_path)})
