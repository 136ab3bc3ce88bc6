"""The types of option values, parsed as Kafka's `ConfigDef` parses them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

Value = str | int | float | bool | tuple[str, ...]

BYTE_ARRAY_CONVERTER = "org.apache.kafka.connect.converters.ByteArrayConverter"


class InvalidValue(ValueError):
    """A text that is not a value of its option; `expected` completes "expected …, found …". `limit`: the
    number is outside of the type's limits, here the one that it passes. `remedy` ends the sentence."""

    def __init__(self, expected: str, limit: str = "", remedy: str = "") -> None:
        self.expected = expected
        self.limit = limit
        self.remedy = remedy
        super().__init__(f"expected {expected}")


@dataclass(frozen=True, slots=True)
class OptionType:
    """`name` is Kafka's, as Connect's REST API prints it. `refusal` is what `ConfigDef.parseType` says of a
    text that `parse` refuses with InvalidValue."""

    name: str
    parse: Callable[[str], Value]
    refusal: str = ""


_NUMBER = re.compile(r"[+-]?[0-9]+")
#: A LONG has 19 digits, Java allows leading zeros, and Python refuses to read thousands of digits.
_MOST_DIGITS = 100


def parse_list(text: str) -> tuple[str, ...]:
    """`a, b` has two items, `a,` has one item and an empty one, a blank text has none."""
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
        if not _NUMBER.fullmatch(trimmed):
            raise InvalidValue("a whole number")
        readable = len(trimmed) <= _MOST_DIGITS
        if not readable or not low <= int(trimmed) <= high:
            limit = f"at least {low}" if trimmed.startswith("-") else f"at most {high}"
            raise InvalidValue(f"a whole number of {limit}", limit)
        return int(trimmed)

    return parse


def _double(text: str) -> float:
    try:
        return float(text.strip())
    except ValueError:
        raise InvalidValue("a number") from None


def _whole(name: str, bits: int) -> OptionType:
    limit = 1 << (bits - 1)
    return OptionType(name, _number(-limit, limit - 1), f"Not a number of type {name}")


STRING = OptionType("STRING", str.strip)
LIST = OptionType("LIST", parse_list)
BOOLEAN = OptionType("BOOLEAN", parse_boolean, "Expected value to be either true or false")
SHORT = _whole("SHORT", 16)
INT = _whole("INT", 32)
LONG = _whole("LONG", 64)
DOUBLE = OptionType("DOUBLE", _double, "Not a number of type DOUBLE")
CLASS = OptionType("CLASS", str.strip)
PASSWORD = OptionType("PASSWORD", str.strip)
