"""Cast: fields, or a key or value as a whole, to another of Connect's types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heliograph.transforms.failures import RecordFailed
from heliograph.transforms.java_numbers import (
    Int8,
    Int16,
    Int32,
    narrowed,
    number_text,
    parse_floating,
    parse_integer,
    to_float32,
    wrapped,
)
from heliograph.transforms.json_document import Document, Json, connect
from heliograph.transforms.rows import Rows, Side
from heliograph.transforms.transform import Failed, each, each_map

_INPUTS = "INT8, INT16, INT32, INT64, FLOAT32, FLOAT64, BOOLEAN, STRING, BYTES"
_BITS = {"INT8": 8, "INT16": 16, "INT32": 32, "INT64": 64}
_CLASSES: dict[str, type[int]] = {"INT8": Int8, "INT16": Int16, "INT32": Int32, "INT64": int}
#: The types that `spec` may name, in Kafka's order.
TYPES = (*_BITS, "FLOAT32", "FLOAT64", "BOOLEAN", "STRING")


@dataclass(frozen=True, slots=True)
class Cast:
    """`casts`: fields and their types in the order of Java's map; `whole`: the type of all of it."""

    side: Side
    casts: tuple[tuple[str, str], ...] = ()
    whole: str | None = None

    def apply(self, rows: Rows, chosen: Sequence[int]) -> Failed:
        if self.whole is not None:
            return each(chosen, lambda row: self._cast_whole(rows, row, str(self.whole)))

        def change(document: Document, row: int) -> None:
            document.copied()
            for name, wanted in self.casts:
                document.put(name, cast(document.get(name), wanted))

        return each_map(rows, self.side, chosen, "cast types", change)

    def _cast_whole(self, rows: Rows, row: int, wanted: str) -> None:
        document = rows.document(self.side, row)
        if document is not None and not document.is_null:
            document.replace(cast(document.content(), wanted))


def cast(value: Json, wanted: str) -> Json:
    """`Cast.castValueToType`; raises RecordFailed."""
    if isinstance(value, list | dict):
        kind = "ARRAY" if isinstance(value, list) else "MAP"
        raise RecordFailed(
            f"Cast transformation does not support casting from {kind}; supported types are [{_INPUTS}]"
        )
    value = connect(value)
    if value is None:
        return None
    assert not isinstance(value, list | dict)
    try:
        return _cast(value, wanted)
    except ValueError:
        raise RecordFailed("a value was out of range for requested data type") from None


def _cast(value: bool | int | float | str, wanted: str) -> Json:
    if wanted == "STRING":
        if isinstance(value, str):
            return value
        return str(value).lower() if isinstance(value, bool) else number_text(value)
    if wanted == "BOOLEAN":
        if isinstance(value, str):
            return value.lower() == "true"
        return value if isinstance(value, bool) else _whole(value, 64) != 0
    if wanted in _BITS:
        bits = _BITS[wanted]
        number = parse_integer(value, bits) if isinstance(value, str) else _whole(value, bits)
        return _CLASSES[wanted](number)
    floating = parse_floating(value) if isinstance(value, str) else float(value)
    return to_float32(floating) if wanted == "FLOAT32" else floating


def _whole(value: bool | int | float, bits: int) -> int:
    return narrowed(value, bits) if isinstance(value, float) else wrapped(int(value), bits)
