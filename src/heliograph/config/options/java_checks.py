"""Checks of values, and what is wrong with one in the sentences of Kafka's `ConfigDef`.

Scripts match these sentences, so that they are kept to the letter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from heliograph.config.options.values import BYTE_ARRAY_CONVERTER, parse_list

Parsed = str | int | float | bool | tuple[str, ...] | None
#: A value as it was parsed (None for none, and for one that could not be), and what is wrong with it.
Check = Callable[[str, Parsed], str | None]

_NUMBER = re.compile(r"[+-]?[0-9]{1,19}")
_RANGES = {"SHORT": 15, "INT": 31, "LONG": 63}
_BYTES = {
    *("ByteArrayConverter", BYTE_ARRAY_CONVERTER),
    # What Connect uses for headers unless told otherwise; ours go over as they are.
    *("SimpleHeaderConverter", "org.apache.kafka.connect.storage.SimpleHeaderConverter"),
}
_OTHERS = {
    f"{kind}Converter"
    for kind in ("Boolean", "Double", "Float", "Integer", "Json", "Long", "Short", "String")
}


class NotParsed(ValueError):
    """The sentence."""


def invalid(name: str, value: object, why: str) -> str:
    return f"Invalid value {java_text(value)} for configuration {name}: {why}"


def java_text(value: object) -> str:
    """As Java prints it."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case tuple():
            return f"[{', '.join(value)}]"
        case _:
            return str(value)


def parse(name: str, text: str, type_: str) -> Parsed:
    """`ConfigDef.parseType`. Raises NotParsed."""
    trimmed = text.strip()
    match type_:
        case "BOOLEAN":
            if trimmed.lower() not in ("true", "false"):
                raise NotParsed(invalid(name, text, "Expected value to be either true or false"))
            return trimmed.lower() == "true"
        case "INT" | "LONG" | "SHORT":
            return _whole_number(name, text, trimmed, type_)
        case "DOUBLE":
            try:
                return float(trimmed)
            except ValueError:
                raise NotParsed(invalid(name, text, "Not a number of type DOUBLE")) from None
        case "LIST":
            return parse_list(trimmed)
        case _:
            return trimmed


def _whole_number(name: str, text: str, trimmed: str, type_: str) -> int:
    limit = 1 << _RANGES[type_]
    if not _NUMBER.fullmatch(trimmed) or not -limit <= int(trimmed) < limit:
        raise NotParsed(invalid(name, text, f"Not a number of type {type_}"))
    return int(trimmed)


def at_least(low: int) -> Check:
    return _range(low, None)


def between(low: float, high: float) -> Check:
    return _range(low, high)


def _range(low: float, high: float | None) -> Check:
    def check(name: str, value: Parsed) -> str | None:
        if value is None:
            return invalid(name, None, "Value must be non-null")
        assert isinstance(value, int | float)
        if value < low:
            return invalid(name, value, f"Value must be at least {low}")
        if high is not None and value > high:
            return invalid(name, value, f"Value must be no more than {high}")
        return None

    return check


def one_of(*choices: str) -> Check:
    def check(name: str, value: Parsed) -> str | None:
        if value in choices:
            return None
        return invalid(name, value, f"String must be one of: {', '.join(choices)}")

    return check


def one_of_ignoring_case(*choices: str) -> Check:
    def check(name: str, value: Parsed) -> str | None:
        if isinstance(value, str) and value.upper() in choices:
            return None
        expected = f"String must be one of (case insensitive): {', '.join(choices)}"
        return invalid(name, value, expected)

    return check


def non_empty(name: str, value: Parsed) -> str | None:
    return invalid(name, value, "String must be non-empty") if value == "" else None


def name_of_a_connector(name: str, value: Parsed) -> str | None:
    """`NonEmptyStringWithoutControlChars`."""
    if not isinstance(value, str):
        return None
    if not value:
        return invalid(name, value, "String may not be empty")
    controls = [str(ord(each)) for each in value if ord(each) < 32 or 127 <= ord(each) < 160]
    if controls:
        found = f"had the following ASCII chars: {', '.join(controls)}"
        return invalid(name, value, f"String may not contain control sequences but {found}")
    return None


def any_values(name: str, value: Parsed) -> str | None:
    """`ValidList.anyNonDuplicateValues`, empty allowed."""
    if value is None:
        return f"Configuration '{name}' values must not be null."
    assert isinstance(value, tuple)
    if len(set(value)) < len(value):
        return f"Configuration '{name}' values must not be duplicated."
    if "" in value:
        return f"Configuration '{name}' values must not be empty."
    return None


def some_of(*choices: str) -> Check:
    listed = f"[{', '.join(choices)}]"

    def check(name: str, value: Parsed) -> str | None:
        if value == ():
            return f"Configuration '{name}' must not be empty. Valid values include: {listed}"
        wrong = any_values(name, value)
        if wrong is None:
            wrong = next(
                (one_of(*choices)(name, each) for each in _items(value) if each not in choices),
                None,
            )
        return wrong

    return check


def _items(value: Parsed) -> Sequence[str]:
    return value if isinstance(value, tuple) else ()


def unique_aliases(name: str, value: Parsed) -> str | None:
    if value is None:
        return invalid(name, None, "entry must be non null")
    aliases = _items(value)
    return (
        invalid(name, value, "Duplicate alias provided.")
        if len(set(aliases)) < len(aliases)
        else None
    )


def is_converter(class_name: str) -> bool:
    return class_name in _BYTES or class_name.rpartition(".")[2] in _OTHERS


def converter(name: str, value: Parsed) -> str | None:
    """Records are copied as they are, so that a converter that would do something is refused."""
    if value is None or value in _BYTES:
        return None
    return invalid(name, value, f"records are copied as they are; expected {BYTE_ARRAY_CONVERTER}")
