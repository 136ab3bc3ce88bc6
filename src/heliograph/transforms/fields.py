"""InsertField, ReplaceField and MaskField."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from heliograph.mm2.connect.jackson import hash_map_order
from heliograph.transforms.failures import RecordFailed, java_class
from heliograph.transforms.java_numbers import (
    Float32,
    Int8,
    Int16,
    Int32,
    decimal_to_double,
    decimal_to_long,
    to_float32,
    wrapped,
)
from heliograph.transforms.json_document import Document, Json
from heliograph.transforms.rows import Rows, Side
from heliograph.transforms.transform import Failed, each_map


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertField:
    side: Side
    topic_field: str | None = None
    partition_field: str | None = None
    timestamp_field: str | None = None
    static_field: str | None = None
    static_value: str | None = None

    def apply(self, rows: Rows, chosen: Sequence[int]) -> Failed:
        def change(document: Document, row: int) -> None:
            document.copied()
            for name, value in (
                (self.topic_field, rows.topic[row]),
                (self.partition_field, Int32(rows.partition)),
                (self.timestamp_field, rows.timestamp[row]),
                (self.static_field, self.static_value),
            ):
                if name is not None:
                    document.put(name, value)

        return each_map(rows, self.side, chosen, "field insertion", change)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceField:
    side: Side
    exclude: frozenset[str] = frozenset()
    include: frozenset[str] = frozenset()
    renames: tuple[tuple[str, str], ...] = ()

    def apply(self, rows: Rows, chosen: Sequence[int]) -> Failed:
        renames = dict(self.renames)

        def change(document: Document, row: int) -> None:
            assert document.fields is not None
            kept = self._kept(renames, document.names() if document.exact else document.fields)
            if not document.exact and len({new for new, _ in kept}) < len(kept):
                # Where two fields get one name, that wins which is the last one to Java.
                last = dict(self._kept(renames, document.names()))
                place = {name: at for at, name in enumerate(document.fields)}
                kept = sorted(last.items(), key=lambda pair: place[pair[1]])
            size = len(document.fields)
            document.rebuild(kept, buckets=1 << max(size - 1, 0).bit_length())

        return each_map(rows, self.side, chosen, "field replacement", change)

    def _kept(self, renames: Mapping[str, str], names: Iterable[str]) -> list[tuple[str, str]]:
        """New and old names of those that stay."""
        return [
            (renames.get(name, name), name)
            for name in names
            if name not in self.exclude and (not self.include or name in self.include)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskField:
    side: Side
    fields: tuple[str, ...]
    replacement: str | None = None
    _in_order: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        size = max(int(len(self.fields) / 0.75) + 1, 16)
        order = hash_map_order(self.fields, buckets=1 << (size - 1).bit_length())
        object.__setattr__(self, "_in_order", tuple(order))

    def apply(self, rows: Rows, chosen: Sequence[int]) -> Failed:
        def change(document: Document, row: int) -> None:
            document.copied()
            for name in self._in_order:
                document.put(name, self._masked(document.get(name)))

        return each_map(
            rows, self.side, chosen, "mask fields", change, null_passes=False, whole=True
        )

    def _masked(self, value: Json) -> Json:
        if value is None:
            return None
        if self.replacement is not None:
            return _replaced(value, self.replacement)
        # A new value of the same class: False, 0, 0.0, "", [] or {}.
        return type(value)()


def _replaced(value: Json, text: str) -> Json:
    if isinstance(value, str):
        return text
    if isinstance(value, bool | list | dict):
        raise RecordFailed(
            f"Cannot mask value of type class {java_class(value)} with custom replacement."
        )
    try:
        if isinstance(value, float):
            number = decimal_to_double(text)
            return to_float32(number) if isinstance(value, Float32) else number
        return _narrowed(value, decimal_to_long(text))
    except ValueError:
        raise RecordFailed(
            f"Unable to convert {text} (class java.lang.String) to a number"
        ) from None


def _narrowed(like: Json, number: int) -> int:
    match like:
        case Int8():
            return Int8(wrapped(number, 8))
        case Int16():
            return Int16(wrapped(number, 16))
        case Int32():
            return Int32(wrapped(number, 32))
        case _:
            return number
