"""From a request to its answer: who asks, for what, and what comes of it. Blocks while the herder does."""

from __future__ import annotations

import base64
import binascii
import hmac
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from heliograph.connect.herder import (
    AlreadyExists,
    BadRequest,
    Forbidden,
    HerderError,
    NotFound,
    NotLeader,
    Rebalancing,
)
from heliograph.errors import ConfigError, HeliographError
from heliograph.web.exchange import Answer, Call, Refused, error
from heliograph.web.forwarding import TlsContext, forward
from heliograph.web.routing import Route, Router, check_path

_log = logging.getLogger(__name__)

_STATUSES: tuple[tuple[type[HeliographError], int], ...] = (
    (NotFound, 404),
    (AlreadyExists, 409),
    (Rebalancing, 409),
    (BadRequest, 400),
    (Forbidden, 403),
    (ConfigError, 400),
)


class Api:
    """`users` of None: everybody may ask."""

    def __init__(
        self, routes: Sequence[Route], users: Mapping[str, str] | None, tls: TlsContext
    ) -> None:
        self._router = Router(routes)
        self._users = users
        self._tls = tls

    def answer(self, call: Call) -> Answer:
        try:
            check_path(call.target)
            self._authenticate(call)
            handler, path = self._router.find(call)
            found = replace(call, path=path)
            try:
                return handler(found)
            except NotLeader as e:
                return forward(found, e.leader_url, self._tls)
        except Refused as e:
            return error(e.status, str(e), routed=e.routed)
        except HeliographError as e:
            return self._failed(call, e)

    def _failed(self, call: Call, failure: HeliographError) -> Answer:
        status = next((code for kind, code in _STATUSES if isinstance(failure, kind)), 500)
        if status == 500 and not isinstance(failure, HerderError):
            _log.error("%s %s: %s", call.method, call.target, failure)
        return error(status, str(failure))

    def _authenticate(self, call: Call) -> None:
        """Basic authentication, in a time that does not tell how much of a password is right."""
        if self._users is None:
            return
        name, password = _credentials(call.headers.get("authorization", ""))
        expected = self._users.get(name)
        right = hmac.compare_digest((expected or "").encode(), password.encode())
        if expected is None or not right:
            raise Refused(401, "User cannot access the resource.")


def _credentials(header: str) -> tuple[str, str]:
    """Of a header that is none, a name that nobody has."""
    scheme, _, encoded = header.strip().partition(" ")
    if scheme.lower() != "basic":
        return "", ""
    try:
        name, _, password = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return "", ""
    return name, password
