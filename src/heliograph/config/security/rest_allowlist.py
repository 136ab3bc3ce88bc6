"""Which files and Python modules a connector's configuration may name when it comes through REST.

Whoever may speak to a worker's REST API could otherwise have it read its own files, send keys to a cluster
of theirs, or import code. Nothing is permitted but what the worker's own configuration names: in its two
settings for that, or as a file of its own (`ssl.truststore.location`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from heliograph.config.options.java_checks import invalid

PATHS = "rest.connector.allowed.paths"
MODULES = "rest.connector.allowed.modules"

_FILE = re.compile(
    r"(?:.*\.)?(?:ssl\.(?:key|trust)store\.location|sasl\.oauthbearer\.assertion\.(?:private\.key\.|template\.)?file"
    r"|sasl\.kerberos\.kinit\.cmd)"
)
_URL = re.compile(r"(?:.*\.)?sasl\.oauthbearer\.(?:token|jwks)\.endpoint\.url")
_JAAS = re.compile(r"(?:.*\.)?sasl\.jaas\.config")
#: Options of login modules that name a file: keytabs, ticket caches, profiles.
_JAAS_FILE = re.compile(
    r"(\w*(?:keyTab|ticketCache|file|location)\w*)\s*=\s*\"?([^\";\s]+)", re.IGNORECASE
)
_PROVIDERS = re.compile(r"(?:.*\.)?config\.providers(?:\..*)?")
_REFERENCE = re.compile(r"\$\{[^}]*\}")
_PYTHON_CLASS = re.compile(r"\s*([\w.]+):(\w+)\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Permitted:
    """`paths` are files, or folders with all that is in them; `modules` with all that is below them."""

    paths: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()

    def problems(self, config: Mapping[str, str | None]) -> Iterator[tuple[str, str]]:
        """A setting, and why it is not permitted."""
        for name, value in config.items():
            if value is None or not value.strip():
                continue
            for what, why in self._problems(name, value.strip()):
                yield name, invalid(name, what, why)

    def _problems(self, name: str, value: str) -> Iterator[tuple[str, str]]:
        if _PROVIDERS.fullmatch(name):
            why = "config providers are the worker's to declare"
            yield value, f"{why}; declare them in its configuration"
        elif _FILE.fullmatch(name):
            yield from self._files([value])
        elif _URL.fullmatch(name) and value.lower().startswith("file:"):
            yield from self._files([value.removeprefix("file:").removeprefix("//")])
        elif _JAAS.fullmatch(name):
            yield from self._files([found[2] for found in _JAAS_FILE.finditer(value)])
        elif name.endswith(".class") and not self._class(value):
            why = "Python modules that REST may name must be listed in the worker's"
            yield value, f"{why} {MODULES}"

    def _files(self, paths: list[str]) -> Iterator[tuple[str, str]]:
        for path in paths:
            if not self._path(path):
                why = "files that REST may name must be listed in the worker's"
                yield path, f"{why} {PATHS}, or lie in a folder that is"

    def _path(self, path: str) -> bool:
        """What one of the worker's config providers says, as a whole, is the worker's word. Whoever writes
        `..`, or a part of a path as a reference, may not be where they seem to be."""
        if _REFERENCE.fullmatch(path):
            return True
        wanted = PurePosixPath(path)
        return (
            "${" not in path
            and ".." not in wanted.parts
            and any(str(place) in self.paths for place in (wanted, *wanted.parents))
        )

    def _class(self, name: str) -> bool:
        if "${" in name:
            return _REFERENCE.fullmatch(name) is not None
        python = _PYTHON_CLASS.fullmatch(name)
        if python is None:  # a Java class, which only stands for what is built in
            return True
        parts = python[1].split(".")
        return any(".".join(parts[:end]) in self.modules for end in range(1, len(parts) + 1))


def own_files(settings: Mapping[str, str]) -> Iterator[str]:
    """What the worker's configuration itself reads."""
    for name, value in settings.items():
        if _FILE.fullmatch(name) and value.strip():
            yield value.strip()
