"""Forwards a request to the leading worker. Upstream: HerderRequestHandler, RestClient.

The query parameter `forward` limits the hops: a worker adds `forward=true` to a client's request; a worker
that receives that may forward it once more, with `forward=false`, in case the leader has just changed.
"""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Callable
from urllib.parse import urlencode, urlsplit

from heliograph.web.exchange import JSON, Refused, RestRequest, RestResponse

_TIMEOUT_SECONDS = 90.0
_HEADERS = ("authorization", "content-type", "accept")

#: Makes the TLS context for a leader with an https address.
TlsContext = Callable[[], ssl.SSLContext]


def forward(call: RestRequest, leader_url: str, tls: TlsContext) -> RestResponse:
    """The leader's answer. Raises Refused."""
    hop = call.first("forward")
    if hop is not None and not call.flag("forward"):
        raise Refused(
            409,
            "Cannot complete request because of a conflicting operation (e.g. worker rebalance)",
        )
    if not leader_url:
        raise Refused(
            409,
            "Cannot complete request momentarily due to no known leader URL, likely because a rebalance "
            "was underway.",
        )
    query = {name: values for name, values in call.query.items() if name != "forward"}
    query["forward"] = ["true" if hop is None else "false"]
    try:
        return _ask(call, leader_url, f"{call.target}?{urlencode(query, doseq=True)}", tls)
    except (OSError, http.client.HTTPException, ValueError) as e:
        raise Refused(500, f"IO Error trying to forward REST request: {e}") from e


def _ask(call: RestRequest, leader_url: str, target: str, tls: TlsContext) -> RestResponse:
    leader = urlsplit(leader_url)
    if leader.hostname is None:
        raise ValueError(f"{leader_url} is not the URL of a worker")
    connection: http.client.HTTPConnection
    if leader.scheme == "https":
        connection = http.client.HTTPSConnection(
            leader.hostname, leader.port, timeout=_TIMEOUT_SECONDS, context=tls()
        )
    else:
        connection = http.client.HTTPConnection(
            leader.hostname, leader.port, timeout=_TIMEOUT_SECONDS
        )
    try:
        headers = {name: call.headers[name] for name in _HEADERS if name in call.headers}
        connection.request(call.method, target, call.body or None, headers)
        response = connection.getresponse()
        content = response.read()
        location = response.getheader("location")
        return RestResponse(
            status=response.status,
            content=json.loads(content) if content else None,
            media_type=JSON if content else None,
            headers={} if location is None else {"location": _at(call.base, location)},
        )
    finally:
        connection.close()


def _at(base: str, location: str) -> str:
    """The path of `location` on the worker that received the request."""
    return f"{base}{urlsplit(location).path}"
