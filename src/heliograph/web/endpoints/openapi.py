"""Renders the endpoint table as the OpenAPI 3.1 document of /openapi.json and docs/openapi.yaml.

python -m heliograph.web.endpoints.openapi > docs/openapi.yaml
"""

from __future__ import annotations

import re
import sys
from functools import cache
from typing import Any

import yaml

from heliograph import __version__
from heliograph.web.endpoints.openapi_schemas import SCHEMAS, Schema, ref
from heliograph.web.endpoints.table import ENDPOINTS, Endpoint
from heliograph.web.exchange import JSON

_DOCUMENTED = {
    200: "Current state",
    201: "Created",
    202: "Accepted; carried out asynchronously",
    204: "Done",
    400: "Invalid request; the message says what was expected",
    401: "Unknown user or wrong password (only with a users file)",
    403: "Disabled in the worker's configuration, not allowed for the user's role, requested by a page of "
    "another origin, or an internal request without a valid signature",
    404: "Not found",
    405: "Method not allowed",
    406: "The client does not accept JSON",
    409: "The connector exists already, or the workers are electing a leader",
    413: "Larger than rest.request.max.bytes",
    415: "The body is not JSON",
    421: "The Host header is not a name of this listener (rest.allowed.hosts)",
    429: "Too many wrong passwords from this address",
    500: "Timed out, or a Kafka cluster failed",
    503: "Still starting, or too many readers of live events",
}
_ALWAYS = (400, 401, 403, 404, 405, 406, 413, 415, 421, 429, 500)


@cache
def document() -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in ENDPOINTS:
        if endpoint.summary is not None:
            paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
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


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    rendered: dict[str, Any] = {
        "summary": endpoint.summary,
        "operationId": f"{endpoint.method.lower()} {endpoint.path}",
        "parameters": [
            *(
                {"name": name, "in": "path", "required": True, "schema": _segment(name)}
                for name in re.findall(r"\{(\w+)\}", endpoint.path)
            ),
            *({"name": name, "in": "query", "schema": of} for name, of in endpoint.query.items()),
        ],
        "responses": {
            **{
                str(code): _response(code, of, endpoint.produces[0])
                for code, of in endpoint.answers.items()
            },
            **{
                str(code): _response(code, ref("Error"))
                for code in sorted({*_ALWAYS, *endpoint.errors} - endpoint.answers.keys())
            },
        },
    }
    if endpoint.body is not None:
        content = {"application/json": {"schema": endpoint.body}}
        rendered["requestBody"] = {"required": True, "content": content}
    return rendered


def _segment(name: str) -> Schema:
    if name == "task":
        return {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}
    return {"type": "string", "minLength": 1}


def _response(code: int, of: Schema | None, media_type: str = JSON) -> dict[str, Any]:
    described: dict[str, Any] = {"description": _DOCUMENTED[code]}
    return described if of is None else {**described, "content": {media_type: {"schema": of}}}


if __name__ == "__main__":
    sys.stdout.write(yaml.safe_dump(document(), sort_keys=False, allow_unicode=True, width=110))
