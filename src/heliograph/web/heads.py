"""Checks the head of a request before the login: ambiguous length, foreign host, page of another site.

A browser sends requests for any page, also to localhost, with the user's saved password. Two checks prevent
that: the Host header (DNS rebinding), and the origin of a page that requests a change (CSRF, by the rule of
Go's CrossOriginProtection). Other programs send neither Origin nor Sec-Fetch-Site.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from heliograph.config.connectors.rest import Listener, RestConfig
from heliograph.web.exchange import Refused

_SAFE = ("GET", "HEAD", "OPTIONS")
_HOST = re.compile(r"(\[[^\[\]@/]+\]|[^\[\]:@/]*)(:\d*)?")
_LONGEST_ORIGIN = 500
#: Closes the connection: where the request ends is ambiguous.
CLOSE = {"connection": "close"}


class Heads:
    """The checks of one listener; None for an application without one, which accepts any host."""

    def __init__(self, config: RestConfig, listener: Listener | None) -> None:
        self._origins = [_origin(pattern) for pattern in config.allow_origins]
        own = (config.advertised_host or "", os.uname().nodename, listener.host if listener else "")
        self._hosts = {"localhost", *config.allowed_hosts, *(each.lower() for each in own if each)}
        guarded = listener is not None and (listener.is_loopback or bool(config.allowed_hosts))
        self._checks_host = guarded and "*" not in self._hosts

    def check(self, method: str, headers: Mapping[str, str]) -> None:
        """Raises Refused (400, 403, 421)."""
        if "content-length" in headers and "transfer-encoding" in headers:
            raise Refused(
                400, "Bad Request: both Content-Length and Transfer-Encoding", headers=CLOSE
            )
        host = headers.get("host")
        if self._checks_host and host is not None and not self._is_ours(host):
            raise Refused(
                421,
                "Misdirected Request: this listener accepts its own names and IP addresses; allow other "
                "names with rest.allowed.hosts",
            )
        if method not in _SAFE and not self._is_ours_or_known(headers):
            raise Refused(
                403,
                "Forbidden: a page of another origin requests a change; allow its origin with "
                "access.control.allow.origin",
            )

    def known_origin(self, headers: Mapping[str, str]) -> str | None:
        """The origin of the request, if access.control.allow.origin allows it."""
        origin = headers.get("origin")
        if origin is None or len(origin) > _LONGEST_ORIGIN:
            return None
        return origin if any(each.fullmatch(origin) for each in self._origins) else None

    def _is_ours(self, host: str) -> bool:
        """IP addresses are accepted: a browser looks up no name for them, so they cannot be rebound."""
        match = _HOST.fullmatch(host.strip())
        if match is None:
            return False
        name = match[1].strip("[]").lower().rstrip(".")
        if name in self._hosts:
            return True
        try:
            ipaddress.ip_address(name.partition("%")[0])
        except ValueError:
            return False
        return True

    def _is_ours_or_known(self, headers: Mapping[str, str]) -> bool:
        if self.known_origin(headers) is not None:
            return True
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if site is not None:
            return site in ("same-origin", "none")
        if origin is None:
            return True
        return _authority(origin) == headers.get("host", "").strip().lower()


def _authority(origin: str) -> str:
    """Host and port of an origin; "" for "null" or a malformed one."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _origin(pattern: str) -> re.Pattern[str]:
    """`*` or a regular expression, as in Connect, which passes it to Jetty."""
    if pattern == "*":
        return re.compile(".*")
    try:
        return re.compile(pattern)
    except re.error:
        return re.compile(re.escape(pattern))
