"""Records of other writers between ours are counted; markers of transactions are not."""

from __future__ import annotations

from typing import cast

import pytest

from heliograph.client.fetch.log_range import RangeCounts
from heliograph.client.fetch.log_reader import LogReader
from heliograph.client.net.cluster import ClusterClient
from heliograph.model import TopicPartition
from heliograph.records.batch import CONTROL
from heliograph.wire.fetch import FetchedPartition
from support.brokers.scripted import ScriptedCluster
from support.records.batch_oracle import Row, with_fields, write
from support.records.java_batches import BATCHES

TP = TopicPartition("us.orders", 0)
THREE = bytes(write([Row(70 + n, 1_700_000_000_000, b"k", b"v", []) for n in range(3)]))
MARKER = bytes(with_fields(THREE, attributes=CONTROL))


def counted(
    records: bytes, wanted: range
) -> tuple[dict[TopicPartition, int], dict[TopicPartition, int]]:
    """What was counted, and where a partition stands that was not read to the end of its range."""
    found = RangeCounts({TP: wanted})
    reader = LogReader(cast(ClusterClient, ScriptedCluster({})), found.read)
    reader.positions = {TP: wanted.start}
    reader.take(FetchedPartition(*TP, 0, 99, 99, 0, [], memoryview(records)))
    given_up = dict.fromkeys(reader.unreadable, wanted.start)
    return found.counts, reader.positions | given_up


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
