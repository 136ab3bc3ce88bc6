"""Records of Connect's status topic: states of connectors and tasks (`KafkaStatusBackingStore`).

    status-connector-<name>  {"state":"RUNNING","trace":null,"worker_id":"host:8083","generation":3,
                              "version":"4.3.1"}
    status-task-<name>-<n>   the same
    status-topic-<topic>:connector-<name>
                             {"topic":{"name":…,"connector":…,"task":0,"discoverTimestamp":…}}

A null value deletes the entry. Keys are strings, values JSON without a schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from heliograph.mm2.connect import jackson
from heliograph.mm2.malformed import Malformed

_CONNECTOR, _TASK, _TOPIC = "status-connector-", "status-task-", "status-topic-"
_OF_CONNECTOR = ":connector-"


class StatusState(StrEnum):
    UNASSIGNED = "UNASSIGNED"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    FAILED = "FAILED"
    DESTROYED = "DESTROYED"  # not written: the record is a tombstone
    RESTARTING = "RESTARTING"
    STOPPED = "STOPPED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """`generation` is that of the workers' group, `version` the connector's."""

    state: StatusState
    worker_id: str
    generation: int
    trace: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class ConnectorStatusRecord:
    connector: str
    status: Status | None

    def key(self) -> bytes:
        return f"{_CONNECTOR}{self.connector}".encode()

    def value(self) -> bytes | None:
        return _value(self.status)


@dataclass(frozen=True, slots=True)
class TaskStatusRecord:
    connector: str
    task: int
    status: Status | None

    def key(self) -> bytes:
        return f"{_TASK}{self.connector}-{self.task}".encode()

    def value(self) -> bytes | None:
        return _value(self.status)


@dataclass(frozen=True, slots=True)
class TopicStatusRecord:
    """`task` was the first to write to `topic`, at `discovered_ms`. Without a task: a tombstone."""

    topic: str
    connector: str
    task: int | None = None
    discovered_ms: int = 0

    def key(self) -> bytes:
        return f"{_TOPIC}{self.topic}{_OF_CONNECTOR}{self.connector}".encode()

    def value(self) -> bytes | None:
        if self.task is None:
            return None
        document = {
            "name": self.topic,
            "connector": self.connector,
            "task": self.task,
            "discoverTimestamp": self.discovered_ms,
        }
        return jackson.dump({"topic": document}).encode()


StatusRecord = ConnectorStatusRecord | TaskStatusRecord | TopicStatusRecord


def read_status_record(key: bytes | None, value: bytes | None) -> StatusRecord | Malformed:
    """Never raises."""
    try:
        if key is None:
            raise ValueError("key: null")
        return _read(key.decode(), value)
    except ValueError as problem:
        return Malformed(str(problem))


def _read(key: str, value: bytes | None) -> StatusRecord:
    if key.startswith(_CONNECTOR) and key != _CONNECTOR:
        return ConnectorStatusRecord(key.removeprefix(_CONNECTOR), _status(value))
    if key.startswith(_TASK):
        connector, dash, number = key.removeprefix(_TASK).rpartition("-")
        if dash and number.isdecimal():
            return TaskStatusRecord(connector, int(number), _status(value))
    if key.startswith(_TOPIC):
        topic, found, connector = key.removeprefix(_TOPIC).partition(_OF_CONNECTOR)
        if topic and found and connector:
            return _topic(topic, connector, value)
    raise ValueError(f"key: {key!r} is not a key of Connect's")


def _topic(topic: str, connector: str, value: bytes | None) -> TopicStatusRecord:
    if value is None:
        return TopicStatusRecord(topic, connector)
    document = _document(value).get("topic")
    if not isinstance(document, dict):
        raise ValueError("value: expected a topic")
    task, discovered = _number(document, "task"), _number(document, "discoverTimestamp")
    return TopicStatusRecord(topic, connector, task, discovered)


def _status(value: bytes | None) -> Status | None:
    if value is None:
        return None
    document = _document(value)
    state, worker_id = document.get("state"), document.get("worker_id")
    if not isinstance(state, str) or state not in StatusState.__members__:
        raise ValueError(f"value: expected a state, found {state!r}")
    if not isinstance(worker_id, str):
        raise ValueError(f"value: worker_id: expected a string, found {worker_id!r}")
    return Status(
        state=StatusState(state),
        worker_id=worker_id,
        generation=_number(document, "generation"),
        trace=_text(document, "trace"),
        version=_text(document, "version"),
    )


def _number(document: Mapping[str, object], name: str) -> int:
    number = document.get(name)
    if type(number) is not int:
        raise ValueError(f"value: {name}: expected a number, found {number!r}")
    return number


def _text(document: Mapping[str, object], name: str) -> str | None:
    text = document.get(name)
    if text is not None and not isinstance(text, str):
        raise ValueError(f"value: {name}: expected a string, found {text!r}")
    return text


def _document(value: bytes) -> dict[str, object]:
    document = jackson.load("value", value)
    if not isinstance(document, dict):
        raise ValueError(f"value: expected an object, found {type(document).__name__}")
    return document


def _value(status: Status | None) -> bytes | None:
    if status is None or status.state is StatusState.DESTROYED:
        return None
    document = {
        "state": status.state,
        "trace": status.trace,
        "worker_id": status.worker_id,
        "generation": status.generation,
        "version": status.version,
    }
    return jackson.dump(document).encode()
