"""Finds the route of a request, or the error that Jersey answers when there is none.

    /connectors/{connector}/tasks/{task}/status      GET HEAD OPTIONS

No route has the path: 404. None has the method: 405. The body is not JSON: 415. The client does not accept
JSON, or what else the route produces: 406. OPTIONS lists the methods, HEAD is GET without its body.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from heliograph.mm2.connect.jackson import hash_map_order
from heliograph.web.exchange import ANY, JSON, Refused, RestRequest, RestResponse

Handler = Callable[[RestRequest], RestResponse]

_BAD_ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """`consumes`: whether a body must be JSON; the root reads none. `produces`: the media types of its
    answers, of which the client must accept one."""

    template: str
    method: str
    handler: Handler
    consumes: bool = True
    produces: tuple[str, ...] = (JSON,)


@dataclass(frozen=True, slots=True)
class _Resource:
    pattern: re.Pattern[str]
    methods: Mapping[str, Route]


class Router:
    def __init__(self, routes: Sequence[Route]) -> None:
        self.routes = tuple(routes)
        by_template: dict[str, dict[str, Route]] = {}
        for route in routes:
            by_template.setdefault(route.template, {})[route.method] = route
        self._resources = [
            _Resource(_pattern(template), methods) for template, methods in by_template.items()
        ]

    def find(self, call: RestRequest) -> tuple[Handler, Mapping[str, str]]:
        """Raises Refused."""
        for resource in self._resources:
            match = resource.pattern.fullmatch(call.target)
            if match is not None:
                path = {name: _decoded(value) for name, value in match.groupdict().items()}
                return self._handler(resource, call), path
        raise Refused(404, "HTTP 404 Not Found", routed=False)

    @staticmethod
    def _handler(resource: _Resource, call: RestRequest) -> Handler:
        if call.method == "OPTIONS":
            return lambda _: _options(resource.methods)
        method = "GET" if call.method == "HEAD" else call.method
        route = resource.methods.get(method)
        if route is None:
            raise Refused(405, "HTTP 405 Method Not Allowed", routed=False)
        if route.consumes and not _is_json(call.headers.get("content-type")):
            raise Refused(415, "HTTP 415 Unsupported Media Type", routed=False)
        if not accepts(call.headers.get("accept"), route.produces):
            raise Refused(406, "HTTP 406 Not Acceptable", routed=False)
        return route.handler


def check_path(target: str) -> None:
    """Refuses paths that Jetty refuses as ambiguous or malformed. Raises Refused."""
    if _BAD_ESCAPE.search(target):
        raise Refused(400, "Bad Request: % is not followed by two hexadecimal digits")
    if "//" in target:
        raise Refused(400, "Ambiguous URI empty segment")
    if "%2f" in target.lower():
        raise Refused(400, "Ambiguous URI path separator")


def _pattern(template: str) -> re.Pattern[str]:
    """Matches with and without a slash at the end."""
    parts = re.split(r"\{(\w+)\}", template)
    text = "".join(
        f"(?P<{part}>[^/]+)" if number % 2 else re.escape(part) for number, part in enumerate(parts)
    )
    return re.compile(f"{text.rstrip('/')}/?")


def _decoded(segment: str) -> str:
    try:
        return unquote(segment, errors="strict")
    except UnicodeDecodeError:
        raise Refused(400, "Bad Request: the path is not UTF-8") from None


def _options(methods: Mapping[str, Route]) -> RestResponse:
    names = {*methods, "OPTIONS", *(["HEAD"] if "GET" in methods else [])}
    ordered = hash_map_order(sorted(names, reverse=True))
    return RestResponse(
        status=200,
        content=", ".join(ordered),
        headers={"allow": ",".join(ordered)},
        media_type="text/plain",
    )


def _is_json(content_type: str | None) -> bool:
    """None is accepted here: `RestRequest.entity` requires one for a body that is read."""
    if content_type is None:
        return True
    main = content_type.partition(";")[0].strip().lower()
    if "/" not in main:
        raise Refused(400, f"Content-Type: expected {JSON}, found {content_type}")
    return main in (JSON, "application/*", "*/*")


def accepts(accept: str | None, produces: Sequence[str]) -> bool:
    """Whether a client with this Accept header takes one of these media types."""
    if accept is None or not accept.strip() or ANY in produces:
        return True
    wanted = {ANY, "*", *produces, *(f"{each.partition('/')[0]}/*" for each in produces)}
    ranges = (each.split(";") for each in accept.lower().split(","))
    return any(
        main.strip() in wanted and "q=0" not in map(str.strip, rest) for main, *rest in ranges
    )
