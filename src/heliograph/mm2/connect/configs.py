"""Records of Connect's config topic, which has one partition (`KafkaConfigBackingStore`).

    connector-<name>          {"properties":{…}}                    null: the connector is deleted
    target-state-<name>       {"state":"PAUSED","state.v2":"STOPPED"}
    task-<name>-<n>           {"properties":{…}}                    takes effect with the commit after it
    commit-<name>             {"tasks":N}
    tasks-fencing-<name>      {"task-count":N}
    restart-connector-<name>  {"include-tasks":true,"only-failed":false}
    session-key               {"key":"…","algorithm":"HmacSHA256","creation-timestamp":…}
    logger-cluster-<logger>   {"level":"DEBUG"}

Keys are strings, values JSON without a schema. Workers before 3.5 read only `state`, which cannot be STOPPED.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from heliograph.mm2.connect import jackson
from heliograph.mm2.malformed import Malformed

_CONNECTOR, _TARGET_STATE, _TASK, _COMMIT = "connector-", "target-state-", "task-", "commit-"
_FENCING, _RESTART, _LOGGER = "tasks-fencing-", "restart-connector-", "logger-cluster-"
_SESSION_KEY = "session-key"


class TargetState(StrEnum):
    STARTED = "STARTED"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"


@dataclass(frozen=True, slots=True)
class ConnectorConfigRecord:
    """`properties` None: deleted."""

    connector: str
    properties: Mapping[str, str] | None

    def key(self) -> bytes:
        return f"{_CONNECTOR}{self.connector}".encode()

    def value(self) -> bytes | None:
        return None if self.properties is None else _value({"properties": self.properties})


@dataclass(frozen=True, slots=True)
class TargetStateRecord:
    """`state` None: deleted, with its connector."""

    connector: str
    state: TargetState | None

    def key(self) -> bytes:
        return f"{_TARGET_STATE}{self.connector}".encode()

    def value(self) -> bytes | None:
        if self.state is None:
            return None
        old = TargetState.PAUSED if self.state is TargetState.STOPPED else self.state
        return _value({"state": old, "state.v2": self.state})


@dataclass(frozen=True, slots=True)
class TaskConfigRecord:
    connector: str
    task: int
    properties: Mapping[str, str]

    def key(self) -> bytes:
        return f"{_TASK}{self.connector}-{self.task}".encode()

    def value(self) -> bytes:
        return _value({"properties": self.properties})


@dataclass(frozen=True, slots=True)
class TasksCommitRecord:
    """The connector has so many tasks from here on, with the task configurations before this record."""

    connector: str
    tasks: int

    def key(self) -> bytes:
        return f"{_COMMIT}{self.connector}".encode()

    def value(self) -> bytes:
        return _value({"tasks": self.tasks})


@dataclass(frozen=True, slots=True)
class TaskCountRecord:
    """So many tasks may write; earlier tasks are fenced (KIP-618)."""

    connector: str
    tasks: int

    def key(self) -> bytes:
        return f"{_FENCING}{self.connector}".encode()

    def value(self) -> bytes:
        return _value({"task-count": self.tasks})


@dataclass(frozen=True, slots=True)
class RestartRecord:
    """A request to running workers; older records are ignored (KIP-745)."""

    connector: str
    include_tasks: bool
    only_failed: bool

    def key(self) -> bytes:
        return f"{_RESTART}{self.connector}".encode()

    def value(self) -> bytes:
        return _value({"include-tasks": self.include_tasks, "only-failed": self.only_failed})


@dataclass(frozen=True, slots=True)
class LoggerLevelRecord:
    """A request to running workers to set a log level (KIP-976)."""

    logger: str
    level: str

    def key(self) -> bytes:
        return f"{_LOGGER}{self.logger}".encode()

    def value(self) -> bytes:
        return _value({"level": self.level})


@dataclass(frozen=True, slots=True)
class SessionKeyRecord:
    """Java's workers sign requests to each other with it (KIP-507); ours do not use it."""


ConfigRecord = (
    ConnectorConfigRecord
    | TargetStateRecord
    | TaskConfigRecord
    | TasksCommitRecord
    | TaskCountRecord
    | RestartRecord
    | LoggerLevelRecord
    | SessionKeyRecord
)


def read_config_record(key: bytes | None, value: bytes | None) -> ConfigRecord | Malformed:
    """Never raises: one malformed record must not keep later ones from being read."""
    try:
        if key is None:
            raise ValueError("key: null")
        return _read(key.decode(), value)
    except ValueError as problem:
        return Malformed(str(problem))


def _read(key: str, value: bytes | None) -> ConfigRecord:
    if key == _SESSION_KEY:
        return SessionKeyRecord()
    for prefix, read in _READERS.items():
        if key.startswith(prefix):
            return read(key.removeprefix(prefix), value)
    raise ValueError(f"key: {key!r} is not a key of Connect's")


def _connector(name: str, value: bytes | None) -> ConfigRecord:
    return ConnectorConfigRecord(name, None if value is None else _properties(value))


def _target_state(name: str, value: bytes | None) -> ConfigRecord:
    if value is None:
        return TargetStateRecord(name, None)
    document = _document(value)
    state = document.get("state.v2")
    if not isinstance(state, str):
        state = document.get("state")
    if not isinstance(state, str) or state not in TargetState.__members__:
        raise ValueError(f"value: expected a target state, found {state!r}")
    return TargetStateRecord(name, TargetState(state))


def _task(name: str, value: bytes | None) -> ConfigRecord:
    connector, dash, number = name.rpartition("-")
    if not dash or not number.isdecimal():
        raise ValueError(f"key: expected task-<connector>-<number>, found task-{name}")
    return TaskConfigRecord(connector, int(number), _properties(value))


def _commit(name: str, value: bytes | None) -> ConfigRecord:
    return TasksCommitRecord(name, _count(value, "tasks"))


def _fencing(name: str, value: bytes | None) -> ConfigRecord:
    return TaskCountRecord(name, _count(value, "task-count"))


def _restart(name: str, value: bytes | None) -> ConfigRecord:
    """A value that is not a boolean counts as false, as in Java."""
    document = _document(value)
    return RestartRecord(
        name,
        include_tasks=document.get("include-tasks") is True,
        only_failed=document.get("only-failed") is True,
    )


def _logger(name: str, value: bytes | None) -> ConfigRecord:
    level = _document(value).get("level")
    if not isinstance(level, str):
        raise ValueError(f"value: expected a level, found {level!r}")
    return LoggerLevelRecord(name, level)


#: In the order of Java's checks: one prefix may be the beginning of another.
_READERS = {
    _TARGET_STATE: _target_state,
    _CONNECTOR: _connector,
    _TASK: _task,
    _COMMIT: _commit,
    _RESTART: _restart,
    _FENCING: _fencing,
    _LOGGER: _logger,
}


def _properties(value: bytes | None) -> dict[str, str]:
    """Null values are left out: a connector may have been created with one."""
    properties = _document(value).get("properties")
    if not isinstance(properties, dict):
        raise ValueError("value: expected properties")
    found: dict[str, str] = {}
    for name, each in properties.items():
        if each is None:
            continue
        if not isinstance(each, str):
            raise ValueError(f"value: {name}: expected a string, found {type(each).__name__}")
        found[name] = each
    return found


def _count(value: bytes | None, name: str) -> int:
    count = _document(value).get(name)
    if type(count) is not int or not 0 <= count < 2**31:
        raise ValueError(f"value: {name}: expected a number, found {count!r}")
    return count


def _document(value: bytes | None) -> dict[str, object]:
    if value is None:
        raise ValueError("value: null")
    document = jackson.load("value", value)
    if not isinstance(document, dict):
        raise ValueError(f"value: expected an object, found {type(document).__name__}")
    return document


def _value(document: Mapping[str, object]) -> bytes:
    return jackson.dump(document).encode()
