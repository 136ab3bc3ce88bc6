"""ExtractField, HoistField, Flatten and ValueToKey."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from heliograph.transforms.failures import only_maps
from heliograph.transforms.json_document import Document, Json, java_order
from heliograph.transforms.rows import Rows, Side
from heliograph.transforms.transform import Failed, each, each_map


@dataclass(frozen=True, slots=True)
class ExtractField:
    side: Side
    path: tuple[str, ...]

    def apply(self, rows: Rows, chosen: Sequence[int]) -> Failed:
        def change(document: Document, row: int) -> None:
            if len(self.path) == 1:
                document.keep_only(self.path[0])
            else:
                document.replace(self._at(document.content()))

        return each_map(rows, self.side, chosen, "field extraction", change)

    def _at(self, value: Json) -> Json:
        for step in self.path:
            if value is None:
                return None
            if not isinstance(value, dict):
                raise only_maps(value, "nested field access")
            value = value.get(step)
        return value


@dataclass(frozen=True, slots=True)
class HoistField:
    side: Side
    field: str

    def apply(self, rows: Rows, chosen: Sequence[int]) -> Failed:
        def change(row: int) -> None:
            document = rows.document(self.side, row)
            if document is None:
                document = Document(exact=self.side == "Key")
                rows.put(self.side, row, document)
            document.wrap(self.field)

        return each(chosen, change)


@dataclass(frozen=True, slots=True)
class Flatten:
    side: Side
    delimiter: str

    def apply(self, rows: Rows, chosen: Sequence[int]) -> Failed:
        def change(document: Document, row: int) -> None:
            content = document.content()
            assert isinstance(content, dict)
            flat = dict(self._flat(content, "", java=document.exact, names=document.names()))
            if not document.exact and len(flat) != _leaves(content):
                # Two fields get one name: the last one wins, in Java's order.
                flat |= dict(self._flat(content, "", java=True, names=document.names()))
            document.replace(flat)
            document.in_order()

        return each_map(rows, self.side, chosen, "flattening", change)

    def _flat(
        self, value: dict[str, Json], prefix: str, *, java: bool, names: list[str] | None = None
    ) -> Iterator[tuple[str, Json]]:
        if not java:
            names = list(value)
        elif names is None:
            names = java_order(list(value))
        for name in names:
            inner = value[name]
            full = f"{prefix}{self.delimiter}{name}" if prefix else name
            if isinstance(inner, dict):
                yield from self._flat(inner, full, java=java)
            else:
                yield full, inner


def _leaves(value: Json) -> int:
    if not isinstance(value, dict):
        return 1
    return sum(map(_leaves, value.values()))


@dataclass(frozen=True, slots=True)
class ValueToKey:
    fields: tuple[str, ...]

    def apply(self, rows: Rows, chosen: Sequence[int]) -> Failed:
        buckets = 1 << max(len(self.fields) - 1, 0).bit_length()

        def change(document: Document, row: int) -> None:
            members = [(field, document.get(field)) for field in self.fields]
            rows.put("Key", row, Document.of(members, exact=True, buckets=buckets))

        purpose = "copying fields from value to key"
        return each_map(rows, "Value", chosen, purpose, change, null_passes=False, whole=True)
