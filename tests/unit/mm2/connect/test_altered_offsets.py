"""Offsets that users set are checked with MM2's messages."""

from __future__ import annotations

import pytest

from heliograph.mm2.connect.altered_offsets import (
    SHAPES,
    offset_key,
    offset_problem,
    offset_value,
    read_offset_record,
)
from heliograph.mm2.connect.offsets import (
    checkpoint_offset_key,
    heartbeat_offset_key,
    source_offset_key,
    source_offset_value,
)

SOURCE, CHECKPOINT, HEARTBEAT = SHAPES.values()
PARTITION = {"topic": "orders", "partition": 0, "cluster": "us"}
GROUP = {"group": "billing", "topic": "us.orders", "partition": 0}
ALIASES = {"targetClusterAlias": "eu", "sourceClusterAlias": "us"}


def test_keys_and_values_have_the_bytes_that_connect_looks_up() -> None:
    assert offset_key("c", PARTITION) == source_offset_key("c", "us", "orders", 0)
    assert offset_key("c", GROUP) == checkpoint_offset_key("c", "us.orders", 0, "billing")
    assert offset_key("c", ALIASES) == heartbeat_offset_key("c", "us", "eu")
    assert offset_value({"offset": 7}) == source_offset_value(7)
    assert offset_value(None) is None


def test_records_are_read_back() -> None:
    found = read_offset_record(offset_key("c", PARTITION), offset_value({"offset": 7}))
    assert found == ("c", PARTITION, {"offset": 7})
    assert read_offset_record(b"nonsense", None) is None
    assert read_offset_record(b'["c",[]]', None) is None


@pytest.mark.parametrize(
    ("shape", "partition"), [(SOURCE, PARTITION), (CHECKPOINT, GROUP), (HEARTBEAT, ALIASES)]
)
def test_what_mm2_takes(shape: object, partition: dict[str, object]) -> None:
    """MirrorSourceConnectorTest.testSuccessfulAlterOffsets and its like"""
    assert offset_problem(shape, partition, {"offset": 0}) is None  # type: ignore[arg-type]


def test_anything_can_be_taken_away() -> None:
    """MirrorSourceConnectorTest.testAlterOffsetsTombstones"""
    assert offset_problem(SOURCE, {"garbage": True}, None) is None


@pytest.mark.parametrize(
    ("partition", "offset", "sentence"),
    [
        (
            {"topic": "t", "partition": 0},
            {"offset": 1},
            "Source partition {partition=0, topic=t} is missing the 'cluster' key, which is required",
        ),
        (
            PARTITION | {"topic": 5},
            {"offset": 1},
            "Source partition {cluster=us, partition=0, topic=5} has an invalid value 5 for the 'topic' key, "
            "which must be a string",
        ),
        (
            PARTITION | {"partition": "a"},
            {"offset": 1},
            "Source partition {cluster=us, partition=a, topic=orders} has an invalid value a for the "
            "'partition' key, which must be an integer",
        ),
        (
            PARTITION | {"partition": -1},
            {"offset": 1},
            "Source partition {cluster=us, partition=-1, topic=orders} has an invalid value -1 for the "
            "'partition' key, which cannot be negative",
        ),
        (
            PARTITION,
            {"off": 1},
            "Source offset {off=1} for source partition {cluster=us, partition=0, topic=orders} is missing "
            "the 'offset' key, which is required",
        ),
        (
            PARTITION,
            {"offset": True},
            "Source offset {offset=true} for source partition {cluster=us, partition=0, topic=orders} has an "
            "invalid value true for the 'offset' key, which must be an integer",
        ),
        (
            PARTITION,
            {"offset": -2},
            "Source offset {offset=-2} for source partition {cluster=us, partition=0, topic=orders} has an "
            "invalid value -2 for the 'offset' key, which cannot be negative",
        ),
        (
            PARTITION | {"more": []},
            {"offset": 1},
            "Offsets may only contain primitive types as values, but field more contains ARRAY",
        ),
    ],
)
def test_what_mm2_refuses(
    partition: dict[str, object], offset: dict[str, object], sentence: str
) -> None:
    """MirrorSourceConnectorTest.testAlterOffsets…"""
    assert offset_problem(SOURCE, partition, offset) == sentence


def test_offsets_that_nobody_reads_are_zero() -> None:
    """MirrorCheckpointConnectorTest.testAlterOffsetsIncorrectOffsetValue"""
    assert offset_problem(CHECKPOINT, GROUP, {"offset": 5}) == (
        "Source offset {offset=5} for source partition {partition=0, topic=us.orders, group=billing} has an "
        "invalid value 5 for the 'offset' key; the only accepted value is 0"
    )
