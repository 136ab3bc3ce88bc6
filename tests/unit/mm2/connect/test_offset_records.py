"""Batches of stored offsets, with our header beside Connect's key and value."""

from __future__ import annotations

import pytest

from heliograph.mm2.connect.offset_records import LOGS_HEADER, Logs, offset_batches, read_logs
from heliograph.mm2.connect.offsets import SourceOffset, read_source_offset
from heliograph.model import LeaderEpochMark, TopicPartition
from heliograph.records.decode import Record, decode

ORDERS, REFUNDS = TopicPartition("orders", 0), TopicPartition("refunds", 0)


def written(logs: dict[TopicPartition, Logs] | None = None) -> dict[str, Record]:
    positions = {ORDERS: 10, REFUNDS: 5}
    found = {}
    for _, batch, _ in offset_batches("MirrorSourceConnector", "a", positions, 1, 7, logs):
        for record in decode(memoryview(batch)):
            offset = read_source_offset(record.key, record.value)
            assert isinstance(offset, SourceOffset)
            found[offset.topic] = record
    return found


def test_without_more_they_are_connects_own() -> None:
    assert [record.headers for record in written().values()] == [(), ()]


@pytest.mark.parametrize(
    "logs",
    [
        Logs(25),
        Logs(25, LeaderEpochMark(10, 3)),
        Logs(25, LeaderEpochMark(10, 3, ((2, 0), (3, 7)))),
        Logs(25, LeaderEpochMark(10, 3), 24, 7),
    ],
)
def test_a_header_says_what_the_logs_were_like(logs: Logs) -> None:
    assert read_logs(written({ORDERS: logs})["orders"].headers) == logs


def test_what_is_not_known_is_not_said() -> None:
    assert written({ORDERS: Logs()})["orders"].headers == ()


@pytest.mark.parametrize(
    "value",
    [
        *(None, b"", b"-1", b"{", b"[]", b"{}", b'{"downstream":"x"}', b'{"downstream":1e3}'),
        *(b'{"downstream":1,"mark":[1]}', b'{"downstream":1,"mark":[1,2],"epochs":[[1]]}'),
        b'{"downstream":1,"mark":[1,2],"epochs":[[1,true]]}',
    ],
)
def test_a_header_that_is_not_understood_says_nothing(value: bytes | None) -> None:
    assert read_logs(((LOGS_HEADER, value),)) == Logs()
