"""Temporary files for libraries that read keys from a file only (OpenSSL, Kerberos).

On Linux the file is in memory and has no name, so a killed process leaves nothing. Elsewhere it has mode
0600 in a folder of mode 0700, and the next start removes what a killed process has left:

    <tmp>/heliograph-key-x7d2/keystore.pem      locked (flock) while it is in use
"""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

log = logging.getLogger(__name__)

KEYSTORE, KEYTAB = "keystore.pem", "keytab"
_PREFIX = "heliograph-key-"
#: Earlier versions wrote keys to folders of this name, without a lock, also on Linux.
_OLD_PREFIX = "heliograph-"
_OLD_SECONDS = 60.0


@contextmanager
def key_file(name: str, content: bytes) -> Iterator[str]:
    """The path of a file with this content, while the block runs; `name` is KEYSTORE or KEYTAB."""
    in_memory = _in_memory(name, content)
    if in_memory is not None:
        try:
            yield f"/proc/self/fd/{in_memory}"
        finally:
            os.close(in_memory)
        return
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as folder:  # made with mode 0700
        path = Path(folder, name)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.write(content)
            file.flush()
            yield str(path)


def _in_memory(name: str, content: bytes) -> int | None:
    """The descriptor of a file without a name; None if the system has no such files."""
    if not hasattr(os, "memfd_create"):
        return None
    try:
        descriptor = os.memfd_create(name)
    except OSError as e:  # a kernel, or a sandbox, that does not allow it
        log.debug("no file in memory; writing a key to a temporary file: %s", e)
        return None
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(content)
    os.fchmod(descriptor, 0o600)
    if Path(f"/proc/self/fd/{descriptor}").exists():
        return descriptor
    os.close(descriptor)  # /proc is not mounted
    return None


def sweep_key_folders() -> int:
    """Remove what killed processes of this user have left; returns the number of folders."""
    removed = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{_OLD_PREFIX}*"):
        try:
            if _is_left_over(folder):
                shutil.rmtree(folder)
                removed += 1
                log.warning("%s: removed; a killed process had left a key there", folder)
        except OSError as e:  # gone meanwhile, or owned by another user
            log.debug("%s: %s", folder, e)
    return removed


def _is_left_over(folder: Path) -> bool:
    """Whether a folder is ours, holds only a key, and no process uses it."""
    found = folder.lstat()
    if found.st_uid != os.getuid() or not folder.is_dir() or folder.is_symlink():
        return False
    names = [each.name for each in folder.iterdir()]
    if len(names) != 1 or names[0] not in (KEYSTORE, KEYTAB):
        return False
    if time.time() - found.st_mtime < _OLD_SECONDS:
        return False
    descriptor = os.open(folder / names[0], os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False  # in use
    finally:
        os.close(descriptor)
    return True
