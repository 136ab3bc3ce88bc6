"""Changes configurations, in whole (PUT) and in part (PATCH)."""

from __future__ import annotations

from conformance.sequence.names import ARROW_PATH, HEARTBEAT_CONFIG, SOURCE, SOURCE_CONFIG
from conformance.step import Step, get, raw, running, send, wait

_CONFIG = f"/connectors/{SOURCE}/config"
_STATUS = f"/connectors/{SOURCE}/status"


def _patch(name: str, content: object) -> Step:
    return send(f"patch: {name}", "PATCH", _CONFIG, content)


UPDATING = (
    send("put: the same", "PUT", _CONFIG, SOURCE_CONFIG),
    send("put: fewer tasks", "PUT", _CONFIG, {**SOURCE_CONFIG, "tasks.max": "1"}),
    wait("source runs with one task", _STATUS, running(1)),
    get("source: one task", f"/connectors/{SOURCE}/tasks"),
    send("put: invalid change", "PUT", _CONFIG, {**SOURCE_CONFIG, "tasks.max": "-3"}),
    get("put: invalid change is not stored", _CONFIG),
    send(
        "put: encoded name",
        "PUT",
        f"{ARROW_PATH}/config",
        {**HEARTBEAT_CONFIG, "emit.heartbeats.interval.seconds": "2"},
    ),
    get("put: encoded name is stored", f"{ARROW_PATH}/config"),
    _patch("a value", {"tasks.max": "2"}),
    wait("source runs with two tasks", _STATUS, running(2)),
    _patch("add and remove", {"offset.lag.max": "50", "sync.topic.acls.enabled": None}),
    get("patch: is stored", _CONFIG),
    _patch("remove what is not there", {"no.such.setting": None}),
    _patch("nothing", {}),
    _patch("a number", {"offset.lag.max": 60}),
    _patch("another name", {"name": "other"}),
    _patch("its own name", {"name": SOURCE}),
    _patch("no name", {"name": None}),
    _patch("no class", {"connector.class": None}),
    _patch("an invalid value", {"tasks.max": "none"}),
    raw("patch: no body", "PATCH", _CONFIG, ""),
    raw("patch: broken JSON", "PATCH", _CONFIG, "{"),
    raw("patch: a list", "PATCH", _CONFIG, "[]"),
    raw("patch: null", "PATCH", _CONFIG, "null"),
    raw("patch: nested", "PATCH", _CONFIG, '{"a": {"b": 1}}'),
    get("patch: in the end", _CONFIG),
)
