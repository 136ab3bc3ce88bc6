"""Kafka's transformations and predicates by class: their settings, and how one is built from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from heliograph.config.options.values import LIST, Value
from heliograph.config.transforms.settings import (
    FIELD_SYNTAX,
    FIELDS,
    REPLACE_NULL,
    Setting,
    casts,
    header_literal,
    java_pattern,
    java_split,
    names,
    names_or_none,
    needed,
    non_empty,
    non_empty_list,
    non_empty_pattern,
    non_null,
    one_of,
    renames,
    text,
)
from heliograph.mm2.connect.jackson import hash_map_order
from heliograph.policy.java_regex import JavaPattern, read_replacement
from heliograph.transforms.cast import Cast
from heliograph.transforms.field_path import field_path
from heliograph.transforms.fields import InsertField, MaskField, ReplaceField
from heliograph.transforms.headers import DropHeaders, HeaderFrom, InsertHeader
from heliograph.transforms.predicates import (
    Filter,
    HasHeaderKey,
    RecordIsTombstone,
    TopicNameMatches,
)
from heliograph.transforms.reshape import ExtractField, Flatten, HoistField, ValueToKey
from heliograph.transforms.rows import Side
from heliograph.transforms.simple_date_format import SimpleDateFormat
from heliograph.transforms.topics import RegexRouter, TimestampRouter
from heliograph.transforms.transform import Predicate, Transform

TRANSFORMS = "org.apache.kafka.connect.transforms."
PREDICATES = f"{TRANSFORMS}predicates."

T = TypeVar("T")
Values = Mapping[str, Value | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(Generic[T]):
    """`build` raises ValueError with the sentence of the class's `configure`."""

    settings: tuple[Setting, ...]
    build: Callable[[Side, Values], T]
    sides: bool = False  # has the classes $Key and $Value


def _str(values: Values, name: str) -> str:
    return str(values[name])


def _list(values: Values, name: str) -> tuple[str, ...]:
    value = values[name]
    return value if isinstance(value, tuple) else ()


def _regex_router(_: Side, values: Values) -> RegexRouter:
    regex, replacement = JavaPattern(_str(values, "regex")), _str(values, "replacement")
    read_replacement(regex, replacement)
    return RegexRouter(regex, replacement)


def _header_from(side: Side, values: Values) -> HeaderFrom:
    fields, headers = _list(values, "fields"), _list(values, "headers")
    if len(fields) != len(headers):
        raise ValueError(
            "'fields' config must have the same number of elements as 'headers' config."
        )
    encoded = tuple(each.encode() for each in headers)
    return HeaderFrom(side, fields, encoded, values["operation"] == "move")


def _insert_field(side: Side, values: Values) -> InsertField:
    if values["offset.field"] is not None:
        raise ValueError(
            "offset.field is for sink connectors: a mirrored record has no offset before it is written"
        )
    named = {
        name: None if (value := values[f"{name}.field"]) is None else _without_mark(str(value))
        for name in ("topic", "partition", "timestamp", "static")
    }
    if not any(name is not None for name in named.values()):
        raise ValueError("No field insertion configured")
    static = values["static.value"]
    if named["static"] is not None and static is None:
        raise ValueError(
            "Invalid value null for configuration static.value: No value specified for static field: "
            f"{named['static']}"
        )
    return InsertField(
        side=side,
        **{f"{name}_field": value for name, value in named.items()},
        static_value=None if static is None else str(static),
    )


def _without_mark(spec: str) -> str:
    """`!` and `?` make a field required or optional in a schema."""
    return spec[:-1] if spec.endswith(("?", "!")) else spec


def _replace_field(side: Side, values: Values) -> ReplaceField:
    pairs = [java_split(each) for each in _list(values, "renames")]
    return ReplaceField(
        side=side,
        exclude=frozenset(_list(values, "exclude")),
        include=frozenset(_list(values, "include")),
        renames=tuple({pair[0]: pair[1] for pair in pairs}.items()),
    )


def _mask_field(side: Side, values: Values) -> MaskField:
    replacement = values["replacement"]
    return MaskField(
        side=side,
        fields=_list(values, "fields"),
        replacement=None if replacement is None else str(replacement),
    )


def _cast(side: Side, values: Values) -> Cast:
    pairs = [java_split(each) for each in _list(values, "spec")]
    if len(pairs[0]) == 1:
        return Cast(side, whole=pairs[0][0].strip().upper())
    types = {name.strip(): wanted.strip().upper() for name, wanted in pairs}
    return Cast(side, tuple((name, types[name]) for name in hash_map_order(list(types))))


def _extract_field(side: Side, values: Values) -> ExtractField:
    version = _str(values, "field.syntax.version").upper()
    return ExtractField(side, field_path(_str(values, "field"), version))


_KINDS: dict[str, Kind[Transform]] = {
    "RegexRouter": Kind(
        settings=(needed("regex", java_pattern), needed("replacement")), build=_regex_router
    ),
    "TimestampRouter": Kind(
        settings=(
            text("topic.format", default="${topic}-${timestamp}"),
            text("timestamp.format", default="yyyyMMdd"),
        ),
        build=lambda _, values: TimestampRouter(
            _str(values, "topic.format"), SimpleDateFormat(_str(values, "timestamp.format"))
        ),
    ),
    "InsertHeader": Kind(
        settings=(needed("header", non_null), needed("value.literal", non_null)),
        build=lambda _, values: InsertHeader(
            _str(values, "header").encode(), header_literal(_str(values, "value.literal"))
        ),
    ),
    "DropHeaders": Kind(
        settings=(needed("headers", names, LIST),),
        build=lambda _, values: DropHeaders(
            frozenset(each.encode() for each in _list(values, "headers"))
        ),
    ),
    "HeaderFrom": Kind(
        settings=(
            needed("fields", non_empty_list, LIST),
            needed("headers", non_empty_list, LIST),
            needed("operation", one_of("move", "copy")),
            REPLACE_NULL,
        ),
        build=_header_from,
        sides=True,
    ),
    "InsertField": Kind(
        settings=(
            *(text(f"{name}.field") for name in ("topic", "partition", "offset", "timestamp")),
            text("static.field"),
            text("static.value"),
            REPLACE_NULL,
        ),
        build=_insert_field,
        sides=True,
    ),
    "ReplaceField": Kind(
        settings=(
            text("exclude", type=LIST, default="", check=names_or_none),
            text("include", type=LIST, default="", check=names_or_none),
            text("renames", type=LIST, default="", check=renames),
            REPLACE_NULL,
        ),
        build=_replace_field,
        sides=True,
    ),
    "MaskField": Kind(
        settings=(FIELDS, text("replacement", check=non_empty), REPLACE_NULL),
        build=_mask_field,
        sides=True,
    ),
    "ExtractField": Kind(
        settings=(needed("field"), REPLACE_NULL, FIELD_SYNTAX), build=_extract_field, sides=True
    ),
    "HoistField": Kind(
        settings=(needed("field"),),
        build=lambda side, values: HoistField(side, _str(values, "field")),
        sides=True,
    ),
    "Flatten": Kind(
        settings=(text("delimiter", default="."),),
        build=lambda side, values: Flatten(side, _str(values, "delimiter")),
        sides=True,
    ),
    "Cast": Kind(settings=(needed("spec", casts, LIST), REPLACE_NULL), build=_cast, sides=True),
    "ValueToKey": Kind(
        settings=(FIELDS, REPLACE_NULL),
        build=lambda _, values: ValueToKey(_list(values, "fields")),
    ),
    "Filter": Kind(settings=(), build=lambda _, __: Filter()),
}
_PREDICATES: dict[str, Kind[Predicate]] = {
    "TopicNameMatches": Kind(
        settings=(needed("pattern", non_empty_pattern),),
        build=lambda _, values: TopicNameMatches(JavaPattern(_str(values, "pattern"))),
    ),
    "HasHeaderKey": Kind(
        settings=(needed("name", non_empty),),
        build=lambda _, values: HasHeaderKey(_str(values, "name").encode()),
    ),
    "RecordIsTombstone": Kind(settings=(), build=lambda _, __: RecordIsTombstone()),
}
#: Kafka's classes that are refused, and why.
REFUSED = {
    f"{TRANSFORMS}SetSchemaMetadata": "mirrored records have no schema whose name or version it could set; "
    "remove it from transforms",
    f"{TRANSFORMS}TimestampConverter": "it is not supported; use a SQL query or a function instead",
}


def _classes(name: str, kind: Kind[Transform]) -> Mapping[str, Side]:
    if not kind.sides:
        return {TRANSFORMS + name: "Value"}
    return {f"{TRANSFORMS}{name}$Key": "Key", f"{TRANSFORMS}{name}$Value": "Value"}


TRANSFORM_CLASSES: dict[str, tuple[Kind[Transform], Side]] = {
    full: (kind, side)
    for name, kind in _KINDS.items()
    for full, side in _classes(name, kind).items()
}
PREDICATE_CLASSES: dict[str, tuple[Kind[Predicate], Side]] = {
    f"{PREDICATES}{name}": (kind, "Value") for name, kind in _PREDICATES.items()
}
