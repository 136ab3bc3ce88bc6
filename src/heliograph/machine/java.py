"""Finds Java on this machine; Spark and Kafka 4 need version 17 or later."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from heliograph.errors import EnvironmentProblem

MINIMUM_JAVA = 17

_VERSION = re.compile(r'version "(\d+)(?:\.(\d+))?')


def java_version(text: str) -> int | None:
    """The feature release in the output of `java -version`; None if there is none.

    Up to Java 8 the feature release was the second number ("1.8.0_402" is Java 8). Lines before the
    version ("Picked up JAVA_TOOL_OPTIONS: …") are skipped.
    """
    found = _VERSION.search(text)
    if found is None:
        return None
    first, second = int(found[1]), found[2]
    return int(second) if first == 1 and second is not None else first


def find_java(environment: Mapping[str, str]) -> Path:
    """JAVA_HOME takes precedence over PATH, as in Spark's and Kafka's scripts."""
    home = environment.get("JAVA_HOME")
    if home:
        java = Path(home) / "bin" / "java"
        if not os.access(java, os.X_OK):
            raise EnvironmentProblem(
                f"Java: JAVA_HOME is {home!r}, but there is no executable {java}; "
                f"point JAVA_HOME to a Java {MINIMUM_JAVA} or later, or unset it"
            )
        return java
    on_path = shutil.which("java", path=environment.get("PATH"))
    if on_path is None:
        raise EnvironmentProblem(
            f"Java: not found in JAVA_HOME or on the PATH; install Java {MINIMUM_JAVA} or later"
        )
    return Path(on_path)


def require_java(environment: Mapping[str, str] | None = None) -> Path:
    """The `java` to run, version 17 or later. Raises EnvironmentProblem."""
    java = find_java(os.environ if environment is None else environment)
    version = _version_of(java)
    if version < MINIMUM_JAVA:
        raise EnvironmentProblem(
            f"Java: version {MINIMUM_JAVA} or later is needed, {java} is version {version}; "
            "set JAVA_HOME to a later one"
        )
    return java


@functools.cache  # each check starts a JVM, and every broker needs one
def _version_of(java: Path) -> int:
    try:
        done = subprocess.run(
            [java, "-version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired) as e:
        raise EnvironmentProblem(f"Java: {java} cannot be run: {e}") from e
    version = java_version(done.stderr + done.stdout)
    if version is None:
        raise EnvironmentProblem(f"Java: {java} -version prints no version; check that it is Java")
    return version
