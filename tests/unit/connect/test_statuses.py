"""Statuses of connectors and tasks, by target state and connector health."""

from __future__ import annotations

import pytest

from heliograph.connect.connector_health import ConnectorHealth
from heliograph.connect.herder import ConnectorStatus, State
from heliograph.connect.restart_plan import restart_plan
from heliograph.connect.statuses import WorkerIdentity, same, wanted_statuses
from heliograph.mm2.connect.configs import RestartRecord, TargetState
from heliograph.mm2.connect.status import ConnectorStatusRecord, StatusState

WORKER = WorkerIdentity(worker_id="w:1", generation=3, version="4.3.1")
TASKS = [{"task.assigned.partitions": "t-0,t-2"}, {"task.assigned.partitions": "t-1"}]
RUNS = ConnectorHealth(runs=True, busy=True)


def states(target: TargetState, health: ConnectorHealth) -> list[str]:
    """The connector's, then those of its tasks."""
    found = list(wanted_statuses(WORKER, "c", target, TASKS, health))
    assert not found or isinstance(found[0], ConnectorStatusRecord)
    return [record.status.state.value for record in found if record.status is not None]


def test_what_runs_is_running() -> None:
    assert states(TargetState.STARTED, RUNS) == ["RUNNING"] * 3


@pytest.mark.parametrize("target", [TargetState.PAUSED, TargetState.STOPPED])
def test_what_is_told_to_stop_says_so_once_it_has(target: TargetState) -> None:
    assert states(target, RUNS) == []
    stopped = ConnectorHealth(runs=False, busy=False)
    assert states(target, stopped) == [target.value] * 3


def test_what_has_not_begun_says_nothing() -> None:
    assert states(TargetState.STARTED, ConnectorHealth(runs=False, busy=True)) == []


def test_a_task_with_a_failed_partition_has_failed_and_names_it() -> None:
    health = ConnectorHealth(runs=True, busy=True, failed={"t-2": "t-2: too large"})
    assert states(TargetState.STARTED, health) == ["RUNNING", "FAILED", "RUNNING"]
    _, task, _ = wanted_statuses(WORKER, "c", TargetState.STARTED, TASKS, health)
    assert task.status is not None
    assert task.status.trace == ("of 2 partitions of this task not mirrored: 1\nt-2: too large")


def test_what_waiting_cannot_mend_is_the_connectors_failure() -> None:
    health = ConnectorHealth(runs=True, busy=True, failure="wrong port")
    (record,) = wanted_statuses(WORKER, "c", TargetState.STARTED, TASKS, health)
    assert record.status == WORKER.status(StatusState.FAILED, "wrong port")


def test_a_generation_alone_is_no_news() -> None:
    later = WorkerIdentity(worker_id="w:1", generation=4, version="4.3.1")
    running = StatusState.RUNNING
    assert same(WORKER.status(running), later.status(running))
    assert not same(WORKER.status(running), None)
    assert not same(WORKER.status(running), WORKER.status(running, "why"))


@pytest.mark.parametrize(
    ("include_tasks", "only_failed", "expected"),
    [
        (False, False, ["RESTARTING", "FAILED", "RUNNING"]),
        (True, False, ["RESTARTING", "RESTARTING", "RESTARTING"]),
        (True, True, ["RUNNING", "RESTARTING", "RUNNING"]),
        (False, True, ["RUNNING", "FAILED", "RUNNING"]),
    ],
)
def test_a_restart_is_planned_for_what_was_asked(
    include_tasks: bool, only_failed: bool, expected: list[str]
) -> None:
    tasks = {0: State("FAILED", "w:1"), 1: State("RUNNING", "w:1")}
    status = ConnectorStatus("c", State("RUNNING", "w:1"), tasks, "source")
    request = RestartRecord("c", include_tasks=include_tasks, only_failed=only_failed)
    planned = restart_plan(status, request)
    assert [planned.connector.state, *(t.state for t in planned.tasks.values())] == expected
