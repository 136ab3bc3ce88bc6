"""InsertHeader, DropHeaders and HeaderFrom.

Headers of mirrored records are bytes and stay so. What these transformations add is written as Connect's
SimpleHeaderConverter writes it: as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heliograph.transforms.java_numbers import number_text
from heliograph.transforms.json_document import Document, Json, connect, java_order
from heliograph.transforms.rows import Rows, Side
from heliograph.transforms.transform import Failed, each_map


@dataclass(frozen=True, slots=True)
class InsertHeader:
    """`value`: the literal as Connect parses and writes it; None: null."""

    name: bytes
    value: bytes | None

    def apply(self, rows: Rows, chosen: Sequence[int]) -> Failed:
        added = ((self.name, self.value),)
        for row in chosen:
            rows.headers[row] += added
        return []


@dataclass(frozen=True, slots=True)
class DropHeaders:
    names: frozenset[bytes]

    def apply(self, rows: Rows, chosen: Sequence[int]) -> Failed:
        for row in chosen:
            if rows.headers[row]:
                kept = [each for each in rows.headers[row] if each[0] not in self.names]
                rows.headers[row] = tuple(kept)
        return []


@dataclass(frozen=True, slots=True)
class HeaderFrom:
    side: Side
    fields: tuple[str, ...]
    headers: tuple[bytes, ...]
    move: bool

    def apply(self, rows: Rows, chosen: Sequence[int]) -> Failed:
        def change(document: Document, row: int) -> None:
            values = [document.get(field) for field in self.fields]
            if self.move:
                document.copied()
                for field in self.fields:
                    document.remove(field)
            texts = [None if value is None else header_text(value).encode() for value in values]
            rows.headers[row] += tuple(zip(self.headers, texts, strict=True))

        purpose = f"header {'move' if self.move else 'copy'}"
        return each_map(
            rows, self.side, chosen, purpose, change, null_passes=False, whole=not self.move
        )


def header_text(value: Json, *, embedded: bool = False) -> str:
    """`Values.convertToString`."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            if not embedded:
                return _surrogates(value)
            escaped = value.replace("\\", "\\\\").replace('"', '\\"')
            return f'"{_surrogates(escaped)}"'
        case list():
            return f"[{','.join(header_text(each, embedded=True) for each in value)}]"
        case dict():
            members = (
                f"{header_text(name, embedded=True)}:{header_text(value[name], embedded=True)}"
                for name in java_order(list(value))
            )
            return f"{{{','.join(members)}}}"
        case _:
            number = connect(value)
            assert isinstance(number, int | float)
            return number_text(number)


def _surrogates(text: str) -> str:
    """Java writes half a character as a question mark."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _whole_characters(text).encode("utf-8", "replace").decode()
    return text


def _whole_characters(text: str) -> str:
    """Two halves that JSON wrote one after the other are one character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
