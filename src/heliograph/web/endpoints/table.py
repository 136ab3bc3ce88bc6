"""Every endpoint of the REST API: method, path, handler, and the words that OpenAPI describes it with.

Both the routes that a listener serves (`bound`) and /openapi.json (`openapi.py`) come from these tables, so
that no endpoint can be served without its description, or described without being served.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from heliograph.web.endpoints.connectors import Connectors
from heliograph.web.endpoints.events import Events
from heliograph.web.endpoints.health import Health
from heliograph.web.endpoints.loggers import Loggers
from heliograph.web.endpoints.metrics import Metrics
from heliograph.web.endpoints.openapi_schemas import FLAG, TEXT, Schema, items, ref, values
from heliograph.web.endpoints.plugins import Plugins
from heliograph.web.endpoints.root import Root
from heliograph.web.exchange import ANY, EVENT_STREAM, JSON, RestRequest, RestResponse
from heliograph.web.routing import Route

#: A method of one of the endpoint classes, not bound to an object yet.
Handler = Callable[[Any, RestRequest], RestResponse]
Answers = Mapping[int, Schema | None]

_CONNECTOR = "/connectors/{connector}"
_TASK = f"{_CONNECTOR}/tasks/{{task}}"
_PLUGIN = "/connector-plugins/{plugin}/config"
_LOGGER = "/admin/loggers/{logger}"
_CONFIG = ref("Config")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """`summary` None: served, but not part of the public API. `answers`: the JSON of each status of success,
    None for an empty body. `consumes` and `produces`: as in `Route`."""

    method: str
    path: str
    handler: Handler
    summary: str | None
    answers: Answers = field(default_factory=dict)
    errors: Sequence[int] = ()
    body: Schema | None = None
    query: Mapping[str, Schema] = field(default_factory=dict)
    consumes: bool = True
    produces: tuple[str, ...] = (JSON,)


def bound(endpoints: Sequence[Endpoint], handlers: object) -> list[Route]:
    """The routes of a table; `handlers` is the object whose methods the table names."""
    return [
        Route(
            template=each.path,
            method=each.method,
            handler=partial(each.handler, handlers),
            consumes=each.consumes,
            produces=each.produces,
        )
        for each in endpoints
    ]


def _read(path: str, handler: Handler, summary: str, answer: Schema, **more: Any) -> Endpoint:
    return Endpoint(
        method="GET", path=path, handler=handler, summary=summary, answers={200: answer}, **more
    )


def _change(
    method: str, path: str, handler: Handler, summary: str, answers: Answers, **more: Any
) -> Endpoint:
    """Only the leading worker makes it: another one forwards the request, or answers 409."""
    query = {**more.pop("query", {}), "forward": FLAG}
    return Endpoint(
        method=method,
        path=path,
        handler=handler,
        summary=summary,
        answers=answers,
        errors=(409,),
        query=query,
        **more,
    )


def _put(path: str, handler: Handler, summary: str, answers: Answers, **more: Any) -> Endpoint:
    return Endpoint(
        method="PUT", path=path, handler=handler, summary=summary, answers=answers, **more
    )


ROOT = (
    _read("/", Root.server, "The worker and its cluster", ref("Server"), consumes=False),
    Endpoint(
        method="GET",
        path="/health",
        handler=Root.health,
        summary="Whether the worker is ready",
        answers={200: ref("Health"), 503: ref("Health")},
        consumes=False,
    ),
    Endpoint(
        method="GET", path="/openapi.json", handler=Root.openapi, summary=None, consumes=False
    ),
    # Requests between Java's workers.
    Endpoint(method="POST", path=f"{_CONNECTOR}/tasks", handler=Root.internal_tasks, summary=None),
    Endpoint(method="PUT", path=f"{_CONNECTOR}/fence", handler=Root.internal_fence, summary=None),
)

CONNECTORS = (
    _read(
        "/connectors",
        Connectors.list,
        "Names of connectors, or their information and status (expand)",
        {"oneOf": [items(TEXT), ref("Expanded")]},
        query={"expand": items({"type": "string", "enum": ["info", "status"]})},
    ),
    _change(
        "POST",
        "/connectors",
        Connectors.create,
        "Create a connector",
        {201: ref("Connector")},
        body=ref("Creation"),
    ),
    _read(_CONNECTOR, Connectors.info, "A connector", ref("Connector")),
    _change(
        "DELETE",
        _CONNECTOR,
        Connectors.delete,
        "Delete a connector; its offsets are kept",
        {204: None},
    ),
    _read(f"{_CONNECTOR}/config", Connectors.config, "Configuration of a connector", values(TEXT)),
    _change(
        "PUT",
        f"{_CONNECTOR}/config",
        Connectors.put,
        "Create a connector, or replace its configuration",
        {200: ref("Connector"), 201: ref("Connector")},
        body=_CONFIG,
    ),
    _change(
        "PATCH",
        f"{_CONNECTOR}/config",
        Connectors.patch,
        "Change some settings; null removes one",
        {200: ref("Connector")},
        body=_CONFIG,
    ),
    _read(f"{_CONNECTOR}/status", Connectors.status, "Status of a connector", ref("Status")),
    _read(f"{_CONNECTOR}/tasks", Connectors.tasks, "Tasks of a connector", items(ref("Task"))),
    _read(f"{_TASK}/status", Connectors.task_status, "Status of a task", ref("TaskState")),
    _change("POST", f"{_TASK}/restart", Connectors.restart_task, "Restart a task", {204: None}),
    _change(
        "POST",
        f"{_CONNECTOR}/restart",
        Connectors.restart,
        "Restart a connector, its tasks (includeTasks), or only those that failed (onlyFailed)",
        {202: ref("Status"), 204: None},
        query={"includeTasks": FLAG, "onlyFailed": FLAG},
    ),
    _put(f"{_CONNECTOR}/pause", Connectors.pause, "Pause a connector", {202: None}),
    _put(f"{_CONNECTOR}/resume", Connectors.resume, "Resume a connector", {202: None}),
    _change(
        "PUT",
        f"{_CONNECTOR}/stop",
        Connectors.stop,
        "Stop a connector and remove its tasks",
        {204: None},
    ),
    _read(f"{_CONNECTOR}/offsets", Connectors.offsets, "Stored offsets", ref("Offsets")),
    _change(
        "PATCH",
        f"{_CONNECTOR}/offsets",
        Connectors.alter_offsets,
        "Alter offsets of a stopped connector; null removes one",
        {200: ref("Message")},
        body=ref("Offsets"),
    ),
    _change(
        "DELETE",
        f"{_CONNECTOR}/offsets",
        Connectors.reset_offsets,
        "Reset all offsets of a stopped connector",
        {200: ref("Message")},
    ),
    _read(
        f"{_CONNECTOR}/topics",
        Connectors.topics,
        "Topics that a connector has written to",
        ref("Topics"),
    ),
    _put(
        f"{_CONNECTOR}/topics/reset",
        Connectors.reset_topics,
        "Reset the list of topics that a connector has written to",
        {202: None},
    ),
)

PLUGINS = (
    _read(
        "/connector-plugins",
        Plugins.list,
        "Plugins that are installed",
        items(ref("Plugin")),
        query={"connectorsOnly": FLAG},
    ),
    _read(
        _PLUGIN,
        Plugins.config,
        "Settings of a plugin",
        items(ref("Definition")),
        query={"version": TEXT},
    ),
    _put(
        f"{_PLUGIN}/validate",
        Plugins.validate,
        "Validate a configuration",
        {200: ref("Validation")},
        body=_CONFIG,
    ),
)

LOGGERS = (
    _read("/admin/loggers", Loggers.list, "Levels of loggers", values(ref("Level"))),
    _read(_LOGGER, Loggers.get, "Level of a logger", ref("Level")),
    _put(
        _LOGGER,
        Loggers.put,
        "Set the level of a logger and of those below it, on this worker or on the whole cluster (scope)",
        {200: items(TEXT), 204: None},
        body=ref("NewLevel"),
        query={"scope": {"type": "string", "enum": ["worker", "cluster"]}},
    ),
)

METRICS = (
    Endpoint(
        method="GET",
        path="/metrics",
        handler=Metrics.text,
        summary="Metrics for Prometheus, as text or as OpenMetrics",
        answers={200: TEXT},
        consumes=False,
        produces=("text/plain", ANY),
    ),
)

#: Beside METRICS on `metrics.listener`; the REST API has a /health as Connect's.
HEALTH = (
    Endpoint(method="GET", path="/health", handler=Health.json, summary=None, consumes=False),
)

EVENTS = (
    _read(
        "/events",
        Events.list,
        "The time line: the last changes of state; as text/event-stream, also those to come",
        ref("Events"),
        query={"since": {"type": "integer", "minimum": 0}},
        errors=(503,),
        consumes=False,
        produces=(JSON, EVENT_STREAM),
    ),
)

ENDPOINTS = (*ROOT, *CONNECTORS, *PLUGINS, *LOGGERS, *METRICS, *EVENTS)
