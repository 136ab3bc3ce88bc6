"""The config topic: the bytes of Connect's JSON converter, and what a worker makes of a log."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.mm2.connect.cluster_state import ConfigState, Task
from heliograph.mm2.connect.configs import (
    ConfigRecord,
    ConnectorConfigRecord,
    LoggerLevelRecord,
    RestartRecord,
    SessionKeyRecord,
    TargetState,
    TargetStateRecord,
    TaskConfigRecord,
    TaskCountRecord,
    TasksCommitRecord,
    read_config_record,
)
from heliograph.mm2.malformed import Malformed

NAME = "us->eu.MirrorSourceConnector"
CONFIG = {"name": NAME, "topics": "a, b"}
RECORDS: list[tuple[ConfigRecord, str, str | None]] = [
    (
        ConnectorConfigRecord(NAME, CONFIG),
        f"connector-{NAME}",
        '{"properties":{"name":"us->eu.MirrorSourceConnector","topics":"a, b"}}',
    ),
    (ConnectorConfigRecord("c", None), "connector-c", None),
    (
        TargetStateRecord("c", TargetState.STOPPED),
        "target-state-c",
        '{"state":"PAUSED","state.v2":"STOPPED"}',
    ),
    (
        TargetStateRecord("c", TargetState.STARTED),
        "target-state-c",
        '{"state":"STARTED","state.v2":"STARTED"}',
    ),
    (TaskConfigRecord("a-1", 2, {"x": "é\t"}), "task-a-1-2", '{"properties":{"x":"é\\t"}}'),
    (TasksCommitRecord("c", 3), "commit-c", '{"tasks":3}'),
    (TaskCountRecord("c", 3), "tasks-fencing-c", '{"task-count":3}'),
    (
        RestartRecord("c", include_tasks=True, only_failed=False),
        "restart-connector-c",
        '{"include-tasks":true,"only-failed":false}',
    ),
    (LoggerLevelRecord("org.apache", "DEBUG"), "logger-cluster-org.apache", '{"level":"DEBUG"}'),
]


@pytest.mark.parametrize(("record", "key", "value"), RECORDS)
def test_records_have_connects_bytes_and_are_read_back(
    record: ConfigRecord, key: str, value: str | None
) -> None:
    assert not isinstance(record, SessionKeyRecord)
    data = None if value is None else value.encode()
    assert (record.key(), record.value()) == (key.encode(), data)
    assert read_config_record(key.encode(), data) == record


def test_a_state_of_an_old_worker_has_no_second_field() -> None:
    found = read_config_record(b"target-state-c", b'{"state":"PAUSED"}')
    assert found == TargetStateRecord("c", TargetState.PAUSED)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"task-c", b'{"properties":{}}'),
        (b"task-c-x", b'{"properties":{}}'),
        (b"connector-c", b'{"properties":[]}'),
        (b"connector-c", b"nonsense"),
        (b"target-state-c", b'{"state":"ASLEEP"}'),
        (b"commit-c", b'{"tasks":"3"}'),
        (b"whatever", b"{}"),
        (None, b"{}"),
    ],
)
def test_what_connect_would_not_write_is_malformed(key: bytes | None, value: bytes) -> None:
    assert isinstance(read_config_record(key, value), Malformed)


@given(st.binary(), st.none() | st.binary())
def test_no_bytes_break_the_reader(rest: bytes, value: bytes | None) -> None:
    for prefix in (b"", b"connector-", b"task-", b"commit-", b"target-state-", b"restart-"):
        read_config_record(prefix + rest, value)


def _state(*records: ConfigRecord) -> ConfigState:
    state = ConfigState()
    for record in records:
        state.apply(record)
    return state


def test_tasks_count_once_they_are_committed() -> None:
    before = [ConnectorConfigRecord("c", CONFIG), TaskConfigRecord("c", 0, {"n": "0"})]
    assert _state(*before).tasks("c") == []
    state = _state(*before, TaskConfigRecord("c", 1, {"n": "1"}), TasksCommitRecord("c", 2))
    assert state.tasks("c") == [Task("c", 0), Task("c", 1)]
    assert state.task_configs("c") == [{"n": "0"}, {"n": "1"}]
    assert not state.stale("c")
    state.apply(ConnectorConfigRecord("c", {"name": "c"}))
    assert state.stale("c")
    state.apply(TasksCommitRecord("c", 0))
    assert state.tasks("c") == []


def test_a_commit_whose_tasks_compaction_took_is_inconsistent_until_the_next() -> None:
    state = _state(
        ConnectorConfigRecord("c", CONFIG),
        TaskConfigRecord("c", 1, {"n": "1"}),
        TasksCommitRecord("c", 2),
    )
    assert state.inconsistent == {"c"}
    assert state.tasks("c") == []
    for record in (TaskConfigRecord("c", 0, {"n": "0"}), TasksCommitRecord("c", 1)):
        state.apply(record)
    assert not state.inconsistent
    assert state.task_configs("c") == [{"n": "0"}]


def test_a_deleted_connector_leaves_nothing_behind() -> None:
    state = _state(
        ConnectorConfigRecord("c", CONFIG),
        TargetStateRecord("c", TargetState.PAUSED),
        TaskConfigRecord("c", 0, {}),
        TasksCommitRecord("c", 1),
        ConnectorConfigRecord("c", None),
        TargetStateRecord("c", None),
    )
    assert not state.configs
    assert not state.targets
    assert state.tasks("c") == []


def test_tasks_of_a_connector_that_is_gone_do_not_bring_it_back() -> None:
    state = _state(TaskConfigRecord("c", 0, {}), TasksCommitRecord("c", 1))
    assert state.tasks("c") == []


def test_an_initial_state_may_come_before_its_connector() -> None:
    state = _state(TargetStateRecord("c", TargetState.STOPPED), ConnectorConfigRecord("c", CONFIG))
    assert state.target("c") is TargetState.STOPPED
