"""Rules for the values of options: one definition of each rule, for files and for Connect's answers.

A bad value in a file is reported as "<key>: expected …, found …". Connect's REST API answers with the
sentences of Kafka's `ConfigDef`; scripts match those, so they are kept to the letter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from heliograph.config.options.values import BYTE_ARRAY_CONVERTER, InvalidValue, Value
from heliograph.config.resolve.near_match import did_you_mean
from heliograph.policy.ported import python_class

#: None: no value was given, or it could not be parsed.
Parsed = Value | None
#: What is wrong with the setting of this name and value, as ConfigDef words it; None: nothing.
ConfigDefCheck = Callable[[str, Parsed], str | None]

_SIMPLE_HEADERS = "org.apache.kafka.connect.storage.SimpleHeaderConverter"
_BYTE_CONVERTERS = {"ByteArrayConverter", BYTE_ARRAY_CONVERTER}
#: Connect's default for headers, which a connector may well name. It would write the values of headers as
#: Base64 text, since MM2's are bytes; here they are copied as they are, with a warning.
_HEADER_CONVERTERS = {*_BYTE_CONVERTERS, "SimpleHeaderConverter", _SIMPLE_HEADERS}
_OTHER_CONVERTERS = {
    f"{kind}Converter"
    for kind in ("Boolean", "Double", "Float", "Integer", "Json", "Long", "Short", "String")
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """`accepts` decides in a file, and `expected` completes "expected …, found …", `remedy` the sentence.

    `config_def` is the validator of the same option in Kafka's ConfigDef; None: Kafka does not check it.
    """

    expected: str = ""
    accepts: Callable[[Value], bool] = lambda _: True
    config_def: ConfigDefCheck | None = None
    remedy: Callable[[Value], str] = lambda _: ""

    def require(self, value: Value) -> None:
        """Raises InvalidValue."""
        if not self.accepts(value):
            raise InvalidValue(self.expected, remedy=self.remedy(value))

    @property
    def in_files_only(self) -> Check:
        return replace(self, config_def=None)

    @property
    def in_connect_only(self) -> Check:
        return Check(config_def=self.config_def)


def invalid(name: str, value: object, why: str) -> str:
    """The sentence of a `ConfigException`."""
    return f"Invalid value {java_text(value)} for configuration {name}: {why}"


def java_text(value: object) -> str:
    """The value as Java prints it."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case tuple():
            return f"[{', '.join(value)}]"
        case _:
            return str(value)


# ── numbers ──────────────────────────────────────────────────────────────────────────────────


def at_least(low: int) -> Check:
    return Check(
        expected=f"a whole number of at least {low}",
        accepts=lambda value: isinstance(value, int) and value >= low,
        config_def=_range(low, None),
    )


def between(low: float, high: float) -> Check:
    whole = "whole " if isinstance(low, int) else ""
    return Check(
        expected=f"a {whole}number from {low} to {high}",
        accepts=lambda value: isinstance(value, int | float) and low <= value <= high,
        config_def=_range(low, high),
    )


def _range(low: float, high: float | None) -> ConfigDefCheck:
    """`ConfigDef.Range`"""

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


#: A number of topics' partitions.
positive_or_broker_default = Check(
    expected="a whole number of at least 1, or -1 for the broker's default",
    accepts=lambda value: isinstance(value, int) and (value >= 1 or value == -1),
)
#: Kafka's protocol has 16 bits for a replication factor.
replicas_or_broker_default = Check(
    expected="a whole number from 1 to 32767, or -1 for the broker's default",
    accepts=lambda value: isinstance(value, int) and (1 <= value <= 32767 or value == -1),
)
#: An interval. MM2 never runs a task with a negative interval (`Scheduler.scheduleRepeating`).
positive_or_never = Check(
    expected="a whole number of at least 1, or -1 for never",
    accepts=lambda value: isinstance(value, int) and value != 0,
)


# ── words ────────────────────────────────────────────────────────────────────────────────────


def one_of(*choices: str) -> Check:
    return Check(
        expected=" or ".join(choices),
        accepts=lambda value: value in choices,
        config_def=lambda name, value: (
            None if value in choices else _not_one_of(name, value, choices)
        ),
    )


def _not_one_of(name: str, value: Parsed, choices: Sequence[str]) -> str:
    return invalid(name, value, f"String must be one of: {', '.join(choices)}")


def one_of_ignoring_case(*choices: str, expected: str) -> Check:
    """`choices` in upper case and in Kafka's order; `expected` as a user writes them."""
    sentence = f"String must be one of (case insensitive): {', '.join(choices)}"

    def accepts(value: Parsed) -> bool:
        return isinstance(value, str) and value.upper() in choices

    return Check(
        expected=expected,
        accepts=accepts,
        config_def=lambda name, value: None if accepts(value) else invalid(name, value, sentence),
    )


#: `org.apache.kafka.common.internals.Topic`: the characters of a topic's name.
topic_characters = Check(
    expected="letters, digits, dots, underscores or hyphens",
    accepts=lambda value: (
        isinstance(value, str) and re.fullmatch(r"[a-zA-Z0-9._-]+", value) is not None
    ),
)
#: ConfigDef only refuses an empty name.
topic_name = replace(
    topic_characters,
    config_def=lambda name, value: (
        invalid(name, value, "String must be non-empty") if value == "" else None
    ),
)


python_function = Check(
    expected="module:function, such as cleaning:without_names",
    accepts=lambda value: python_class(str(value)) is not None,
)


def _connector_name(name: str, value: Parsed) -> str | None:
    """`NonEmptyStringWithoutControlChars`"""
    if not isinstance(value, str):
        return None
    if not value:
        return invalid(name, value, "String may not be empty")
    controls = [str(ord(each)) for each in value if ord(each) < 32 or 127 <= ord(each) < 160]
    if controls:
        found = f"had the following ASCII chars: {', '.join(controls)}"
        return invalid(name, value, f"String may not contain control sequences but {found}")
    return None


connector_name = Check(config_def=_connector_name)


# ── lists ────────────────────────────────────────────────────────────────────────────────────


def _no_duplicates(name: str, value: Parsed) -> str | None:
    """`ValidList.anyNonDuplicateValues`, empty allowed"""
    if value is None:
        return f"Configuration '{name}' values must not be null."
    assert isinstance(value, tuple)
    if len(set(value)) < len(value):
        return f"Configuration '{name}' values must not be duplicated."
    if "" in value:
        return f"Configuration '{name}' values must not be empty."
    return None


#: In Connect only: files written for versions of Kafka without this check may have duplicates.
no_duplicates = Check(config_def=_no_duplicates)


def some_of(*choices: str) -> Check:
    listed = f"[{', '.join(choices)}]"

    def config_def(name: str, value: Parsed) -> str | None:
        if value == ():
            return f"Configuration '{name}' must not be empty. Valid values include: {listed}"
        unknown = (
            _not_one_of(name, item, choices) for item in _items(value) if item not in choices
        )
        return _no_duplicates(name, value) or next(unknown, None)

    return Check(
        expected=f"one or more of {', '.join(choices)}",
        accepts=lambda value: bool(_items(value)) and not set(_items(value)) - set(choices),
        config_def=config_def,
    )


def subset_of(*choices: str) -> Check:
    return Check(
        expected=f"any of {', '.join(choices)}, or nothing",
        accepts=lambda value: isinstance(value, tuple) and not set(value) - set(choices),
        remedy=lambda value: "".join(
            did_you_mean(item, choices) for item in _items(value) if item not in choices
        ),
    )


def _unique_aliases(name: str, value: Parsed) -> str | None:
    if value is None:
        return invalid(name, None, "entry must be non null")
    aliases = _items(value)
    duplicates = len(set(aliases)) < len(aliases)
    return invalid(name, value, "Duplicate alias provided.") if duplicates else None


unique_aliases = Check(config_def=_unique_aliases)


def _items(value: Parsed) -> Sequence[str]:
    return value if isinstance(value, tuple) else ()


_LABEL = re.compile(r"(?!__)[a-zA-Z_][a-zA-Z0-9_]*")
#: Labels that a metric of Heliograph has; a constant label of the same name would change its meaning.
METRIC_LABELS = frozenset(
    [
        "area",
        "cause",
        "client",
        "clientid",
        "clientId",
        "client_id",
        "cluster",
        "connector",
        "destination",
        "flow",
        "gc",
        "group",
        "kind",
        "le",
        "of",
        "partition",
        "process",
        "reason",
        "result",
        "source",
        "state",
        "status",
        "target",
        "task",
        "topic",
        "version",
    ]
)


def _is_label(text: str) -> bool:
    name, equals, _ = text.partition("=")
    return bool(equals) and _LABEL.fullmatch(name) is not None and name not in METRIC_LABELS


#: Constant labels of metrics, in Prometheus' notation of their names.
constant_labels = Check(
    expected="name=value, separated by commas, with names of letters, digits and underscores that no metric "
    "of Heliograph uses",
    accepts=lambda value: all(_is_label(item) for item in _items(value)),
)

#: The address of a listener without TLS.
http_address = Check(
    expected="http://host:port, such as http://0.0.0.0:9404, or nothing",
    accepts=lambda value: (
        re.fullmatch(r"(http://(\[[\w.:]+\]|[\w.-]*):\d{1,5})?", str(value)) is not None
        and int(str(value).rpartition(":")[2] or 0) <= 65535
    ),
)

#: A server for telemetry. A login belongs into headers, which are not shown.
telemetry_url = Check(
    expected="http://host:port or https://host:port, such as http://localhost:4318, or nothing",
    accepts=lambda value: (
        re.fullmatch(r"(https?://(\[[\w.:]+\]|[\w.-]+)(:\d{1,5})?(/[^\s@?#]*)?)?", str(value))
        is not None
    ),
)
#: As in OTEL_EXPORTER_OTLP_HEADERS.
telemetry_headers = Check(
    expected="name=value, separated by commas",
    accepts=lambda value: all(
        re.fullmatch(r"\s*[\w-]+\s*=[^=].*", each) is not None
        for each in str(value).split(",")
        if each.strip()
    ),
)


# ── converters ───────────────────────────────────────────────────────────────────────────────


def is_converter(class_name: str) -> bool:
    """Whether Kafka has a converter of this class."""
    return class_name in _HEADER_CONVERTERS or class_name.rpartition(".")[2] in _OTHER_CONVERTERS


def copies_bytes(class_name: str) -> bool:
    """Whether records that pass the converter stay as they are."""
    return class_name in _BYTE_CONVERTERS


def rewrites_headers(class_name: str) -> bool:
    """Whether a Java worker would write headers as text where they are copied as they are here."""
    return class_name in _HEADER_CONVERTERS and not copies_bytes(class_name)


def _only(converters: Collection[str]) -> Check:
    def config_def(name: str, value: Parsed) -> str | None:
        if value is None or str(value) in converters:
            return None
        why = f"records are copied as they are; expected {BYTE_ARRAY_CONVERTER}"
        return invalid(name, value, why)

    return Check(
        expected="ByteArrayConverter, since records are copied as they are",
        accepts=lambda value: str(value).rpartition(".")[2] in converters,
        config_def=config_def,
    )


byte_array_converter = _only(_BYTE_CONVERTERS)
header_converter = _only(_HEADER_CONVERTERS)
