r"""Finds placeholders in values and asks config providers for their text.

    ${file:/etc/mm2/access.properties:KEY}   FileConfigProvider        a key of a properties file
    ${dir:/etc/mm2/secrets:password}         DirectoryConfigProvider   a file of a directory
    ${env:KEY}                               EnvVarConfigProvider      a variable of the environment
    ${KEY}                                   no provider               a variable of the environment

The user chooses the name before the colon and declares it with `config.providers` (KIP-297). As in MM2,
a value may have several placeholders, and text that was filled in is not searched for more. MM2 fills in
the settings of workers and clients when it starts and those of connectors later, in the worker; here all
are filled in first. MM2 keeps a placeholder that it cannot fill in as text; here that is an error.
`${KEY}` stays text in MM2: files with it are templates, filled in by a script (sed, envsubst)
before MM2 starts. `$KEY` without braces stays text here as well.

For a configuration from REST (`permitted`), providers read only what the worker allows: the paths or
variables set for the provider, or else the files that REST may name.

This is the only module of config/ that reads files other than the configuration itself.
"""

from __future__ import annotations

import os.path
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import javaproperties

from heliograph.permitted import PATHS, Permitted, real_path
from heliograph.policy.java_regex import JavaPattern

_START, _END = "${", "}"
#: Largest file that a placeholder may name.
_MOST_CHARACTERS = 1 << 20


class Unavailable(Exception):
    """A placeholder cannot be filled in; the text says why and contains no value."""


class Placeholder(NamedTuple):
    """`${provider:path:key}`, `${provider:key}`, or `${variable}` with the other fields empty. `text` is the
    whole placeholder, from `start` to before `end`."""

    text: str
    start: int
    end: int
    provider: str = ""
    path: str = ""
    key: str = ""
    variable: str = ""


def placeholders(text: str) -> Iterator[Placeholder]:
    """As `ConfigTransformer.DEFAULT_PATTERN` finds them, and bare variables, in one pass.

    \\$\\{([^}]*?):(([^}]*?):)?([^}]*?)\\}      not by the regular expression, whose time is quadratic in
                                            the number of `${` without an end
    """
    at = text.find(_START)
    while at >= 0 and (end := text.find(_END, at + 2)) >= 0:
        if (
            text.find(":", at + 2, end) < 0
        ):  # a variable: its name has no $, so the last ${ begins it
            at = text.rfind(_START, at, end)
        whole, inside = text[at : end + 1], text[at + 2 : end]
        provider, colon, rest = inside.partition(":")
        if colon:
            path, second, key = rest.partition(":")
            path, key = (path, key) if second else ("", path)
            yield Placeholder(whole, at, end + 1, provider, path, key)
        elif inside.isascii() and inside.isidentifier():
            yield Placeholder(whole, at, end + 1, variable=inside)
        at = text.find(_START, end + 1)


class Provider(Protocol):
    def get(self, path: str, key: str, permitted: Permitted | None = None) -> str:
        """Raises Unavailable."""
        ...


@dataclass(frozen=True, slots=True)
class AllowedPaths:
    """Paths below which a provider may read; None for any path. Links are followed without a check, as in
    Java; for a configuration from REST the link's target must be allowed as well."""

    paths: tuple[str, ...] | None

    def check(self, path: str, permitted: Permitted | None = None) -> Path:
        normal = os.path.normpath(path)
        if self.paths is not None and not any(
            Path(normal).is_relative_to(allowed) for allowed in self.paths
        ):
            raise Unavailable(
                f"{path} is not below {' or '.join(self.paths)}, the provider's allowed.paths"
            )
        if permitted is None:
            return Path(normal)
        places = self.paths if self.paths is not None else tuple(permitted.paths)
        real = real_path(normal, places)
        if real is None or (self.paths is None and not permitted.allows_path(normal)):
            limits = (
                "the provider's allowed.paths"
                if self.paths is not None
                else f"the worker's {PATHS}"
            )
            raise Unavailable(
                f"{path} is not below {limits}, so REST may not name it; to allow it, set "
                f"param.allowed.paths of this provider, or {PATHS}, in the worker's configuration"
            )
        return Path(real)


@dataclass(frozen=True, slots=True)
class FileProvider:
    """Reads properties files in UTF-8, unlike mm2.properties itself, which Java reads as Latin-1."""

    allowed: AllowedPaths

    def get(self, path: str, key: str, permitted: Permitted | None = None) -> str:
        if not path:
            raise Unavailable("expected a path before the key, as in ${file:/path:key}")
        text = _read(self.allowed.check(path, permitted))
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
    """Reads one value per file, as Kubernetes mounts secrets."""

    allowed: AllowedPaths

    def get(self, path: str, key: str, permitted: Permitted | None = None) -> str:
        if not path:
            raise Unavailable(
                "expected a path before the file's name, as in ${directory:/path:file}"
            )
        directory = self.allowed.check(path, permitted)
        if not directory.is_dir():
            raise Unavailable(f"{path}: no such directory")
        if os.sep in key or not _is_file(directory / key):
            raise Unavailable(f"{path} has no file {key}")
        if permitted is not None:  # the file itself may be a link
            return _read(self.allowed.check(os.path.join(path, key), permitted))  # noqa: PTH118
        return _read(directory / key)


@dataclass(frozen=True, slots=True)
class EnvironmentProvider:
    """`allowlist` None: any variable; for a configuration from REST, no variable."""

    environment: Mapping[str, str]
    allowlist: JavaPattern | None

    def get(self, path: str, key: str, permitted: Permitted | None = None) -> str:
        if path:
            raise Unavailable("expected ${env:VARIABLE}, found a path before the variable")
        if self.allowlist is None and permitted is not None:
            raise Unavailable(
                "REST may only name environment variables that match the provider's "
                "param.allowlist.pattern, which the worker's configuration does not set"
            )
        if self.allowlist is not None and not self.allowlist.matches(key):
            raise Unavailable(f"{key} does not match the provider's allowlist.pattern")
        return variable(self.environment, key)


def variable(environment: Mapping[str, str], name: str) -> str:
    if name not in environment:
        raise Unavailable(f"the environment variable {name} is not set")
    return environment[name]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except ValueError:  # a null character, or half of a surrogate pair
        return False


def _read(path: Path) -> str:
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise Unavailable(f"{path}: expected a file, found a device or a pipe")
        with path.open(encoding="utf-8") as file:
            text = file.read(_MOST_CHARACTERS + 1)
        if len(text) > _MOST_CHARACTERS:
            raise Unavailable(f"{path}: expected at most {_MOST_CHARACTERS:,} characters")
        return text
    except FileNotFoundError:
        raise Unavailable(f"{path}: no such file") from None
    except UnicodeDecodeError:
        raise Unavailable(f"{path}: expected text in UTF-8, found other bytes") from None
    except OSError as problem:
        raise Unavailable(f"{path}: cannot be read: {problem.strerror}") from None
    except ValueError:  # a null character, or half of a surrogate pair
        raise Unavailable(f"{str(path)!r}: not a valid file name") from None


class Filled(NamedTuple):
    """`problems`: `placeholder: why` of those that could not be replaced and were not reported before.
    `complete`: every placeholder was replaced."""

    text: str
    complete: bool
    problems: tuple[str, ...]


def fill_in(text: str, lookup: Callable[[Placeholder], str]) -> Filled:
    """`text` with placeholders replaced by what `lookup` returns; those for which it raises Unavailable
    stay."""
    complete, at = True, 0
    parts: list[str] = []
    problems: list[str] = []
    for each in placeholders(text):
        parts.append(text[at : each.start])
        at = each.end
        try:
            parts.append(lookup(each))
        except Unavailable as problem:
            if str(problem):  # an empty one was reported before
                problems.append(f"{each.text}: {problem}")
            parts.append(each.text)
            complete = False
    return Filled("".join([*parts, text[at:]]), complete, tuple(problems))


def wrong_paths(paths: Sequence[str]) -> list[str]:
    """Paths that Java refuses as allowed.paths: relative ones, and those that do not exist."""
    return [path for path in paths if not Path(path).is_absolute() or not Path(path).exists()]
