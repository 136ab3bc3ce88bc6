"""JSON Schemas of the REST API's bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heliograph.runtime.events import EventKind, Severity

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "integer"}
MAYBE_TEXT: Schema = {"type": ["string", "null"]}


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def items(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def values(of: Schema) -> Schema:
    """An object of any names."""
    return {"type": "object", "additionalProperties": of}


def fields(properties: Mapping[str, Schema], optional: tuple[str, ...] = ()) -> Schema:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


_STATE = {
    "type": "string",
    "enum": ["UNASSIGNED", "RUNNING", "PAUSED", "STOPPED", "FAILED", "RESTARTING"],
}
_STATE_FIELDS = {"state": _STATE, "worker_id": TEXT, "version": MAYBE_TEXT, "trace": TEXT}
_TYPE = {"type": "string", "enum": ["source", "sink", "unknown"]}

SCHEMAS: dict[str, Schema] = {
    "Error": fields({"error_code": NUMBER, "message": MAYBE_TEXT}),
    "Config": {
        **values({"type": ["string", "number", "boolean", "null"]}),
        "description": "Settings. Secrets are shown as [hidden]; a setting that is sent back as [hidden] "
        "keeps its value.",
    },
    "Server": fields({"version": TEXT, "commit": TEXT, "kafka_cluster_id": MAYBE_TEXT}),
    "Health": fields(
        {
            "status": {"type": "string", "enum": ["healthy", "starting", "unhealthy"]},
            "message": TEXT,
        }
    ),
    "TaskId": fields({"connector": TEXT, "task": NUMBER}),
    "Connector": fields(
        {"name": TEXT, "config": values(TEXT), "tasks": items(ref("TaskId")), "type": _TYPE}
    ),
    "Creation": fields(
        {
            "name": TEXT,
            "config": ref("Config"),
            "initial_state": {
                "type": ["string", "null"],
                "enum": ["RUNNING", "PAUSED", "STOPPED", None],
            },
        },
        optional=("initial_state",),
    ),
    "ConnectorState": fields(_STATE_FIELDS, optional=("trace",)),
    "TaskState": fields({"id": NUMBER, **_STATE_FIELDS}, optional=("trace",)),
    "Status": fields(
        {
            "name": TEXT,
            "connector": ref("ConnectorState"),
            "tasks": items(ref("TaskState")),
            "type": _TYPE,
        }
    ),
    "Expanded": values(
        fields({"info": ref("Connector"), "status": ref("Status")}, optional=("info", "status"))
    ),
    "Task": fields({"id": ref("TaskId"), "config": values(TEXT)}),
    "Offsets": fields(
        {
            "offsets": items(
                fields({"partition": {"type": "object"}, "offset": {"type": ["object", "null"]}})
            )
        }
    ),
    "Message": fields({"message": TEXT}),
    "Topics": values(fields({"topics": items(TEXT)})),
    "Plugin": fields({"class": TEXT, "type": TEXT, "version": TEXT}),
    "Definition": fields(
        {
            "name": TEXT,
            "type": TEXT,
            "required": FLAG,
            "default_value": MAYBE_TEXT,
            "importance": {"type": "string", "enum": ["HIGH", "MEDIUM", "LOW"]},
            "documentation": TEXT,
            "group": MAYBE_TEXT,
            "order_in_group": NUMBER,
            "width": {"type": "string", "enum": ["NONE", "SHORT", "MEDIUM", "LONG"]},
            "display_name": TEXT,
            "dependents": items(TEXT),
        }
    ),
    "Validation": fields(
        {
            "name": TEXT,
            "error_count": NUMBER,
            "groups": items(TEXT),
            "configs": items(
                fields(
                    {
                        "definition": {"oneOf": [ref("Definition"), {"type": "null"}]},
                        "value": fields(
                            {
                                "name": TEXT,
                                "value": MAYBE_TEXT,
                                "recommended_values": items(TEXT),
                                "errors": items(TEXT),
                                "visible": FLAG,
                            }
                        ),
                    }
                )
            ),
        }
    ),
    "Event": fields(
        {
            "number": NUMBER,
            "at_ms": NUMBER,
            "kind": {"type": "string", "enum": [each.value for each in EventKind]},
            "severity": {"type": "string", "enum": [each.value for each in Severity]},
            "subject": TEXT,
            "message": TEXT,
            "earlier": FLAG,
        }
    ),
    "Events": fields({"events": items(ref("Event")), "newest": NUMBER}),
    "Level": fields({"level": TEXT, "last_modified": {"type": ["integer", "null"]}}),
    "NewLevel": fields(
        {
            "level": {
                "type": "string",
                "enum": ["OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE", "ALL"],
            }
        }
    ),
}
