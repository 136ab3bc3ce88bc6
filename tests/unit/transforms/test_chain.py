"""Columns through a chain: what no transformation touched stays byte for byte."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from heliograph.config.transforms.read import read_transforms
from heliograph.records.columns import columns_of, records_of
from heliograph.records.columns_decode import decode_columns
from heliograph.records.columns_encode import encode_columns
from heliograph.records.decode import Record, decode
from heliograph.records.encode import encode
from heliograph.records.framing import unframe
from heliograph.transforms.chain import Transformed, transform
from heliograph.transforms.rows import Failure

MASK = {"transforms": "m", "transforms.m.type": "MaskField$Value", "transforms.m.fields": "ssn"}


def through(
    settings: dict[str, str], values: Sequence[bytes | None], topic: str = "A.orders"
) -> Transformed:
    found = read_transforms(settings)
    assert found.errors == ()
    records = [
        Record(offset=n, timestamp=n, key=b"k", value=value, headers=((b"h", None),) * (n % 2))
        for n, value in enumerate(values)
    ]
    return transform(found.stages, columns_of(records), topic=topic, partition=0)


def values(found: Transformed, topic: str = "A.orders") -> list[bytes | None]:
    return found.topics[topic].value.tolist()


def test_a_masked_value_keeps_blanks_order_and_numbers_of_the_rest() -> None:
    given = b'{ "id" : 12345678901234567890 , "ssn" : "123" , "x" : 1.50e1 }'

    assert values(through(MASK, [given])) == [
        b'{ "id" : 12345678901234567890 , "ssn" : "", "x" : 1.50e1 }'
    ]


def test_every_copy_of_a_name_given_twice_is_masked() -> None:
    assert values(through(MASK, [b'{"ssn":"1","a":1,"\\u0073sn":"2"}'])) == [
        b'{"\\u0073sn":"","a":1}'
    ]


def test_records_that_fail_are_named_with_their_row_and_transformation() -> None:
    found = through(MASK, [b'{"ssn":"1"}', b"\x00avro", b"[1]", None])

    assert values(found) == [b'{"ssn":""}']
    assert [(each.row, each.transform) for each in found.failures] == [(1, "m"), (2, "m"), (3, "m")]
    assert found.failures[1] == Failure(
        2,
        "m",
        "Only Map objects supported in absence of schema for [mask fields], found: java.util.ArrayList",
    )
    assert "avro" not in str(found.failures)
    assert found.dropped == 0


def test_a_filter_drops_and_counts_and_keeps_the_offsets_of_the_others() -> None:
    found = through(
        {
            "transforms": "f",
            "transforms.f.type": "Filter",
            "transforms.f.predicate": "h",
            "predicates": "h",
            "predicates.h.type": "org.apache.kafka.connect.transforms.predicates.HasHeaderKey",
            "predicates.h.name": "h",
        },
        [b"a", b"b", b"c"],
    )

    assert found.dropped == 1
    assert found.topics["A.orders"].offset.tolist() == [0, 2]


def test_records_go_to_the_topics_that_a_router_names() -> None:
    settings = {
        "transforms": "r",
        "transforms.r.type": "org.apache.kafka.connect.transforms.TimestampRouter",
        "transforms.r.timestamp.format": "SSS",
    }

    found = through(settings, [b"a", b"b"])

    assert {topic: columns.value.tolist() for topic, columns in found.topics.items()} == {
        "A.orders-000": [b"a"],
        "A.orders-001": [b"b"],
    }


@pytest.mark.parametrize("count", [5, 500])
def test_records_that_pass_unchanged_are_written_as_they_were_fetched(count: int) -> None:
    records = [
        Record(timestamp=n, key=b"k", value=b'{"ssn": "%d"}' % n if n % 2 else b'{"a": 1}')
        for n in range(count)
    ]
    settings = {**MASK, "transforms.m.type": "ReplaceField$Value", "transforms.m.exclude": "ssn"}
    del settings["transforms.m.fields"]
    stages = read_transforms(settings).stages
    columns = decode_columns([unframe(memoryview(encode(records)))])

    found = transform(stages, columns, topic="A.orders", partition=0).topics["A.orders"]

    (batch,) = encode_columns(found)
    assert [record.value for record in decode(batch)] == [
        b"{}" if n % 2 else b'{"a": 1}' for n in range(count)
    ]
    assert [record.timestamp for record in records_of(found)] == list(range(count))
