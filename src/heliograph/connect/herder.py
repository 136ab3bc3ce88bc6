"""The interface between the REST API and the code that runs connectors, and its errors.

Upstream: org.apache.kafka.connect.runtime.Herder. All methods are thread-safe, and return or raise within the
worker's request timeout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from heliograph.errors import HeliographError
from heliograph.metrics.snapshot import ConnectorFigures


class TaskId(NamedTuple):
    """One task of a connector; tasks count from 0."""

    connector: str
    task: int


class ConnectorInfo(NamedTuple):
    """`type` is "source" for MM2's connectors, "unknown" for a class that cannot run here."""

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
    """A source partition and its offset; None removes the stored offset."""

    partition: Mapping[str, object]
    offset: Mapping[str, object] | None


class HerderError(HeliographError):
    """Base of a herder's errors; the message goes to the client."""


class NotFound(HerderError):
    """The connector or task does not exist. REST: 404."""


class AlreadyExists(HerderError):
    """A connector of that name exists. REST: 409."""


class BadRequest(HerderError):
    """The request is invalid, or not allowed in the connector's current state. REST: 400."""


class Forbidden(HerderError):
    """The service's configuration does not allow it through REST. REST: 403."""


class Rebalancing(HerderError):
    """The workers' group cannot elect a leader now, or this worker is stopping. REST: 409."""


class RequestTimeout(HerderError):
    """The result is not known within the request timeout. REST: 500."""


class NotLeader(HerderError):
    """Only the leading worker can do this; `leader_url` is its REST address."""

    def __init__(self, leader_url: str) -> None:
        self.leader_url = leader_url
        super().__init__(f"only the leading worker can do this; its address is {leader_url}")


class Herder(Protocol):
    """Raises NotLeader for a request that the leading worker must answer."""

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
        """Whether it was created, and the connector. `initial_state` applies to a new connector only."""
        ...

    def delete(self, name: str) -> None: ...
    def pause(self, name: str) -> None: ...
    def resume(self, name: str) -> None: ...
    def stop(self, name: str) -> None: ...

    def restart(self, name: str, *, include_tasks: bool, only_failed: bool) -> ConnectorStatus:
        """The status, with RESTARTING for what will restart."""
        ...

    def restart_task(self, id: TaskId) -> None: ...
    def offsets(self, name: str) -> list[OffsetEntry]: ...

    def alter_offsets(self, name: str, offsets: Sequence[OffsetEntry]) -> str:
        """Connect's message for the answer."""
        ...

    def reset_offsets(self, name: str) -> str: ...
    def active_topics(self, name: str) -> list[str]: ...
    def reset_active_topics(self, name: str) -> None: ...
    def kafka_cluster_id(self) -> str: ...

    def measured_connectors(self) -> list[ConnectorFigures]:
        """All connectors that this service knows, for metrics; sends no request to a cluster."""
        ...

    def ready(self) -> str | None:
        """None if healthy; else the reason why not."""
        ...
