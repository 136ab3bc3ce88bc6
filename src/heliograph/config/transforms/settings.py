"""Settings of a transformation, checked as Kafka's `ConfigDef` does, with its sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from heliograph.config.options.checks import invalid
from heliograph.config.options.values import BOOLEAN, LIST, STRING, InvalidValue, OptionType, Value
from heliograph.errors import InvalidPattern
from heliograph.policy.java_regex import JavaPattern
from heliograph.transforms.cast import TYPES

#: The sentence about a value (None: not set), or None if it is valid.
Check = Callable[[str, Value | None], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    name: str
    type: OptionType = STRING
    default: str | None = None
    required: bool = False
    check: Check | None = None

    def read(self, prefix: str, given: Mapping[str, str]) -> tuple[Value | None, list[str]]:
        """The value, and Connect's sentences about it."""
        errors: list[str] = []
        text = given.get(self.name, self.default)
        value: Value | None = None
        if text is None and self.required:
            errors.append(
                f'Missing required configuration "{prefix}{self.name}" which has no default value.'
            )
        if text is not None:
            try:
                value = self.type.parse(text)
            except InvalidValue:
                errors.append(invalid(prefix + self.name, text, self.type.refusal))
                return None, errors
        if self.check is not None and (wrong := self.check(self.name, value)) is not None:
            errors.append(wrong)
        return value, errors


def non_null(name: str, value: Value | None) -> str | None:
    return invalid(name, None, "entry must be non null") if value is None else None


def non_empty(name: str, value: Value | None) -> str | None:
    return invalid(name, value, "String must be non-empty") if value == "" else None


def names(name: str, value: Value | None) -> str | None:
    """`ConfigDef.ValidList` of any values, not empty and without duplicates."""
    if value is None:
        return f"Configuration '{name}' values must not be null."
    if value == ():
        return (
            f"Configuration '{name}' must not be empty. Valid values include: any non-empty value"
        )
    return names_or_none(name, value)


def names_or_none(name: str, value: Value | None) -> str | None:
    items = value if isinstance(value, tuple) else ()
    if "" in items:
        return f"Configuration '{name}' values must not be empty."
    if len(set(items)) < len(items):
        return f"Configuration '{name}' values must not be duplicated."
    return None


def non_empty_list(name: str, value: Value | None) -> str | None:
    return None if value else invalid(name, value, "Empty list")


def one_of(*choices: str, ignoring_case: bool = False) -> Check:
    words = "String must be one of" + (" (case insensitive)" if ignoring_case else "")

    def check(name: str, value: Value | None) -> str | None:
        text = str(value).upper() if ignoring_case else value
        return None if text in choices else invalid(name, value, f"{words}: {', '.join(choices)}")

    return check


def java_pattern(name: str, value: Value | None) -> str | None:
    if value is None:
        return None
    try:
        JavaPattern(str(value))
    except InvalidPattern as problem:
        return invalid(name, value, f"Invalid regex: {problem}")
    return None


def non_empty_pattern(name: str, value: Value | None) -> str | None:
    return non_empty(name, value) or java_pattern(name, value)


def java_split(text: str) -> list[str]:
    """`String.split(":")`: empty parts at the end do not count."""
    parts = text.split(":")
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return parts


def renames(name: str, value: Value | None) -> str | None:
    for each in value if isinstance(value, tuple) else ():
        if len(java_split(each)) != 2:
            return invalid("renames", value, f"Invalid rename mapping: {each}")
    return None


_NO_TYPE = (
    "Invalid value java.lang.IllegalArgumentException: No enum constant "
    "org.apache.kafka.connect.data.Schema.Type.{} for configuration Invalid type found in casting spec: {}"
)


def casts(name: str, value: Value | None) -> str | None:
    items = value if isinstance(value, tuple) else ()
    if not items:
        return "Must specify at least one field to cast."
    for each in items:
        parts = java_split(each)
        if len(parts) > 2:
            return invalid("renames", value, f"Invalid rename mapping: {each}")
        wanted = parts[-1].strip().upper()
        if wanted in ("BYTES", "ARRAY", "MAP", "STRUCT"):
            return (
                f"Cast transformation does not support casting to {wanted}; supported types are "
                f"[{', '.join(TYPES)}]"
            )
        if wanted not in TYPES:
            return _NO_TYPE.format(wanted, parts[-1].strip())
    if len(items) > 1 and any(len(java_split(each)) == 1 for each in items):
        return (
            "Cast transformations that specify a type to cast the entire value to may only specify a "
            "single cast in their spec"
        )
    return None


def text(name: str, **more: object) -> Setting:
    return Setting(name=name, **more)  # type: ignore[arg-type]


def needed(name: str, check: Check | None = None, kind: OptionType = STRING) -> Setting:
    return Setting(name=name, type=kind, required=True, check=check)


#: Has no effect without schemas, but is a setting of most transformations.
REPLACE_NULL = Setting(name="replace.null.with.default", type=BOOLEAN, default="true")
FIELD_SYNTAX = Setting(
    name="field.syntax.version", default="V1", check=one_of("V1", "V2", ignoring_case=True)
)
FIELDS = needed("fields", names, LIST)


# ── the literal of InsertHeader ──────────────────────────────────────────────────────────────

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_DECIMAL = re.compile(r"[+-]?([0-9]+)\.([0-9]+)")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z"
_DATE = r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
_TEMPORAL = re.compile(rf"{_DATE}|{_TIME}|{_DATE}T{_TIME}")
_DELIMITER = re.compile(r'[\[\]{},:"]')


def header_literal(literal: str) -> bytes | None:
    """What Connect makes of a header's literal: `Values.parseString`, and SimpleHeaderConverter back.

    Raises ValueError for literals that it takes for lists, maps or numbers of other forms, which it would
    not write as they were given.
    """
    trimmed = literal.strip()
    if trimmed == "null":
        return None
    if _INTEGER.fullmatch(trimmed):
        return str(int(trimmed)).encode()
    if decimal := _DECIMAL.fullmatch(trimmed):
        return _float32_text(trimmed, *decimal.groups()).encode()
    if _TEMPORAL.fullmatch(trimmed):
        return trimmed.encode()
    first = _DELIMITER.split(trimmed, maxsplit=1)[0].strip()
    if trimmed[:1] in ("[", "{", '"'):
        raise ValueError(
            "Connect would parse it as a list, a map or quoted text; begin with a letter"
        )
    if _NUMBER.fullmatch(first) or (first != trimmed and first in ("null", "true", "false")):
        raise ValueError(f"Connect would parse {first} as a number or word of its own")
    if re.match(r"[0-9]{1,4}[-:][0-9]", trimmed) and len(trimmed) in (10, 13, 24):
        raise ValueError(
            "Connect would parse it as a date or time, which it is not; write a valid one"
        )
    return trimmed.encode()


def _float32_text(literal: str, whole: str, fraction: str) -> str:
    digits = (whole.lstrip("0") + fraction.rstrip("0")).lstrip("0")
    if not fraction.strip("0"):
        return str(int(literal.partition(".")[0]))
    if (
        len(digits) > 6
        or len(whole.lstrip("0")) > 6
        or (not whole.strip("0") and fraction[:3] == "000")
    ):
        raise ValueError("Connect would round it to a float of 32 bits; write at most 6 digits")
    sign = "-" if literal.startswith("-") else ""
    return f"{sign}{int(whole)}.{fraction.rstrip('0')}"
