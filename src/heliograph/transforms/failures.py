"""Why a record could not be transformed. Sentences name fields and types, never contents of a record."""

from __future__ import annotations


class RecordFailed(ValueError):
    """This record fails; what becomes of it is decided by `on_error.py`."""


def require_map(value: object, purpose: str) -> dict[str, object]:
    """As Connect's `Requirements.requireMap`."""
    if isinstance(value, dict):
        return value
    raise only_maps(value, purpose)


def only_maps(value: object, purpose: str) -> RecordFailed:
    return RecordFailed(
        f"Only Map objects supported in absence of schema for [{purpose}], found: {java_class(value)}"
    )


def java_class(value: object) -> str:
    """The class that Connect's JsonConverter gives such a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "java.lang.Boolean"
        case str():
            return "java.lang.String"
        case list():
            return "java.util.ArrayList"
        case dict():
            return "java.util.HashMap"
        case _:
            return f"java.lang.{java_number(value)}"


def java_number(value: object) -> str:
    name = type(value).__name__
    return {"int": "Long", "float": "Double", "Int8": "Byte", "Int16": "Short"}.get(
        name, {"Int32": "Integer", "Float32": "Float"}.get(name, name)
    )
