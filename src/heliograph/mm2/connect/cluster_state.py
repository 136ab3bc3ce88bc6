"""The target state of a Connect cluster, built from its config topic as `ClusterConfigState`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from heliograph.mm2.connect.configs import (
    ConfigRecord,
    ConnectorConfigRecord,
    TargetState,
    TargetStateRecord,
    TaskConfigRecord,
    TaskCountRecord,
    TasksCommitRecord,
)


class Task(NamedTuple):
    connector: str
    number: int


class ConfigState:
    """Law: task configurations take effect when the commit after them is read, all or none of them.

    If compaction has removed some of the task configurations of a commit, its connector is in `inconsistent`
    until it has new ones. Requests (restarts, log levels) do not change this state.
    """

    def __init__(self) -> None:
        self.configs: dict[str, Mapping[str, str]] = {}
        self.targets: dict[str, TargetState] = {}
        self.inconsistent: set[str] = set()
        self.task_count_records: dict[str, int] = {}
        self._counts: dict[str, int] = {}
        self._tasks: dict[Task, Mapping[str, str]] = {}
        self._deferred: dict[str, dict[int, Mapping[str, str]]] = {}
        self._applied: dict[str, Mapping[str, str]] = {}

    def apply(self, record: ConfigRecord) -> None:
        """In the order of the topic."""
        match record:
            case ConnectorConfigRecord(name, None):
                self._remove(name)
            case ConnectorConfigRecord(name, properties):
                assert properties is not None
                self.configs[name] = properties
                self.targets.setdefault(name, TargetState.STARTED)
            case TargetStateRecord(name, state):
                self._set_target(name, state)
            case TaskConfigRecord(name, number, properties):
                self._deferred.setdefault(name, {})[number] = properties
            case TasksCommitRecord(name, count):
                self._commit(name, count)
            case TaskCountRecord(name, count):
                self.task_count_records[name] = count
            case _:
                pass  # a request, or a session key

    def target(self, name: str) -> TargetState:
        return self.targets.get(name, TargetState.STARTED)

    def tasks(self, name: str) -> list[Task]:
        """Empty while they are inconsistent."""
        if name in self.inconsistent:
            return []
        return [Task(name, number) for number in range(self._counts.get(name, 0))]

    def task_configs(self, name: str) -> list[Mapping[str, str]]:
        return [self._tasks[task] for task in self.tasks(name)]

    def has_had(self, task: Task) -> bool:
        """Whether it was ever a task of its connector, as far as the topic still shows."""
        return task in self._tasks

    def stale(self, name: str) -> bool:
        """Whether the tasks belong to an older configuration of the connector."""
        return self._applied.get(name) != self.configs.get(name)

    def _set_target(self, name: str, state: TargetState | None) -> None:
        if state is not None:
            self.targets[name] = state
        elif name in self.configs:
            self.targets[name] = TargetState.STARTED
        else:
            self.targets.pop(name, None)

    def _commit(self, name: str, count: int) -> None:
        config = self.configs.get(name)
        if config is None:  # the connector was deleted, and compaction has removed its record
            self._remove(name)
            return
        deferred = self._deferred.pop(name, {})
        if all(number in deferred for number in range(count)):
            self._tasks |= {Task(name, number): each for number, each in deferred.items()}
            self._applied[name] = config
            self.inconsistent.discard(name)
        else:
            self.inconsistent.add(name)
        self._counts[name] = count

    def _remove(self, name: str) -> None:
        for known in (self.configs, self._counts, self._deferred, self._applied):
            known.pop(name, None)
        self.inconsistent.discard(name)
        self._tasks = {task: each for task, each in self._tasks.items() if task.connector != name}
