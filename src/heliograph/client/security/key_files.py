"""Keys for libraries that take them from a file only (OpenSSL, Kerberos), for as long as they read it.

On Linux the file is in memory and has no name, so that a process that is killed leaves nothing. Elsewhere it
is of mode 0600 in a folder of mode 0700, and what a killed process leaves is removed at the next start:

    <tmp>/heliograph-key-x7d2/keystore.pem      locked (flock) as long as it is used
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
#: Earlier versions had keys in folders of this name, without a lock, on Linux as well.
_OLD_PREFIX = "heliograph-"
_OLD_SECONDS = 60.0


@contextmanager
def key_file(name: str, content: bytes) -> Iterator[str]:
    """The path of a file with this content, while the block runs; `name` is one of those above."""
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
    """The descriptor of a file without a name; None where the system has no such files."""
    if not hasattr(os, "memfd_create"):
        return None
    try:
        descriptor = os.memfd_create(name)
    except OSError as e:  # a kernel, or a sandbox, that does not allow it
        log.debug("no file in memory, so a key is written to a disk for a moment: %s", e)
        return None
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(content)
    os.fchmod(descriptor, 0o600)
    if Path(f"/proc/self/fd/{descriptor}").exists():
        return descriptor
    os.close(descriptor)  # /proc is not mounted
    return None


def sweep_key_folders() -> int:
    """Removes what killed processes of this user have left; the number of folders."""
    removed = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{_OLD_PREFIX}*"):
        try:
            if _is_left_over(folder):
                shutil.rmtree(folder)
                removed += 1
                log.warning("%s: removed; a process that was killed had left a key there", folder)
        except OSError as e:  # gone meanwhile, or its owner is another
            log.debug("%s: %s", folder, e)
    return removed


def _is_left_over(folder: Path) -> bool:
    """A folder of ours with nothing but a key in it, which has no user any more."""
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
