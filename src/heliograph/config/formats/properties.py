"""Reads Java .properties files with the line number of every key.

The grammar is javaproperties' (`java.util.Properties.load`). As in Java, the bytes are Latin-1; other
letters give a warning, since Java would read them wrongly without one. If a key appears twice, the last
value counts, as in Java, with a warning.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import javaproperties

from heliograph.config.formats.text.files import named_if_unreadable
from heliograph.errors import ConfigError

_UTF8_BOM = "\xef\xbb\xbf"  # as Latin-1; Windows editors put it before the first key


@dataclass(frozen=True, slots=True)
class Property:
    """A value, escapes resolved, and the line of its key (from 1; 0 if it has none).

    `written` is the value before placeholders were filled in (`placeholders.py`); `broken`: some could not
    be. `place` is the origin if it is not the file itself: an environment variable, or another file.
    """

    value: str
    line: int
    written: str | None = None
    broken: bool = False
    place: str | None = None

    @property
    def shown(self) -> str:
        """The value for messages: as written, since a value that was filled in may be a secret."""
        return self.value if self.written is None else self.written

    def at(self, name: str) -> str:
        """Place in the file of this name, for messages."""
        return self.place or (f"{name}:{self.line}" if self.line else name)

    @property
    def briefly_at(self) -> str:
        return self.place or (f"line {self.line}" if self.line else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertiesFile:
    """All keys of a file, in order of first appearance."""

    name: str
    properties: dict[str, Property]
    warnings: tuple[str, ...] = ()

    def where(self, key: str) -> str:
        """Place of the key, for messages; the name of the file if the key is not set."""
        found = self.properties.get(key)
        return self.name if found is None else found.at(self.name)


def read_properties(path: Path) -> PropertiesFile:
    """`path` may be a folder that contains a file of the same name, as when a ConfigMap is mounted."""
    if (path / path.name).is_file():
        path /= path.name
    with named_if_unreadable(path):
        data = path.read_bytes()
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ConfigError(f"{path}: text in UTF-16; save it as UTF-8")
    if b"\0" in data:
        raise ConfigError(
            f"{path}: not a text file; expected properties (key=value lines) in Latin-1 or UTF-8"
        )
    return parse_properties(data.decode("latin-1"), path.name)


def parse_properties(text: str, name: str) -> PropertiesFile:
    """`text` holds one character per byte of the file. Equals `javaproperties.loads(text)`."""
    properties: dict[str, Property] = {}
    warnings: list[str] = []
    if text.startswith(_UTF8_BOM):
        text = text.removeprefix(_UTF8_BOM)
        warnings.append(f"{name}:1: ignored the byte order mark before the first key")
    for line, element in _numbered(text, name):
        if not isinstance(element, javaproperties.KeyValue):
            continue
        earlier = properties.get(element.key)
        if earlier is not None:
            warnings.append(
                f"{element.key}: set twice, in {name}:{earlier.line} and {name}:{line}; "
                f"line {line} counts"
            )
        if not element.source.isascii():
            warnings.append(
                f"{element.key}: letters beyond ASCII are read as Latin-1, as in Java; write them as "
                rf"\uXXXX ({name}:{line})"
            )
        properties[element.key] = Property(element.value, line)
    return PropertiesFile(name=name, properties=properties, warnings=tuple(warnings))


def _numbered(text: str, name: str) -> Iterator[tuple[int, javaproperties.PropertiesElement]]:
    """The elements of the file, each with the number of its first line."""
    line = 1
    elements = javaproperties.parse(text)
    while True:
        try:
            element = next(elements, None)
        except javaproperties.InvalidUEscapeError as problem:
            raise ConfigError(
                rf"{name}:{line}: expected four hexadecimal digits after \u, "
                f"found {problem.escape!r}; write a backslash as \\\\"
            ) from None
        if element is None:
            return
        yield line, element
        line += _line_ends(element.source)


def _line_ends(source: str) -> int:
    """Line ends as Java counts them; str.splitlines would also split at U+0085 and others."""
    return source.replace("\r\n", "\n").replace("\r", "\n").count("\n")
