"""The allow-list of files, URLs, modules and identities for configurations that came through REST.

Without it, a user of the REST API could make the worker read its own files, send keys and tokens to another
address, or import code. Only what the worker's own configuration names is permitted. It is checked when a
request arrives, when the configuration is parsed (`security.locations`), and again when a file is opened
(`client/security/opening.py`) or a module imported (`policy/classes.py`).

A configuration file of the operator has no allow-list: it is trusted.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import NamedTuple
from urllib.parse import urlsplit

PATHS = "rest.connector.allowed.paths"
URLS = "rest.connector.allowed.urls"
MODULES = "rest.connector.allowed.modules"
IDENTITIES = "rest.connector.allowed.identities"

#: In characters; the limit of Linux (PATH_MAX).
MOST_OF_A_PATH = 4096
MOST_OF_A_URL = 8192

#: Identities of the worker: from its environment, profiles and instance, or from its ticket cache.
AWS = "aws"
KERBEROS = "kerberos"

_PORTS = {"http": 80, "https": 443}
_NOT_IN_A_URL = frozenset("\\\"'<>^`{|}")
_MISLEADING = ("%2e", "%2f", "%5c", "%25", "%00")


class Kind(StrEnum):
    FILE = "file"
    URL = "url"
    IDENTITY = "identity"


class Location(NamedTuple):
    """`value` is the path, the URL, or the identity's name; `setting` is the Kafka setting that has it."""

    kind: Kind
    value: str
    setting: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Permitted:
    """`paths` are files, or folders with all their content; `modules` include their submodules. A URL that
    ends with a slash includes all paths below it."""

    paths: frozenset[str] = frozenset()
    urls: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()
    identities: frozenset[str] = frozenset()

    def refusal(self, location: Location) -> str | None:
        """Why it may not be used, with the worker's setting that would permit it; None: it may."""
        match location.kind:
            case Kind.FILE if not self.allows_path(location.value):
                return (
                    f"files that REST may name must be listed in the worker's {PATHS}, or lie in a "
                    "folder that is"
                )
            case Kind.URL if not self.allows_url(location.value):
                return f"URLs that REST may name must be listed in the worker's {URLS}"
            case Kind.IDENTITY if location.value not in self.identities:
                return (
                    f"this logs in with the worker's own {location.value} identity, which connectors made "
                    f"through REST may use only if the worker's {IDENTITIES} lists {location.value}"
                )
        return None

    def allows_path(self, path: str) -> bool:
        """By name only; symbolic links are resolved on the machine that opens the file."""
        if len(path) > MOST_OF_A_PATH or "\0" in path:
            return False
        wanted = PurePosixPath(path)
        return ".." not in wanted.parts and any(map(wanted.is_relative_to, self.paths))

    def allows_url(self, url: str) -> bool:
        wanted = normal_url(url)
        return wanted is not None and any(
            wanted == allowed or (allowed.endswith("/") and wanted.startswith(allowed))
            for allowed in map(normal_url, self.urls)
            if allowed is not None
        )

    def allows_module(self, name: str) -> bool:
        return any(name == each or name.startswith(f"{each}.") for each in self.modules)


def normal_url(text: str) -> str | None:
    """A canonical spelling of a URL; None if two programs might parse it differently."""
    if len(text) > MOST_OF_A_URL or not text.isascii():
        return None
    if any(c <= " " or c == "\x7f" or c in _NOT_IN_A_URL for c in text):
        return None
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not host or "%" in host or "@" in parts.netloc:
        return None
    path = parts.path or "/"
    if {".", ".."} & set(path.split("/")) or any(each in path.lower() for each in _MISLEADING):
        return None
    bracketed = f"[{host}]" if ":" in host else host
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{bracketed}:{_PORTS[parts.scheme] if port is None else port}{path}{query}"


def real_path(path: str, places: Iterable[str]) -> str | None:
    """The file behind `path`, if it is one of `places` or inside one; symbolic links are resolved in both."""
    try:
        real = os.path.realpath(path)
        below = any(PurePosixPath(real).is_relative_to(os.path.realpath(each)) for each in places)
    except (OSError, ValueError):  # a loop of links, an invalid name
        return None
    return real if below else None
