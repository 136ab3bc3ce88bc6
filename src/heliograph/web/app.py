"""The ASGI application: reads a request within limits, and turns the answer of `api.py` into a response.

A request is refused as early as possible: by its head (`heads.py`), by its login (`gate.py`), by its size,
and only then by its content.
"""

from __future__ import annotations

import asyncio
import logging
import time
from email.utils import formatdate
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.middleware.errors import ServerErrorMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from heliograph.config.connectors.rest import HeaderRule, Listener, RestConfig
from heliograph.web.api import Api
from heliograph.web.exchange import Refused, RestRequest, RestResponse, error
from heliograph.web.gate import Gate, shown
from heliograph.web.heads import CLOSE, Heads
from heliograph.web.listener.limits import Limits
from heliograph.web.listener.protocol import peer_of

#: One line per request, at INFO.
_access = logging.getLogger("heliograph.web.access")

_PARAMETERS = 100
#: Default of Jetty's CrossOriginHandler.
_SIMPLE_METHODS = ("GET", "POST", "HEAD")
_PREFLIGHT_SECONDS = "60"
_LONGEST_LOGGED = 500


def new_app(
    api: Api,
    config: RestConfig,
    gate: Gate | None = None,
    *,
    listener: Listener | None = None,
    limits: Limits | None = None,
) -> ASGIApp:
    guarded = _GuardedApi(
        api, config, gate or Gate.of(config), Heads(config, listener), limits or Limits()
    )

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        response = await guarded.answer(Request(scope, receive))
        await response(scope, receive, send)

    # No Starlette router: it would answer a path that no route matches (%0A) before the gate has checked
    # the login. Paths are matched by routing.py, after it.
    return ServerErrorMiddleware(answer, handler=guarded.internal_error)


class _TooLarge(Exception):
    pass


class _GuardedApi:
    def __init__(
        self, api: Api, config: RestConfig, gate: Gate, heads: Heads, limits: Limits
    ) -> None:
        self._api = api
        self._config = config
        self._gate = gate
        self._heads = heads
        self._limits = limits
        self._answering = 0

    async def answer(self, request: Request) -> Response:
        began = time.monotonic()
        who, status, size = "-", 500, 0
        try:
            try:
                self._heads.check(request.method, request.headers)
                admitted = await self._gate.admit(
                    request.method, request.headers, peer_of(request.scope)
                )
                who = admitted.name
                answer = await self._answer(request, may_write=admitted.may_write)
            except Refused as e:
                answer = e.answer()
                if "expect" in request.headers:  # the client sends its body only after 100 Continue
                    answer = error(e.status, str(e), headers={**e.headers, **CLOSE})
            response = self._response(request, answer)
            status = answer.status
            size = 0 if isinstance(response, StreamingResponse) else len(response.body)
            return response
        finally:
            if self._config.access_log:
                _log_access(request, who, status, size, time.monotonic() - began)

    async def internal_error(self, request: Request, problem: Exception) -> Response:
        """For an exception that nothing handles. Starlette raises it again, and uvicorn logs it with its
        trace."""
        answer = error(500, f"{type(problem).__name__}: see the worker's log")
        return Response(answer.body(), 500, media_type=answer.media_type)

    async def _answer(self, request: Request, *, may_write: bool) -> RestResponse:
        """Raises Refused."""
        if self._answering >= self._limits.requests:
            raise Refused(503, f"{self._answering} requests in progress; try again", headers=_SOON)
        self._answering += 1
        try:
            call = _call(request, await self._body(request), may_write=may_write)
            return await run_in_threadpool(self._api.answer, call)
        finally:
            self._answering -= 1

    async def _body(self, request: Request) -> bytes:
        """Raises Refused."""
        seconds, limit = self._limits.body_seconds, self._config.max_request_bytes
        try:
            async with asyncio.timeout(seconds):
                return await _read(request, limit)
        except _TooLarge:
            sentence = f"Request body: expected at most {limit} bytes (rest.request.max.bytes)"
            raise Refused(413, sentence) from None
        except TimeoutError:
            raise Refused(408, f"Request body: not complete after {seconds:.0f} s") from None
        except ClientDisconnect:
            raise Refused(400, "Request body: the connection was closed before its end") from None

    def _response(self, request: Request, answer: RestResponse) -> Response:
        response: Response
        if answer.stream is not None:
            response = StreamingResponse(answer.stream(), answer.status, dict(answer.headers))
        else:
            response = Response(answer.body(), answer.status, dict(answer.headers))
            response.headers["content-length"] = str(len(response.body))
        if answer.media_type is not None and (answer.content is not None or answer.stream):
            response.headers["content-type"] = answer.media_type
        if answer.status == 401:
            response.headers["www-authenticate"] = 'Basic realm="connect"'
        if answer.status in (204, 304):
            del response.headers["content-length"]
        self._cross_origin(request, response.headers)
        for rule in self._config.response_headers:
            _apply(rule, response.headers)
        return response

    def _cross_origin(self, request: Request, headers: MutableHeaders) -> None:
        origin = self._heads.known_origin(request.headers)
        if origin is None:
            return
        headers["access-control-allow-origin"] = origin
        headers.add_vary_header("Origin")
        if request.method == "OPTIONS" and "access-control-request-method" in request.headers:
            allowed = self._config.allow_methods or _SIMPLE_METHODS
            headers["access-control-allow-methods"] = ",".join(allowed)
            headers["access-control-allow-headers"] = "Content-Type"
            headers["access-control-max-age"] = _PREFLIGHT_SECONDS


_SOON = {"retry-after": "1"}


async def _read(request: Request, limit: int) -> bytes:
    declared = request.headers.get("content-length", "0")
    if declared.isdigit() and int(declared) > limit:
        raise _TooLarge
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise _TooLarge
    return bytes(body)


def _call(request: Request, body: bytes, *, may_write: bool) -> RestRequest:
    """Raises Refused."""
    try:
        query = parse_qs(
            request.scope["query_string"].decode("latin-1"),
            keep_blank_values=True,
            max_num_fields=_PARAMETERS,
        )
    except ValueError:
        raise Refused(400, f"Query: expected at most {_PARAMETERS} parameters") from None
    return RestRequest(
        method=request.method,
        target=_target(request),
        path={},
        query=query,
        headers=dict(request.headers),
        body=body,
        base=f"{request.url.scheme}://{request.headers.get('host', request.url.netloc)}",
        may_write=may_write,
    )


def _target(request: Request) -> str:
    raw = request.scope.get("raw_path") or request.scope["path"].encode()
    return str(raw.decode("latin-1"))


def _log_access(request: Request, who: str, status: int, size: int, seconds: float) -> None:
    query = request.scope["query_string"].decode("latin-1")
    target = shown(f"{_target(request)}{'?' if query else ''}{query}", _LONGEST_LOGGED)
    _access.info(
        '%s %s "%s %s" %d, %d bytes, %.0f ms',
        *(peer_of(request.scope).address or "-", who, request.method, target),
        *(status, size, seconds * 1e3),
    )


def _apply(rule: HeaderRule, headers: MutableHeaders) -> None:
    value = rule.value
    if rule.action.endswith("date"):
        value = formatdate(int(value) / 1000, usegmt=True) if value.lstrip("-").isdigit() else value
    if rule.action.startswith("set"):
        headers[rule.name] = value
    else:
        headers.append(rule.name, value)
