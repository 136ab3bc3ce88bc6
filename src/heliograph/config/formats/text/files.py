"""Reads text files that the user names, with errors that say what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from heliograph.errors import ConfigError

#: Largest configuration that is read.
_MOST_BYTES = 16 << 20
_STEP_BYTES = 64 << 10


@contextmanager
def named_if_unreadable(path: Path) -> Iterator[None]:
    """Turns an OSError of the block into a ConfigError with the path and a remedy."""
    try:
        yield
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file; check the path") from None
    except IsADirectoryError:
        raise ConfigError(f"{path}: a directory; give the path of the file in it") from None
    except PermissionError:
        raise ConfigError(f"{path}: not readable; allow this user to read it") from None
    except OSError as problem:
        raise ConfigError(f"{path}: cannot be read: {problem.strerror}") from None


def read_text(path: Path) -> str:
    """The text of a file in UTF-8. Raises ConfigError."""
    data = bytearray()
    with named_if_unreadable(path), path.open("rb") as file:
        while len(data) <= _MOST_BYTES and (more := file.read(_STEP_BYTES)):
            data += more
    if len(data) > _MOST_BYTES:
        raise ConfigError(f"{path}: expected at most {_MOST_BYTES >> 20} MB, found more")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: expected text in UTF-8, found other bytes") from None
