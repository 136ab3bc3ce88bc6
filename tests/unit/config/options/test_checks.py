"""Rules for values: one definition, with the sentences of a file and of Kafka's ConfigDef."""

import pytest

from heliograph.config.options import OPTIONS, Option
from heliograph.config.options.checks import (
    Check,
    at_least,
    between,
    byte_array_converter,
    one_of,
    one_of_ignoring_case,
    some_of,
    topic_name,
)
from heliograph.config.options.values import InvalidValue, Value


@pytest.mark.parametrize(
    ("check", "value", "in_file", "in_connect"),
    [
        (at_least(1), 0, "a whole number of at least 1", "Value must be at least 1"),
        (between(0, 9), 10, "a whole number from 0 to 9", "Value must be no more than 9"),
        (one_of("none", "all"), "some", "none or all", "String must be one of: none, all"),
        (
            one_of_ignoring_case("SSL", "PLAINTEXT", expected="PLAINTEXT or SSL"),
            "tls",
            "PLAINTEXT or SSL",
            "String must be one of (case insensitive): SSL, PLAINTEXT",
        ),
        (
            topic_name,
            "",
            "letters, digits, dots, underscores or hyphens",
            "String must be non-empty",
        ),
        (
            byte_array_converter,
            "JsonConverter",
            "ByteArrayConverter, since records are copied as they are",
            "records are copied as they are; expected "
            "org.apache.kafka.connect.converters.ByteArrayConverter",
        ),
    ],
)
def test_a_refused_value_has_a_sentence_for_files_and_kafkas_for_connect(
    check: Check, value: Value, in_file: str, in_connect: str
) -> None:
    with pytest.raises(InvalidValue) as refused:
        check.require(value)
    assert refused.value.expected == in_file
    assert check.config_def is not None
    assert (
        check.config_def("x", value) == f"Invalid value {value} for configuration x: {in_connect}"
    )


def test_a_list_of_choices_is_refused_when_empty_doubled_or_unknown() -> None:
    check = some_of("legacy", "new")
    assert check.config_def is not None

    assert check.config_def("x", ("legacy", "new")) is None
    assert check.config_def("x", ()) == (
        "Configuration 'x' must not be empty. Valid values include: [legacy, new]"
    )
    assert check.config_def("x", ("new", "new")) == (
        "Configuration 'x' values must not be duplicated."
    )
    assert check.config_def("x", ("old",)) == (
        "Invalid value old for configuration x: String must be one of: legacy, new"
    )
    for refused in ((), ("old",)):
        with pytest.raises(InvalidValue):
            check.require(refused)


def test_a_rule_may_hold_on_one_side_only() -> None:
    assert at_least(1).in_files_only.config_def is None
    assert not at_least(1).in_files_only.accepts(0)

    assert at_least(1).in_connect_only.config_def is not None
    assert at_least(1).in_connect_only.accepts(0)


@pytest.mark.parametrize("option", OPTIONS.values(), ids=lambda each: f"{each.scope}-{each.name}")
def test_every_default_passes_its_own_check(option: Option) -> None:
    if option.default is not None:
        option.parse(option.default)
