"""What can be asked of whoever runs connectors; the REST API is a form of these questions.

Upstream: org.apache.kafka.connect.runtime.Herder. Every method may be called from any thread, and answers
or raises within the worker's request timeout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from heliograph.errors import HeliographError


class TaskId(NamedTuple):
    """One task of a connector; tasks count from 0."""

    connector: str
    task: int


class ConnectorInfo(NamedTuple):
    """`type` is "source" for each of MM2's connectors, "unknown" for a class that we cannot run."""

    name: str
    config: Mapping[str, str]
    tasks: tuple[TaskId, ...]
    type: str


class State(NamedTuple):
    """Of a connector or a task: RUNNING, PAUSED, STOPPED, FAILED, UNASSIGNED or RESTARTING."""

    state: str
    worker_id: str
    trace: str | None = None
    version: str | None = None


class ConnectorStatus(NamedTuple):
    """`tasks` by their number."""

    name: str
    connector: State
    tasks: Mapping[int, State]
    type: str


class OffsetEntry(NamedTuple):
    """A source partition and its offset; an offset of None takes the stored one away."""

    partition: Mapping[str, object]
    offset: Mapping[str, object] | None


class HerderError(HeliographError):
    """Base of what a herder refuses; the sentence is meant for whoever asked."""


class NotFound(HerderError):
    """No such connector or task. REST: 404."""


class AlreadyExists(HerderError):
    """A connector of that name is there. REST: 409."""


class BadRequest(HerderError):
    """What was asked for makes no sense, or not in the connector's present state. REST: 400."""


class Forbidden(HerderError):
    """Not through REST, as this service is configured. REST: 403."""


class Rebalancing(HerderError):
    """Nobody leads the group just now, or who does has not read all of its topics yet. REST: 409."""


class RequestTimeout(HerderError):
    """Whether it was done is not known in time. REST: 500."""


class NotLeader(HerderError):
    """Only the leading worker can do this; `leader_url` is its address for REST."""

    def __init__(self, leader_url: str) -> None:
        self.leader_url = leader_url
        super().__init__(f"only the leading worker can do this; it is at {leader_url}")


class Herder(Protocol):
    """Raises NotLeader where the leading worker must be asked instead."""

    def connectors(self) -> list[str]: ...
    def info(self, name: str) -> ConnectorInfo: ...
    def config(self, name: str) -> Mapping[str, str]: ...
    def status(self, name: str) -> ConnectorStatus: ...
    def task_status(self, id: TaskId) -> State: ...
    def task_configs(self, name: str) -> Mapping[TaskId, Mapping[str, str]]: ...

    def put(
        self,
        name: str,
        config: Mapping[str, str],
        *,
        initial_state: str | None,
        allow_replace: bool,
    ) -> tuple[bool, ConnectorInfo]:
        """Whether it was created, and what there is now. `initial_state` is for what is created only."""
        ...

    def delete(self, name: str) -> None: ...
    def pause(self, name: str) -> None: ...
    def resume(self, name: str) -> None: ...
    def stop(self, name: str) -> None: ...

    def restart(self, name: str, *, include_tasks: bool, only_failed: bool) -> ConnectorStatus:
        """What will be restarted shows as RESTARTING in the answer."""
        ...

    def restart_task(self, id: TaskId) -> None: ...
    def offsets(self, name: str) -> list[OffsetEntry]: ...

    def alter_offsets(self, name: str, offsets: Sequence[OffsetEntry]) -> str:
        """The sentence that Connect answers with."""
        ...

    def reset_offsets(self, name: str) -> str: ...
    def active_topics(self, name: str) -> list[str]: ...
    def reset_active_topics(self, name: str) -> None: ...
    def kafka_cluster_id(self) -> str: ...

    def ready(self) -> str | None:
        """None: healthy; else what it waits for."""
        ...
