"""Compares the SHA-256 of fetched Kafka jars with recorded ones. To record those of a version:

python scripts/kafka_digests.py 4.3.1 > src/heliograph/embedded/kafka-4.3.1.sha256
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from heliograph.errors import EnvironmentProblem

_log = logging.getLogger(__name__)


def recorded(version: str) -> Mapping[str, str] | None:
    """By jar name; None for a version without a record."""
    file = resources.files("heliograph.embedded") / f"kafka-{version}.sha256"
    if not file.is_file():
        return None
    lines = (line.split() for line in file.read_text().splitlines() if not line.startswith("#"))
    return {name: digest for digest, name in lines}


def check_jars(version: str, folder: Path) -> None:
    """Raises EnvironmentProblem for a jar that differs from its record, or has none."""
    expected = recorded(version)
    if expected is None:
        _log.warning(
            "Kafka %s: no recorded digests for this version; the fetched jars are not verified",
            version,
        )
        return
    for jar in sorted(folder.glob("*.jar")):
        found = digest_of(jar)
        if jar.name not in expected:
            raise EnvironmentProblem(
                f"Kafka {version}: {jar.name}: not among the recorded jars; "
                "check the repository or the proxy that it was fetched from"
            )
        if found != expected[jar.name]:
            raise EnvironmentProblem(
                f"Kafka {version}: {jar.name}: expected SHA-256 {expected[jar.name]}, found {found}; "
                "it is not Maven Central's jar. Check the repository or the proxy that it was fetched from"
            )


def digest_of(jar: Path) -> str:
    with jar.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
