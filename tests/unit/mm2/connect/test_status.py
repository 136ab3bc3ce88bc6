"""The status topic: the bytes of Connect's JSON converter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.mm2.connect.status import (
    ConnectorStatusRecord,
    Status,
    StatusRecord,
    StatusState,
    TaskStatusRecord,
    TopicStatusRecord,
    read_status_record,
)
from heliograph.mm2.malformed import Malformed

RUNNING = Status(state=StatusState.RUNNING, worker_id="host:8083", generation=3, version="4.3.1")
FAILED = Status(state=StatusState.FAILED, worker_id="host:8083", generation=3, trace="a\nb")
RECORDS: list[tuple[StatusRecord, str, str | None]] = [
    (
        ConnectorStatusRecord("us->eu.x", RUNNING),
        "status-connector-us->eu.x",
        '{"state":"RUNNING","trace":null,"worker_id":"host:8083","generation":3,"version":"4.3.1"}',
    ),
    (
        TaskStatusRecord("a-1", 2, FAILED),
        "status-task-a-1-2",
        '{"state":"FAILED","trace":"a\\nb","worker_id":"host:8083","generation":3,"version":null}',
    ),
    (TaskStatusRecord("a", 0, None), "status-task-a-0", None),
    (
        TopicStatusRecord("us.orders", "c", 0, 1700000000000),
        "status-topic-us.orders:connector-c",
        '{"topic":{"name":"us.orders","connector":"c","task":0,"discoverTimestamp":1700000000000}}',
    ),
    (TopicStatusRecord("us.orders", "c"), "status-topic-us.orders:connector-c", None),
]


@pytest.mark.parametrize(("record", "key", "value"), RECORDS)
def test_records_have_connects_bytes_and_are_read_back(
    record: StatusRecord, key: str, value: str | None
) -> None:
    data = None if value is None else value.encode()
    assert (record.key(), record.value()) == (key.encode(), data)
    assert read_status_record(key.encode(), data) == record


def test_what_is_destroyed_is_taken_away() -> None:
    gone = Status(state=StatusState.DESTROYED, worker_id="w", generation=1)
    assert ConnectorStatusRecord("c", gone).value() is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"status-connector-", None),
        (b"status-task-c", None),
        (b"status-topic-t", None),
        (b"status-connector-c", b'{"state":"FINE","worker_id":"w","generation":1}'),
        (b"status-connector-c", b'{"state":"RUNNING","generation":1}'),
        (b"status-connector-c", b"[]"),
        (None, None),
    ],
)
def test_what_connect_would_not_write_is_malformed(key: bytes | None, value: bytes | None) -> None:
    assert isinstance(read_status_record(key, value), Malformed)


@given(st.binary(), st.none() | st.binary())
def test_no_bytes_break_the_reader(rest: bytes, value: bytes | None) -> None:
    for prefix in (b"", b"status-connector-", b"status-task-", b"status-topic-"):
        read_status_record(prefix + rest, value)
