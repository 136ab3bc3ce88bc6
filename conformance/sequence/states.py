"""Pauses, resumes, stops and restarts connectors."""

from __future__ import annotations

from conformance.sequence.names import ARROW_PATH, HEARTBEAT, SOURCE
from conformance.step import Step, get, in_state, raw, running, send, wait

_SOURCE = f"/connectors/{SOURCE}"
_STATUS = f"{_SOURCE}/status"


def _restart(name: str, query: str = "") -> Step:
    return send(f"restart: {name}", "POST", f"{_SOURCE}/restart{query}")


STATES = (
    wait("states: source runs", _STATUS, running(2)),
    send("pause", "PUT", f"{_SOURCE}/pause"),
    get("pause: status", _STATUS, until=in_state("PAUSED", 2)),
    send("pause: again", "PUT", f"{_SOURCE}/pause"),
    send("pause: GET", "GET", f"{_SOURCE}/pause"),
    send("pause: POST", "POST", f"{_SOURCE}/pause"),
    send("pause: OPTIONS", "OPTIONS", f"{_SOURCE}/pause"),
    send("resume", "PUT", f"{_SOURCE}/resume"),
    get("resume: status", _STATUS, until=running(2)),
    send("resume: again", "PUT", f"{_SOURCE}/resume"),
    send("pause: with a body", "PUT", f"{_SOURCE}/pause", {"a": 1}),
    raw("resume: with a broken body", "PUT", f"{_SOURCE}/resume", "{"),
    raw("resume: with a text", "PUT", f"{_SOURCE}/resume", "x", "text/plain"),
    send("resume: after bodies", "PUT", f"{_SOURCE}/resume"),
    wait("resume: runs after bodies", _STATUS, running(2)),
    _restart("connector"),
    wait("restart: runs", _STATUS, running(2)),
    _restart("only failed", "?onlyFailed=true"),
    _restart("only failed, with tasks", "?onlyFailed=true&includeTasks=true"),
    _restart("with tasks", "?includeTasks=true"),
    wait("restart: runs with tasks", _STATUS, running(2)),
    _restart("neither true nor false", "?includeTasks=perhaps"),
    _restart("an empty flag", "?includeTasks="),
    wait("restart: runs before upper case", _STATUS, running(2)),
    _restart("upper case", "?includeTasks=TRUE&onlyFailed=TRUE"),
    send("restart: GET", "GET", f"{_SOURCE}/restart"),
    wait("restart: runs before tasks", _STATUS, running(2)),
    send("restart: a task", "POST", f"{_SOURCE}/tasks/0/restart"),
    wait("restart: runs after a task", _STATUS, running(2)),
    send("restart: a task that is not there", "POST", f"{_SOURCE}/tasks/9/restart"),
    send("restart: no task", "POST", f"{_SOURCE}/tasks/x/restart"),
    send("restart: a task, PUT", "PUT", f"{_SOURCE}/tasks/0/restart"),
    send("stop", "PUT", f"{_SOURCE}/stop"),
    get("stop: status", _STATUS, until=in_state("STOPPED", 0)),
    send("stop: again", "PUT", f"{_SOURCE}/stop"),
    get("stop: info", _SOURCE),
    get("stop: tasks", f"{_SOURCE}/tasks"),
    _restart("while stopped"),
    send("stop: restart of a task", "POST", f"{_SOURCE}/tasks/0/restart"),
    send("stop: to pause", "PUT", f"{_SOURCE}/pause"),
    get("stop: paused", _STATUS, until=in_state("PAUSED", 0)),
    send("stop: from pause", "PUT", f"{_SOURCE}/stop"),
    wait("stop: stopped again", _STATUS, in_state("STOPPED", 0)),
    send("start: heartbeat", "PUT", f"/connectors/{HEARTBEAT}/resume"),
    get("start: heartbeat runs", f"/connectors/{HEARTBEAT}/status", until=running(1)),
    send("start: encoded name", "PUT", f"{ARROW_PATH}/resume"),
    wait("start: encoded name runs", f"{ARROW_PATH}/status", running(1)),
    send("restart: encoded name", "POST", f"{ARROW_PATH}/restart?includeTasks=true"),
    wait("restart: encoded name runs", f"{ARROW_PATH}/status", running(1)),
    send("stop: encoded name", "PUT", f"{ARROW_PATH}/stop"),
    wait("stop: encoded name is stopped", f"{ARROW_PATH}/status", in_state("STOPPED", 0)),
)
