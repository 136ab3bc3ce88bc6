"""The web application: bytes in, bytes out, within limits. What is said is decided in `api.py`."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from email.utils import formatdate
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from heliograph.config.connectors.rest import HeaderRule, RestConfig
from heliograph.web.api import Api
from heliograph.web.exchange import Answer, Call, error

_log = logging.getLogger(__name__)

#: All of them, so that it is Connect's rules that say which ones a path has.
_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"]
_BODY_SECONDS = 60.0
_PARAMETERS = 100
#: What Jetty's CrossOriginHandler allows unless told otherwise.
_SIMPLE_METHODS = ("GET", "POST", "HEAD")
_PREFLIGHT_SECONDS = "60"


def new_app(api: Api, config: RestConfig) -> Starlette:
    door = _Door(api, config)
    return Starlette(
        routes=[Route("/{path:path}", door.enter, methods=_METHODS)],
        exception_handlers={Exception: door.broken},
    )


class _TooLarge(Exception):
    pass


class _Door:
    def __init__(self, api: Api, config: RestConfig) -> None:
        self._api = api
        self._config = config
        self._origins = [_origin(pattern) for pattern in config.allow_origins]

    async def enter(self, request: Request) -> Response:
        began = time.monotonic()
        answer = await self._answer(request)
        response = Response(answer.body(), answer.status, dict(answer.headers))
        response.headers["content-length"] = str(len(response.body))
        if answer.media_type is not None and answer.content is not None:
            response.headers["content-type"] = answer.media_type
        if answer.status == 401:
            response.headers["www-authenticate"] = 'Basic realm="connect"'
        if answer.status in (204, 304):
            del response.headers["content-length"]
        self._cross_origin(request, response.headers)
        for rule in self._config.response_headers:
            _apply(rule, response.headers)
        seconds = time.monotonic() - began
        _log.debug(
            "%s %s: %d, %.0f ms", request.method, request.url.path, answer.status, seconds * 1e3
        )
        return response

    async def broken(self, request: Request, problem: Exception) -> Response:
        """A mistake of ours; Starlette raises it again, so that it is logged with its trace."""
        answer = error(500, f"{type(problem).__name__}: see the worker's log")
        return Response(answer.body(), 500, media_type=answer.media_type)

    async def _answer(self, request: Request) -> Answer:
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                body = await self._body(request)
        except _TooLarge:
            limit = self._config.max_request_bytes
            return error(
                413, f"Request body: expected at most {limit} bytes (rest.request.max.bytes)"
            )
        except TimeoutError:
            return error(408, f"Request body: not there after {_BODY_SECONDS:.0f} s")
        except ClientDisconnect:
            return error(400, "Request body: the connection ended before it did")
        try:
            call = _call(request, body)
        except ValueError:
            return error(400, f"Query: expected at most {_PARAMETERS} parameters")
        return await run_in_threadpool(self._api.answer, call)

    async def _body(self, request: Request) -> bytes:
        limit = self._config.max_request_bytes
        declared = request.headers.get("content-length", "0")
        if declared.isdigit() and int(declared) > limit:
            raise _TooLarge
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > limit:
                raise _TooLarge
        return bytes(body)

    def _cross_origin(self, request: Request, headers: MutableHeaders) -> None:
        origin = request.headers.get("origin")
        if origin is None or not any(each.fullmatch(origin) for each in self._origins):
            return
        headers["access-control-allow-origin"] = origin
        headers.add_vary_header("Origin")
        if request.method == "OPTIONS" and "access-control-request-method" in request.headers:
            allowed = self._config.allow_methods or _SIMPLE_METHODS
            headers["access-control-allow-methods"] = ",".join(allowed)
            headers["access-control-allow-headers"] = "Content-Type"
            headers["access-control-max-age"] = _PREFLIGHT_SECONDS


def _call(request: Request, body: bytes) -> Call:
    """Raises ValueError for too many parameters."""
    raw = request.scope.get("raw_path") or request.scope["path"].encode()
    query = parse_qs(
        request.scope["query_string"].decode("latin-1"),
        keep_blank_values=True,
        max_num_fields=_PARAMETERS,
    )
    return Call(
        method=request.method,
        target=raw.decode("latin-1"),
        path={},
        query=query,
        headers=dict(request.headers),
        body=body,
        base=f"{request.url.scheme}://{request.headers.get('host', request.url.netloc)}",
    )


def _origin(pattern: str) -> re.Pattern[str]:
    """`*`, or a regular expression, as Connect hands it to Jetty."""
    if pattern == "*":
        return re.compile(".*")
    try:
        return re.compile(pattern)
    except re.error:
        return re.compile(re.escape(pattern))


def _apply(rule: HeaderRule, headers: MutableHeaders) -> None:
    value = rule.value
    if rule.action.endswith("date"):
        value = formatdate(int(value) / 1000, usegmt=True) if value.lstrip("-").isdigit() else value
    if rule.action.startswith("set"):
        headers[rule.name] = value
    else:
        headers.append(rule.name, value)
