"""Answers a request that `gate.py` has admitted: finds its handler, forwards it to the leader, maps errors.

Calls of the herder block; `app.py` calls this on a thread.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
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
from heliograph.web.exchange import Refused, RestRequest, RestResponse, error
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
    def __init__(self, routes: Sequence[Route], tls: TlsContext) -> None:
        self.router = Router(routes)
        self._tls = tls

    def answer(self, call: RestRequest) -> RestResponse:
        try:
            check_path(call.target)
            handler, path = self.router.find(call)
            found = replace(call, path=path)
            try:
                return handler(found)
            except NotLeader as e:
                return forward(found, e.leader_url, self._tls)
        except Refused as e:
            return e.answer()
        except HeliographError as e:
            return self._failed(call, e)

    def _failed(self, call: RestRequest, failure: HeliographError) -> RestResponse:
        status = next((code for kind, code in _STATUSES if isinstance(failure, kind)), 500)
        if status == 500 and not isinstance(failure, HerderError):
            _log.error("%s %s: %s", call.method, call.target, failure)
        return error(status, str(failure))
