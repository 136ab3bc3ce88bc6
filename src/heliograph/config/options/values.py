"""Types of option values, as Kafka's `ConfigDef` parses them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

Value = str | int | float | bool | tuple[str, ...]

BYTE_ARRAY_CONVERTER = "org.apache.kafka.connect.converters.ByteArrayConverter"


class InvalidValue(ValueError):
    """A text is not a value of its type; `expected` completes "expected …, found …"."""

    def __init__(self, expected: str) -> None:
        self.expected = expected
        super().__init__(f"expected {expected}")


@dataclass(frozen=True, slots=True)
class OptionType:
    """`name` is Kafka's, as its REST API prints it."""

    name: str
    parse: Callable[[str], Value]


_NUMBER = re.compile(r"[+-]?[0-9]{1,100}")  # a LONG has 19; some write zeros before it


def parse_list(text: str) -> tuple[str, ...]:
    """`a, b` is two items, `a,` is an item and an empty one, blank is none."""
    trimmed = text.strip()
    return tuple(map(str.strip, trimmed.split(","))) if trimmed else ()


def parse_boolean(text: str) -> bool:
    match text.strip().lower():
        case "true":
            return True
        case "false":
            return False
        case _:
            raise InvalidValue("true or false")


def _number(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        trimmed = text.strip()
        if not _NUMBER.fullmatch(trimmed) or not low <= int(trimmed) <= high:
            raise InvalidValue(f"a whole number from {low} to {high}")
        return int(trimmed)

    return parse


def _double(text: str) -> float:
    try:
        return float(text.strip())
    except ValueError:
        raise InvalidValue("a number") from None


STRING = OptionType("STRING", str.strip)
LIST = OptionType("LIST", parse_list)
BOOLEAN = OptionType("BOOLEAN", parse_boolean)
SHORT = OptionType("SHORT", _number(-(2**15), 2**15 - 1))
INT = OptionType("INT", _number(-(2**31), 2**31 - 1))
LONG = OptionType("LONG", _number(-(2**63), 2**63 - 1))
DOUBLE = OptionType("DOUBLE", _double)
CLASS = OptionType("CLASS", str.strip)
PASSWORD = OptionType("PASSWORD", str.strip)

Validator = Callable[[Value], None]


def at_least(low: int) -> Validator:
    def check(value: Value) -> None:
        if not isinstance(value, int) or value < low:
            raise InvalidValue(f"a whole number of at least {low}")

    return check


def between(low: int, high: int) -> Validator:
    def check(value: Value) -> None:
        if not isinstance(value, int) or not low <= value <= high:
            raise InvalidValue(f"a whole number from {low} to {high}")

    return check


def positive_or_broker_default(value: Value) -> None:
    if not isinstance(value, int) or (value < 1 and value != -1):
        raise InvalidValue("a whole number of at least 1, or -1 for the broker's default")


def positive_or_never(value: Value) -> None:
    """An interval: MM2 never runs what has a negative one (`Scheduler.scheduleRepeating`)."""
    if not isinstance(value, int) or value == 0:
        raise InvalidValue("a whole number of at least 1, or -1 for never")


def one_of(*choices: str) -> Validator:
    def check(value: Value) -> None:
        if value not in choices:
            raise InvalidValue(" or ".join(choices))

    return check


def one_of_ignoring_case(*choices: str) -> Validator:
    def check(value: Value) -> None:
        if str(value).upper() not in choices:
            raise InvalidValue(" or ".join(choices))

    return check


def some_of(*choices: str) -> Validator:
    def check(value: Value) -> None:
        if not isinstance(value, tuple) or not value or set(value) - set(choices):
            raise InvalidValue(f"one or more of {', '.join(choices)}")

    return check


def subset_of(*choices: str) -> Validator:
    def check(value: Value) -> None:
        if not isinstance(value, tuple) or set(value) - set(choices):
            raise InvalidValue(f"any of {', '.join(choices)}, or nothing")

    return check


def byte_array_converter(value: Value) -> None:
    if str(value).rpartition(".")[2] != "ByteArrayConverter":
        raise InvalidValue("ByteArrayConverter, since records are copied as they are")


def topic_characters(value: Value) -> None:
    """What may stand in a topic's name (`org.apache.kafka.common.internals.Topic`)."""
    if not isinstance(value, str) or not re.fullmatch(r"[a-zA-Z0-9._-]+", value):
        raise InvalidValue("letters, digits, dots, underscores or hyphens")
