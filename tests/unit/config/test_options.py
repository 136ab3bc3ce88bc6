from __future__ import annotations

import pytest

from heliograph.config.options import OPTIONS, Option, Support
from heliograph.config.values import INT, InvalidValue, parse_boolean, parse_list


@pytest.mark.parametrize("option", OPTIONS.values(), ids=lambda option: option.name)
def test_every_default_is_a_value_of_its_option(option: Option) -> None:
    if option.default is not None:
        option.parse(option.default)

    assert option.doc
    assert option.support in Support


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("a, b ,c", ("a", "b", "c")),
        ("  a ", ("a",)),
        ("a,", ("a", "")),
        ("   ", ()),
        ("", ()),
    ],
)
def test_lists_are_split_as_kafka_does(text: str, items: tuple[str, ...]) -> None:
    assert parse_list(text) == items


def test_booleans_ignore_case_and_blanks_and_nothing_else() -> None:
    assert parse_boolean(" TRUE ") is True
    assert parse_boolean("False") is False
    with pytest.raises(InvalidValue):
        parse_boolean("1")


@pytest.mark.parametrize("text", ["", "1_000", "1.0", "0x10", "2147483648", "٣"])
def test_what_java_does_not_take_for_an_int_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue, match="a whole number from -2147483648 to 2147483647"):
        INT.parse(text)


def test_ints_may_have_a_sign_and_blanks_around() -> None:
    assert (INT.parse(" +5 "), INT.parse("-1")) == (5, -1)
