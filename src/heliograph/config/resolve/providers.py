r"""Placeholders in values, filled in before anything is read.

    ${file:/etc/mm2/access.properties:KEY}   FileConfigProvider        a key of a properties file
    ${dir:/etc/mm2/secrets:password}         DirectoryConfigProvider   a file of a directory
    ${env:KEY}                               EnvVarConfigProvider      a variable of the environment
    ${KEY}                                   no provider               a variable of the environment

The names before the colon are the user's, declared with `config.providers` (KIP-297). As in MM2,
several may stand in one value, and what is filled in is not looked at again. MM2 fills in the
settings of workers and clients at once and those of connectors later, in the worker; here all are
filled in at once. MM2 keeps a placeholder that it cannot fill in as text; here that is an error.
`${KEY}` stays text in MM2: files with it are templates, filled in by a script (sed, envsubst)
before MM2 starts. `$KEY` without braces stays text here, too.

The one module that reads files other than the configuration itself.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import javaproperties

from heliograph.policy.java_regex import JavaPattern

# ConfigTransformer.DEFAULT_PATTERN, and a bare variable.
PLACEHOLDER = re.compile(
    r"\$\{(?:(?P<provider>[^}:]*):(?:(?P<path>[^}:]*):)?(?P<key>[^}]*)"
    r"|(?P<variable>[A-Za-z_][A-Za-z0-9_]*))\}"
)


class Unavailable(Exception):
    """A placeholder cannot be filled in; the text says why and names no value."""


class Provider(Protocol):
    def get(self, path: str, key: str) -> str:
        """Raises Unavailable."""
        ...


@dataclass(frozen=True, slots=True)
class AllowedPaths:
    """Where a provider may read; None for everywhere. By name only: links are followed, as in Java."""

    paths: tuple[str, ...] | None

    def check(self, path: str) -> Path:
        normal = os.path.normpath(path)
        if self.paths is not None and not any(
            Path(normal).is_relative_to(allowed) for allowed in self.paths
        ):
            raise Unavailable(f"{path} is not below {' or '.join(self.paths)}, its allowed.paths")
        return Path(normal)


@dataclass(frozen=True, slots=True)
class FileProvider:
    """Properties files in UTF-8, unlike mm2.properties itself, which Java reads as Latin-1."""

    allowed: AllowedPaths

    def get(self, path: str, key: str) -> str:
        if not path:
            raise Unavailable("expected a path before the key, as in ${file:/path:key}")
        text = _read(self.allowed.check(path))
        try:
            properties: dict[str, str] = javaproperties.loads(text)
        except javaproperties.InvalidUEscapeError:
            raise Unavailable(
                rf"{path}: expected properties, found \u without four digits"
            ) from None
        if key not in properties:
            raise Unavailable(f"{path} has no key {key}")
        return properties[key]


@dataclass(frozen=True, slots=True)
class DirectoryProvider:
    """One value per file, as Kubernetes mounts secrets."""

    allowed: AllowedPaths

    def get(self, path: str, key: str) -> str:
        if not path:
            raise Unavailable(
                "expected a path before the file's name, as in ${directory:/path:file}"
            )
        directory = self.allowed.check(path)
        if not directory.is_dir():
            raise Unavailable(f"{path}: no such directory")
        if os.sep in key or not (directory / key).is_file():
            raise Unavailable(f"{path} has no file {key}")
        return _read(directory / key)


@dataclass(frozen=True, slots=True)
class EnvironmentProvider:
    environment: Mapping[str, str]
    allowlist: JavaPattern

    def get(self, path: str, key: str) -> str:
        if path:
            raise Unavailable("expected ${env:VARIABLE}, found a path before the variable")
        if not self.allowlist.matches(key):
            raise Unavailable(f"{key} does not match its allowlist.pattern")
        return variable(self.environment, key)


def variable(environment: Mapping[str, str], name: str) -> str:
    if name not in environment:
        raise Unavailable(f"the environment variable {name} is not set")
    return environment[name]


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        raise Unavailable(f"{path}: no such file") from None
    except UnicodeDecodeError:
        raise Unavailable(f"{path}: expected text in UTF-8, found other bytes") from None
    except OSError as problem:
        raise Unavailable(f"{path}: cannot be read: {problem.strerror}") from None
    except ValueError:  # a null character, or half of one
        raise Unavailable(f"{str(path)!r}: no file can be called so") from None


class Filled(NamedTuple):
    """`problems` says `placeholder: why` of those that cannot be replaced, if it was not said
    before; `complete`, that there are none."""

    text: str
    complete: bool
    problems: tuple[str, ...]


def fill_in(text: str, lookup: Callable[[re.Match[str]], str]) -> Filled:
    """`text` with its placeholders replaced by what `lookup` returns, or left if it raises
    Unavailable."""
    failed: list[str] = []
    problems: list[str] = []

    def replace(match: re.Match[str]) -> str:
        try:
            return lookup(match)
        except Unavailable as problem:
            if str(problem):  # an empty one was reported elsewhere
                problems.append(f"{match[0]}: {problem}")
            failed.append(match[0])
            return match[0]

    filled = PLACEHOLDER.sub(replace, text)
    return Filled(filled, not failed, tuple(problems))


def wrong_paths(paths: Sequence[str]) -> list[str]:
    """Those that a provider cannot be restricted to, since Java refuses them."""
    return [path for path in paths if not Path(path).is_absolute() or not Path(path).exists()]
