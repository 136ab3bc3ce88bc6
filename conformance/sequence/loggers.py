"""Reads and sets levels of loggers."""

from __future__ import annotations

from conformance.step import Step, get, raw, send

_LOGGERS = "/admin/loggers"
_MIRROR = f"{_LOGGERS}/org.apache.kafka.connect.mirror"


def _level(name: str, content: object, query: str = "", path: str = _MIRROR) -> Step:
    return send(f"loggers: {name}", "PUT", f"{path}{query}", content)


LOGGERS = (
    get("loggers: root", f"{_LOGGERS}/root"),
    get("loggers: unknown", f"{_LOGGERS}/no.such.logger"),
    _level("set", {"level": "DEBUG"}),
    get("loggers: is set", _MIRROR),
    _level("set in lower case", {"level": "warn"}),
    get("loggers: is set in lower case", _MIRROR),
    _level("no level", {}),
    _level("level null", {"level": None}),
    _level("another field", {"value": "INFO"}),
    _level("unknown level", {"level": "LOUD"}),
    _level("level a number", {"level": 5}),
    _level("level an object", {"level": {"a": 1}}),
    raw("loggers: no body", "PUT", _MIRROR, ""),
    raw("loggers: broken JSON", "PUT", _MIRROR, "{"),
    raw("loggers: a list", "PUT", _MIRROR, "[]"),
    raw("loggers: plain text", "PUT", _MIRROR, "DEBUG", "text/plain"),
    _level("for this worker", {"level": "INFO"}, "?scope=worker"),
    _level("for the cluster", {"level": "ERROR"}, "?scope=cluster"),
    get("loggers: for the cluster, seen", _MIRROR, until=lambda found: found["level"] == "ERROR"),
    _level("for nobody known", {"level": "INFO"}, "?scope=planet"),
    _level("for an empty scope", {"level": "INFO"}, "?scope="),
    _level("of a logger not known yet", {"level": "INFO"}, path=f"{_LOGGERS}/no.such.logger"),
    get("loggers: known now", f"{_LOGGERS}/no.such.logger"),
    send("loggers: DELETE", "DELETE", _MIRROR),
    send("loggers: POST", "POST", _LOGGERS, {}),
    send("loggers: OPTIONS", "OPTIONS", _MIRROR),
    get("loggers: no such path", "/admin/nowhere"),
)
