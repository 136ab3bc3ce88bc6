"""RestRequest and RestResponse: values that do not depend on a web server."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field

JSON = "application/json"
EVENT_STREAM = "text/event-stream"
ANY = "*/*"  # in `Route.produces`: it answers whatever the client accepts


@dataclass(frozen=True, slots=True, kw_only=True)
class RestRequest:
    """`path` has the values of a route's braces; `base` is scheme and host as the client wrote them.
    `may_write`: the user's role allows changes."""

    method: str
    target: str
    path: Mapping[str, str]
    query: Mapping[str, Sequence[str]]
    headers: Mapping[str, str]
    body: bytes = b""
    base: str = ""
    may_write: bool = True

    def entity(self) -> bytes:
        """The body, for a handler that reads JSON. Its Content-Type is required: a browser lets a page of
        another site send other types, or none, without a preflight. Raises Refused."""
        if self.body and "content-type" not in self.headers:
            raise Refused(415, "HTTP 415 Unsupported Media Type")
        return self.body

    def first(self, name: str) -> str | None:
        """The first value of a query parameter."""
        values = self.query.get(name)
        return values[0] if values else None

    def flag(self, name: str, *, default: bool = False) -> bool:
        """As Java's Boolean.parseBoolean: everything but "true" is false."""
        value = self.first(name)
        return default if value is None else value.lower() == "true"


@dataclass(frozen=True, slots=True, kw_only=True)
class RestResponse:
    """`content` becomes JSON; None is an empty body; bytes are sent as they are. An error outside of all
    routes has no content type. `stream`: parts of a body without an end; `content` is not used then."""

    status: int
    content: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str | None = JSON
    stream: Callable[[], AsyncIterator[bytes]] | None = None

    def body(self) -> bytes:
        if self.content is None:
            return b""
        if isinstance(self.content, bytes):
            return self.content
        if self.media_type == "text/plain":
            return str(self.content).encode()
        return json.dumps(self.content, separators=(",", ":"), ensure_ascii=False).encode(
            "utf-8", "backslashreplace"
        )


class Refused(Exception):
    """A request that is refused, with its HTTP status."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        routed: bool = True,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.status = status
        self.routed = routed
        self.headers = headers or {}
        super().__init__(message)

    def answer(self) -> RestResponse:
        return error(self.status, str(self), routed=self.routed, headers=self.headers)


def ok(content: object) -> RestResponse:
    return RestResponse(status=200, content=content)


def accepted() -> RestResponse:
    return RestResponse(status=202, media_type=None)


def nothing() -> RestResponse:
    return RestResponse(status=204, media_type=None)


def error(
    status: int, message: str, *, routed: bool = True, headers: Mapping[str, str] | None = None
) -> RestResponse:
    """Connect's shape of an error."""
    content = {"error_code": status, "message": message}
    media_type = JSON if routed else None
    return RestResponse(
        status=status, content=content, media_type=media_type, headers=headers or {}
    )
