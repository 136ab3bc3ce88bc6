"""Records of others between ours, told from the markers of transactions."""

from __future__ import annotations

import pytest

from heliograph.client.fetch.log_range import count
from heliograph.model import TopicPartition
from heliograph.records.batch import CONTROL
from heliograph.wire.fetch import FetchedPartition
from support.records.batch_oracle import Row, with_fields, write
from support.records.java_batches import BATCHES

TP = TopicPartition("us.orders", 0)
THREE = bytes(write([Row(70 + n, 1_700_000_000_000, b"k", b"v", []) for n in range(3)]))
MARKER = bytes(with_fields(THREE, attributes=CONTROL))


def counted(
    records: bytes, wanted: range
) -> tuple[dict[TopicPartition, int], dict[TopicPartition, int]]:
    counts: dict[TopicPartition, int] = {}
    positions = {TP: wanted.start}
    answer = FetchedPartition(*TP, 0, 99, 99, 0, [], memoryview(records))
    count(answer, {TP: wanted}, counts, positions)
    return counts, positions


@pytest.mark.parametrize(
    ("wanted", "records"), [(range(70, 73), 3), (range(71, 72), 1), (range(60, 71), 1)]
)
def test_records_count_as_far_as_they_are_inside(wanted: range, records: int) -> None:
    assert counted(THREE, wanted) == ({TP: records}, {})


def test_markers_are_no_records() -> None:
    assert counted(MARKER, range(70, 73)) == ({TP: 0}, {})


def test_a_range_goes_on_where_an_answer_ends() -> None:
    assert counted(THREE, range(70, 80)) == ({TP: 3}, {TP: 73})


def test_messages_of_an_old_format_are_somebodys() -> None:
    counts, positions = counted(BATCHES["magic1-none"], range(1000))

    assert counts[TP] >= 1
    assert positions[TP] >= 1


def test_a_damaged_batch_tells_nothing() -> None:
    counts, positions = counted(bytes(with_fields(THREE, last=-7)), range(70, 73))

    assert (counts, positions) == ({}, {TP: 70})
