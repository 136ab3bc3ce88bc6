"""Decides the statuses of a connector and its tasks from its target state and the engine's state.

    target    engine                           connector   tasks
    STARTED   runs                             RUNNING     RUNNING
    STARTED   runs, partitions have FAILED     RUNNING     FAILED where they are a task's, trace
    STARTED   retries, but needs a user        FAILED      unchanged, trace
    STARTED   configuration is invalid         FAILED      unchanged, trace
    PAUSED    has stopped                      PAUSED      PAUSED
    STOPPED   has stopped                      STOPPED     none

A partition that is retried, or a cluster that does not answer, is not a failure: MM2's tasks are RUNNING
then, too. What makes a partition FAILED would fail MM2's task; Heliograph's task is FAILED as well, but
copies its other partitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from heliograph.connect.connector_health import ConnectorHealth
from heliograph.connect.herder import State
from heliograph.counted import counted
from heliograph.mm2.connect.configs import TargetState
from heliograph.mm2.connect.status import (
    ConnectorStatusRecord,
    Status,
    StatusState,
    TaskStatusRecord,
)

_MOST_LINES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerIdentity:
    """The worker that writes a status."""

    worker_id: str
    generation: int
    version: str

    def status(self, state: StatusState, trace: str | None = None) -> Status:
        return Status(
            state=state,
            worker_id=self.worker_id,
            generation=self.generation,
            trace=trace,
            version=self.version,
        )


def wanted_statuses(
    worker: WorkerIdentity,
    name: str,
    target: TargetState,
    tasks: Sequence[Mapping[str, str]],
    health: ConnectorHealth,
) -> Iterator[ConnectorStatusRecord | TaskStatusRecord]:
    """None while a connector changes from one state to another: the last status stays."""
    if target is not TargetState.STARTED:
        if not health.busy:
            state = StatusState(target.value)
            yield ConnectorStatusRecord(name, worker.status(state))
            for number in range(len(tasks)):
                yield TaskStatusRecord(name, number, worker.status(state))
        return
    if health.failure is not None:
        yield ConnectorStatusRecord(name, worker.status(StatusState.FAILED, health.failure))
        return
    if health.runs:
        yield ConnectorStatusRecord(name, worker.status(StatusState.RUNNING))
        for number, config in enumerate(tasks):
            trace = _trace(config, health.failed or {})
            state = StatusState.RUNNING if trace is None else StatusState.FAILED
            yield TaskStatusRecord(name, number, worker.status(state, trace))


def same(one: Status | None, other: Status | None) -> bool:
    """Equal except for the generation, which changes with every worker that joins or leaves."""
    if one is None or other is None:
        return one is other
    return (one.state, one.worker_id, one.trace, one.version) == (
        other.state,
        other.worker_id,
        other.trace,
        other.version,
    )


def shown(status: Status) -> State:
    return State(status.state.value, status.worker_id, status.trace, status.version)


def _trace(config: Mapping[str, str], failed: Mapping[str, str]) -> str | None:
    assigned = config.get("task.assigned.partitions", "").split(",")
    lines = [failed[partition] for partition in assigned if partition in failed]
    if not lines:
        return None
    more = [f"and {len(lines) - _MOST_LINES} more"] if len(lines) > _MOST_LINES else []
    return "\n".join(
        [
            f"of {counted(len(assigned), 'partition')} of this task not mirrored: {len(lines)}",
            *lines[:_MOST_LINES],
            *more,
        ]
    )
