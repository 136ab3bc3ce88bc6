"""Reads connectors, statuses, tasks and topics."""

from __future__ import annotations

from conformance.sequence.names import ARROW_PATH, CHECKPOINT, HEARTBEAT, SOURCE
from conformance.step import get, send

_SOURCE = f"/connectors/{SOURCE}"
_HEARTBEAT = f"/connectors/{HEARTBEAT}"

READING = (
    get("expand: status", "/connectors?expand=status"),
    get("expand: info", "/connectors?expand=info"),
    get("expand: both", "/connectors?expand=info&expand=status"),
    get("expand: unknown", "/connectors?expand=everything"),
    get("expand: empty", "/connectors?expand="),
    get("source: info", _SOURCE),
    send("source: HEAD", "HEAD", _SOURCE),
    get("source: a query that means nothing", f"{_SOURCE}?verbose=true&forward=perhaps"),
    get("source: config", f"{_SOURCE}/config"),
    get("source: status", f"{_SOURCE}/status"),
    get("source: tasks", f"{_SOURCE}/tasks"),
    get("source: status of a task", f"{_SOURCE}/tasks/0/status"),
    get("source: status of a task that is not there", f"{_SOURCE}/tasks/7/status"),
    get("source: status of a negative task", f"{_SOURCE}/tasks/-1/status"),
    get("source: status of no task", f"{_SOURCE}/tasks/one/status"),
    get("source: a task", f"{_SOURCE}/tasks/0"),
    get(
        "source: topics",
        f"{_SOURCE}/topics",
        until=lambda answer: answer[SOURCE]["topics"] == ["A.orders"],
    ),
    send("source: topics, PUT", "PUT", f"{_SOURCE}/topics"),
    get("heartbeat: info", _HEARTBEAT),
    get("heartbeat: status", f"{_HEARTBEAT}/status"),
    get("heartbeat: tasks", f"{_HEARTBEAT}/tasks"),
    get("heartbeat: topics", f"{_HEARTBEAT}/topics"),
    get("heartbeat: offsets", f"{_HEARTBEAT}/offsets"),
    get("checkpoint: info", f"/connectors/{CHECKPOINT}"),
    get("checkpoint: status", f"/connectors/{CHECKPOINT}/status"),
    get("checkpoint: tasks", f"/connectors/{CHECKPOINT}/tasks"),
    get("encoded name: info", ARROW_PATH),
    get("encoded name: config", f"{ARROW_PATH}/config"),
    get("encoded name: status", f"{ARROW_PATH}/status"),
    get("encoded name: tasks", f"{ARROW_PATH}/tasks"),
    get("encoded name: status of a task", f"{ARROW_PATH}/tasks/0/status"),
)
