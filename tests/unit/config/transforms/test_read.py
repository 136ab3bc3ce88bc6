"""Wrong settings of transformations are named with a remedy; Kafka's own sentences are compared with its
classes in tests/real/compat/test_transforms.py."""

from __future__ import annotations

import pytest

from heliograph.config.transforms.read import read_transforms
from heliograph.config.transforms.settings import header_literal

T = "org.apache.kafka.connect.transforms."


def errors(**settings: str) -> list[str]:
    named = {name.replace("__", "."): text for name, text in settings.items()}
    return [sentence for _, sentence in read_transforms(named).errors]


def test_no_transformations_are_an_empty_chain() -> None:
    assert read_transforms({"topics": ".*"}).stages == ()


def test_a_class_that_does_not_exist_is_named_with_the_one_it_resembles() -> None:
    assert errors(transforms="m", transforms__m__type=f"{T}MaskFeild$Value") == [
        f"Invalid value {T}MaskFeild$Value for configuration transforms.m.type: Class {T}MaskFeild$Value "
        "could not be found. Did you mean MaskField$Value?"
    ]


def test_an_abstract_class_is_refused_with_its_two() -> None:
    (found,) = errors(transforms="m", transforms__m__type=f"{T}Cast")
    assert found.endswith(
        f"This class is abstract and cannot be created. Did you mean {T}Cast$Key, {T}Cast$Value?"
    )


def test_set_schema_metadata_is_refused_with_the_reason() -> None:
    (found,) = errors(transforms="m", transforms__m__type=f"{T}SetSchemaMetadata$Value")
    assert "mirrored records have no schema" in found


def test_a_setting_without_effect_is_an_error_with_the_right_name() -> None:
    assert errors(
        transforms="m",
        transforms__m__type="MaskField$Value",
        transforms__m__fields="a",
        transforms__m__replacment="x",
        transforms__n__fields="b",
    ) == [
        "transforms.m.replacment: unknown setting, without effect; did you mean "
        "transforms.m.replacement?",
        "transforms.n.fields: n is not in transforms, so it has no effect",
    ]


def test_a_predicate_must_exist_and_negate_needs_one() -> None:
    assert errors(
        transforms="f,g",
        transforms__f__type="Filter",
        transforms__f__predicate="tombstne",
        transforms__g__type="Filter",
        transforms__g__negate="true",
        predicates="tombstone",
        predicates__tombstone__type="RecordIsTombstone",
    ) == [
        "Invalid value tombstne for configuration transforms.f.predicate: there is no predicate tombstne in "
        "predicates; did you mean tombstone?",
        "Config 'transforms.g.negate' was provided but there is no config 'transforms.g.predicate' defining "
        "a predicate to be negated.",
    ]


def test_aliases_are_given_once_and_have_a_class() -> None:
    assert errors(transforms="a,a") == [
        "Invalid value [a, a] for configuration transforms: Duplicate alias provided.",
        'Missing required configuration "transforms.a.type" which has no default value.',
    ]


def test_what_would_fail_at_every_record_is_refused_at_once() -> None:
    insert = {"transforms": "i", "transforms__i__type": "InsertField$Value"}
    route = {"transforms": "i", "transforms__i__type": "RegexRouter", "transforms__i__regex": "(a)"}

    assert (
        "offset.field is for sink connectors"
        in errors(**insert, transforms__i__offset__field="o")[0]
    )
    assert errors(**route, transforms__i__replacement="$2") == ["No group 2"]


@pytest.mark.parametrize(
    ("literal", "written"),
    [("eu", b"eu"), (" x ", b"x"), ("007", b"7"), ("1.10", b"1.1"), ("5.0", b"5"), ("null", None),
     ("2020-01-01", b"2020-01-01"), ("https://x/y", b"https://x/y"), ("a,b", b"a,b"), ("", b"")],
)  # fmt: skip
def test_a_header_has_the_literal_as_connect_writes_it(literal: str, written: bytes | None) -> None:
    assert header_literal(literal) == written


@pytest.mark.parametrize(
    "literal", ["[1, 2]", '{"a":1}', '"q"', "1,2", "1e3", "0.12345678", "2020-99-99"]
)
def test_a_literal_that_connect_would_rewrite_is_refused(literal: str) -> None:
    with pytest.raises(ValueError, match="Connect would"):
        header_literal(literal)
