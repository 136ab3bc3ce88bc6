"""A valid response of every kind that is read with kafka-python's classes, in each of its versions."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from heliograph.wire import messages

REQUESTS = [getattr(messages, name) for name in messages.__all__ if name.endswith("Request")]
_VALUES: dict[str, object] = {
    "string": "größe",
    "bool": True,
    "uuid": UUID(int=7),
    "bytes": b"bytes",
    "records": b"",
    "float64": 1.5,
}


def sample(kind: Any, version: int) -> Any:
    """An instance of one of kafka-python's message classes with something in every field."""
    fields = kind._struct.untagged_fields(version)
    return kind(version=version, **{field.name: _value(field, version) for field in fields})


def _value(field: Any, version: int) -> Any:
    if field.is_struct_array():
        return [_struct(field.array_of, version)] * 2
    if field.is_array():
        return [_value(field.array_of, version)] * 2
    if field.is_struct():
        return _struct(field, version)
    if field.name == "error_code":
        return 0
    if field.type_str == "bitfield":
        return {1, 3}
    return _VALUES.get(field.type_str, 3)


def _struct(struct: Any, version: int) -> Any:
    return struct.data_class(
        version=version,
        **{field.name: _value(field, version) for field in struct.untagged_fields(version)},
    )
