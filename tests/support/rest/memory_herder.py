"""A herder without Kafka: connectors in a dictionary, states that are reached at once.

What it says is what a Java worker says; `conformance/golden.json` holds it to that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heliograph.config.connectors.connector_class import ConnectorClass, connector_class
from heliograph.config.connectors.plugins import KAFKA_VERSION
from heliograph.connect.herder import (
    AlreadyExists,
    BadRequest,
    ConnectorInfo,
    ConnectorStatus,
    NotFound,
    NotLeader,
    OffsetEntry,
    Rebalancing,
    State,
    TaskId,
)
from heliograph.connect.restart_plan import restart_plan
from heliograph.mm2.connect.altered_offsets import SHAPES, offset_problem
from heliograph.mm2.connect.configs import RestartRecord
from heliograph.model import TopicPartition
from heliograph.plan.tasks import heartbeat_tasks, source_tasks

PARTITIONS = [TopicPartition("orders", 0), TopicPartition("orders", 1)]


class MemoryHerder:
    def __init__(self, worker_id: str = "worker:8083") -> None:
        self.worker_id = worker_id
        self.waits_for: str | None = None
        self._configs: dict[str, dict[str, str]] = {}
        self._targets: dict[str, str] = {}
        self._tasks: dict[str, list[dict[str, str]]] = {}
        self._offsets: dict[str, list[OffsetEntry]] = {}
        self._topics: dict[str, list[str]] = {}

    def connectors(self) -> list[str]:
        return list(self._configs)

    def info(self, name: str) -> ConnectorInfo:
        config = self.config(name)
        tasks = tuple(TaskId(name, number) for number in range(len(self._tasks[name])))
        return ConnectorInfo(name, config, tasks, "source")

    def config(self, name: str) -> Mapping[str, str]:
        self._require(name, f"Connector {name} not found")
        return self._configs[name]

    def status(self, name: str) -> ConnectorStatus:
        self._require(name, f"No status found for connector {name}")
        state = self._state(name)
        tasks = dict.fromkeys(range(len(self._tasks[name])), state)
        return ConnectorStatus(name, state, tasks, "source")

    def task_status(self, id: TaskId) -> State:
        if id.connector not in self._configs or not 0 <= id.task < len(self._tasks[id.connector]):
            raise NotFound(f"No status found for task {id.connector}-{id.task}")
        return self._state(id.connector)

    def task_configs(self, name: str) -> Mapping[TaskId, Mapping[str, str]]:
        self._require(name, f"Connector {name} not found")
        return {TaskId(name, number): each for number, each in enumerate(self._tasks[name])}

    def put(
        self,
        name: str,
        config: Mapping[str, str],
        *,
        initial_state: str | None,
        allow_replace: bool,
    ) -> tuple[bool, ConnectorInfo]:
        created = name not in self._configs
        if not created and not allow_replace:
            raise AlreadyExists(f"Connector {name} already exists")
        before = self._tasks.setdefault(name, [])
        self._configs[name] = dict(config)
        if created:
            self._targets[name] = initial_state or "RUNNING"
        info = ConnectorInfo(
            name, dict(config), tuple(TaskId(name, n) for n in range(len(before))), "source"
        )
        self._run(name)
        return created, info

    def delete(self, name: str) -> None:
        self._require(name, f"Connector {name} not found")
        for each in (self._configs, self._targets, self._tasks):
            del each[name]

    def pause(self, name: str) -> None:
        self._to(name, "PAUSED")

    def resume(self, name: str) -> None:
        self._to(name, "RUNNING")

    def stop(self, name: str) -> None:
        self._to(name, "STOPPED")
        self._tasks[name] = []

    def restart(self, name: str, *, include_tasks: bool, only_failed: bool) -> ConnectorStatus:
        self._require(name, f"Unknown connector: {name}")
        request = RestartRecord(name, include_tasks=include_tasks, only_failed=only_failed)
        return restart_plan(self.status(name), request)

    def restart_task(self, id: TaskId) -> None:
        self._require(id.connector, f"Unknown connector: {id.connector}")
        if self._targets[id.connector] == "STOPPED":
            raise Rebalancing(
                "Cannot complete request momentarily due to no known leader URL, likely because a "
                "rebalance was underway."
            )
        if not 0 <= id.task < len(self._tasks[id.connector]):
            raise NotFound(f"Unknown task: {id.connector}-{id.task}")

    def offsets(self, name: str) -> list[OffsetEntry]:
        self._require(name, f"Connector {name} not found")
        return self._offsets.get(name, [])

    def alter_offsets(self, name: str, offsets: Sequence[OffsetEntry]) -> str:
        self._require_stopped(name)
        for entry in offsets:
            problem = offset_problem(SHAPES[self._kind(name)], entry.partition, entry.offset)
            if problem is not None:
                raise BadRequest(problem)
        for entry in offsets:
            kept = [e for e in self._offsets.get(name, []) if e.partition != entry.partition]
            self._offsets[name] = kept if entry.offset is None else [*kept, entry]
        return "The offsets for this connector have been altered successfully"

    def reset_offsets(self, name: str) -> str:
        self._require_stopped(name)
        self._offsets[name] = []
        return "The offsets for this connector have been reset successfully"

    def active_topics(self, name: str) -> list[str]:
        return self._topics.get(name, [])

    def reset_active_topics(self, name: str) -> None:
        self._topics[name] = []

    def kafka_cluster_id(self) -> str:
        return "cluster"

    def ready(self) -> str | None:
        return self.waits_for

    def _require(self, name: str, otherwise: str) -> None:
        if name not in self._configs:
            raise NotFound(otherwise)

    def _require_stopped(self, name: str) -> None:
        self._require(name, f"Connector {name} not found")
        if self._targets[name] != "STOPPED":
            raise BadRequest(
                "Connectors must be in the STOPPED state before their offsets can be modified. This can be "
                "done for the specified connector by issuing a 'PUT' request to the "
                f"'/connectors/{name}/stop' endpoint"
            )

    def _to(self, name: str, target: str) -> None:
        self._require(name, f"Unknown connector {name}")
        self._targets[name] = target
        self._run(name)

    def _run(self, name: str) -> None:
        """Tasks are shared out by a connector that runs; a paused one keeps those that it has."""
        if self._targets[name] != "RUNNING":
            return
        config = self._configs[name]
        match ConnectorClass(self._kind(name)):
            case ConnectorClass.SOURCE:
                self._tasks[name] = source_tasks(
                    config, int(config.get("tasks.max", "1")), PARTITIONS
                )
                self._topics.setdefault(name, ["A.orders"])
                self._offsets.setdefault(name, [_at_the_end(each) for each in PARTITIONS])
            case ConnectorClass.HEARTBEAT if config.get("emit.heartbeats.enabled") != "false":
                self._tasks[name] = heartbeat_tasks(config)
                beat = {"sourceClusterAlias": "A", "targetClusterAlias": "B"}
                self._offsets.setdefault(name, [OffsetEntry(beat, {"offset": 0})])
            case _:
                self._tasks[name] = []

    def _kind(self, name: str) -> str:
        kind = connector_class(self._configs[name]["connector.class"])
        assert kind is not None
        return kind.value

    def _state(self, name: str) -> State:
        return State(self._targets[name], self.worker_id, version=KAFKA_VERSION)


def _at_the_end(partition: TopicPartition) -> OffsetEntry:
    whole = {"cluster": "A", "partition": partition.partition, "topic": partition.topic}
    return OffsetEntry(whole, {"offset": 9})


class Follower(MemoryHerder):
    """Sends everybody to the leader."""

    def __init__(self, leader_url: str) -> None:
        super().__init__()
        self._leader_url = leader_url

    def put(
        self,
        name: str,
        config: Mapping[str, str],
        *,
        initial_state: str | None,
        allow_replace: bool,
    ) -> tuple[bool, ConnectorInfo]:
        raise NotLeader(self._leader_url)

    def delete(self, name: str) -> None:
        raise NotLeader(self._leader_url)
