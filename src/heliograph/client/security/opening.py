"""Opens files that settings name, and checks files, addresses and identities against the REST allow-list.

No other module opens such a file. A configuration that came through REST may only use what the worker
permits; symbolic links are followed before the check.
"""

from __future__ import annotations

import os
import stat

from heliograph.errors import BadKeyMaterial
from heliograph.permitted import Kind, Location, real_path
from heliograph.security import Security

#: Stores, keytabs and tokens are some kilobytes.
_MOST_BYTES = 16 << 20
#: Of a file without a size, such as those below /proc.
_UNTOLD_BYTES = 64 << 10


def allow(location: Location, security: Security) -> None:
    """Raises BadKeyMaterial if the configuration came through REST and the worker does not permit it."""
    permitted = security.permitted
    refused = None if permitted is None else permitted.refusal(location)
    if refused is not None:
        raise BadKeyMaterial(f"{security.key(location.setting)}: {location.value}: {refused}")


def allowed_file(path: str, setting: str, security: Security) -> str:
    """The path to open; for a configuration that came through REST, with symbolic links resolved."""
    if security.permitted is None:
        return path
    location = Location(Kind.FILE, path, setting)
    allow(location, security)
    real = real_path(path, security.permitted.paths)
    if real is None:
        raise BadKeyMaterial(
            f"{setting}: {path}: is a symbolic link out of the folders that REST may name"
        )
    return real


def read_file(path: str, setting: str, security: Security) -> bytes:
    """The content of a file that a setting names. Raises BadKeyMaterial."""
    found = allowed_file(path, setting, security)
    # O_NOFOLLOW: a link here was created after the path was resolved.
    flags = os.O_RDONLY | os.O_CLOEXEC | (0 if security.permitted is None else os.O_NOFOLLOW)
    try:
        with os.fdopen(os.open(found, flags | os.O_NONBLOCK), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise BadKeyMaterial(f"{setting}: {path}: expected a regular file")
            if status.st_size > _MOST_BYTES:
                raise BadKeyMaterial(f"{setting}: {path}: expected at most {_MOST_BYTES >> 20} MB")
            return file.read(status.st_size or _UNTOLD_BYTES)
    except FileNotFoundError:
        raise BadKeyMaterial(f"{setting}: {path}: no such file") from None
    except OSError as e:
        raise BadKeyMaterial(f"{setting}: {path}: cannot be read: {e.strerror}") from None
    except ValueError:  # a null character, or a lone surrogate
        raise BadKeyMaterial(f"{setting}: {path!r}: not a valid file name") from None
