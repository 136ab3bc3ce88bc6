"""The API's own description (OpenAPI 3.1), at /openapi.json and in docs/openapi.yaml:

python -m heliograph.web.endpoints.openapi > docs/openapi.yaml
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import yaml

from heliograph import __version__
from heliograph.web.endpoints.openapi_schemas import FLAG, SCHEMAS, TEXT, Schema, items, ref, values

_CONNECTOR = "/connectors/{connector}"
_FORWARD = {"forward": FLAG}
_DOCUMENTED = {
    200: "As it is now",
    201: "Made",
    202: "It will be done",
    204: "Done",
    400: "What was sent makes no sense, and why",
    401: "Who asks is not known (only with a users file)",
    403: "Switched off in the worker's configuration, not within the user's role, asked by a page of another "
    "origin, or not signed as workers sign",
    404: "No such thing",
    405: "Not this method",
    406: "Only JSON is spoken",
    409: "It is there already, or the workers are just agreeing on who leads",
    413: "Larger than rest.request.max.bytes",
    415: "Only JSON is understood",
    421: "Addressed to a name that this listener does not answer to (rest.allowed.hosts)",
    429: "Too many wrong passwords from this address",
    500: "Not within the worker's time, or its clusters did not do their part",
    503: "Still starting",
}
_ALWAYS = (400, 401, 403, 404, 405, 406, 413, 415, 421, 429, 500)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Operation:
    """`answers`: what a status comes with; None for nothing."""

    path: str
    method: str
    summary: str
    answers: Mapping[int, Schema | None]
    errors: Sequence[int] = ()
    body: Schema | None = None
    query: Mapping[str, Schema] = field(default_factory=dict)


def _operation(method: str, path: str, summary: str, **rest: Any) -> _Operation:
    return _Operation(method=method, path=path, summary=summary, **rest)


_CONFIG = ref("Config")
_OPERATIONS = (
    _operation("get", "/", "The worker and its cluster", answers={200: ref("Server")}),
    _operation(
        "get",
        "/health",
        "Whether the worker is ready",
        answers={200: ref("Health"), 503: ref("Health")},
    ),
    _operation(
        "get",
        "/connectors",
        "Names of connectors, or what there is to know of them",
        answers={200: {"oneOf": [items(TEXT), ref("Expanded")]}},
        query={"expand": items({"type": "string", "enum": ["info", "status"]})},
    ),
    _operation(
        "post",
        "/connectors",
        "Make a connector",
        body=ref("Creation"),
        answers={201: ref("Connector")},
        errors=(409,),
        query=_FORWARD,
    ),
    _operation("get", _CONNECTOR, "A connector", answers={200: ref("Connector")}),
    _operation(
        "delete",
        _CONNECTOR,
        "Delete a connector; its offsets stay",
        answers={204: None},
        errors=(409,),
        query=_FORWARD,
    ),
    _operation("get", f"{_CONNECTOR}/config", "Its configuration", answers={200: values(TEXT)}),
    _operation(
        "put",
        f"{_CONNECTOR}/config",
        "Make a connector, or change its whole configuration",
        body=_CONFIG,
        answers={200: ref("Connector"), 201: ref("Connector")},
        errors=(409,),
        query=_FORWARD,
    ),
    _operation(
        "patch",
        f"{_CONNECTOR}/config",
        "Change some settings; null takes one away",
        body=_CONFIG,
        answers={200: ref("Connector")},
        errors=(409,),
        query=_FORWARD,
    ),
    _operation("get", f"{_CONNECTOR}/status", "Its state", answers={200: ref("Status")}),
    _operation("get", f"{_CONNECTOR}/tasks", "Its tasks", answers={200: items(ref("Task"))}),
    _operation(
        "get",
        f"{_CONNECTOR}/tasks/{{task}}/status",
        "State of a task",
        answers={200: ref("TaskState")},
    ),
    _operation(
        "post",
        f"{_CONNECTOR}/tasks/{{task}}/restart",
        "Restart a task",
        answers={204: None},
        errors=(409,),
        query=_FORWARD,
    ),
    _operation(
        "post",
        f"{_CONNECTOR}/restart",
        "Restart a connector, its tasks, or what of both has failed",
        answers={202: ref("Status"), 204: None},
        errors=(409,),
        query={"includeTasks": FLAG, "onlyFailed": FLAG, **_FORWARD},
    ),
    _operation("put", f"{_CONNECTOR}/pause", "Pause a connector", answers={202: None}),
    _operation("put", f"{_CONNECTOR}/resume", "Go on", answers={202: None}),
    _operation(
        "put",
        f"{_CONNECTOR}/stop",
        "Stop a connector; it has no tasks then",
        answers={204: None},
        errors=(409,),
        query=_FORWARD,
    ),
    _operation("get", f"{_CONNECTOR}/offsets", "Stored offsets", answers={200: ref("Offsets")}),
    _operation(
        "patch",
        f"{_CONNECTOR}/offsets",
        "Alter offsets of a stopped connector; null takes one away",
        body=ref("Offsets"),
        answers={200: ref("Message")},
        errors=(409,),
        query=_FORWARD,
    ),
    _operation(
        "delete",
        f"{_CONNECTOR}/offsets",
        "Take all offsets of a stopped connector away",
        answers={200: ref("Message")},
        errors=(409,),
        query=_FORWARD,
    ),
    _operation(
        "get",
        f"{_CONNECTOR}/topics",
        "Topics that it has written to",
        answers={200: ref("Topics")},
        errors=(403,),
    ),
    _operation(
        "put",
        f"{_CONNECTOR}/topics/reset",
        "Forget those topics",
        answers={202: None},
        errors=(403,),
    ),
    _operation(
        "get",
        "/connector-plugins",
        "What connectors can be made of",
        answers={200: items(ref("Plugin"))},
        query={"connectorsOnly": FLAG},
    ),
    _operation(
        "get",
        "/connector-plugins/{plugin}/config",
        "Settings of a plugin",
        answers={200: items(ref("Definition"))},
        query={"version": TEXT},
    ),
    _operation(
        "put",
        "/connector-plugins/{plugin}/config/validate",
        "What is wrong with a configuration",
        body=_CONFIG,
        answers={200: ref("Validation")},
    ),
    _operation(
        "get",
        "/admin/loggers",
        "Loggers whose level was set",
        answers={200: values(ref("Level"))},
    ),
    _operation("get", "/admin/loggers/{logger}", "Level of a logger", answers={200: ref("Level")}),
    _operation(
        "put",
        "/admin/loggers/{logger}",
        "Set the level of a logger and of those below it, here or in the whole cluster",
        body=ref("NewLevel"),
        answers={200: items(TEXT), 204: None},
        query={"scope": {"type": "string", "enum": ["worker", "cluster"]}},
    ),
)


@cache
def document() -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for operation in _OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = _rendered(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Heliograph",
            "summary": "Kafka Connect's REST API, for MirrorMaker 2's connectors",
            "version": __version__,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {"basic": {"type": "http", "scheme": "basic"}},
        },
        "security": [{}, {"basic": []}],
    }


def _rendered(operation: _Operation) -> dict[str, Any]:
    rendered: dict[str, Any] = {
        "summary": operation.summary,
        "operationId": f"{operation.method} {operation.path}",
        "parameters": [
            *(
                {"name": name, "in": "path", "required": True, "schema": _segment(name)}
                for name in re.findall(r"\{(\w+)\}", operation.path)
            ),
            *({"name": name, "in": "query", "schema": of} for name, of in operation.query.items()),
        ],
        "responses": {
            **{str(code): _response(code, of) for code, of in operation.answers.items()},
            **{
                str(code): _response(code, ref("Error"))
                for code in sorted({*_ALWAYS, *operation.errors} - operation.answers.keys())
            },
        },
    }
    if operation.body is not None:
        content = {"application/json": {"schema": operation.body}}
        rendered["requestBody"] = {"required": True, "content": content}
    return rendered


def _segment(name: str) -> Schema:
    if name == "task":
        return {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}
    return {"type": "string", "minLength": 1}


def _response(code: int, of: Schema | None) -> dict[str, Any]:
    described: dict[str, Any] = {"description": _DOCUMENTED[code]}
    return (
        described if of is None else {**described, "content": {"application/json": {"schema": of}}}
    )


if __name__ == "__main__":
    sys.stdout.write(yaml.safe_dump(document(), sort_keys=False, allow_unicode=True, width=110))
