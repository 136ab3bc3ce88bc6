"""Pause, resume, stop and restart, by forms of the page."""

from __future__ import annotations

import logging
from collections.abc import Callable
from urllib.parse import urlencode, urlsplit

from heliograph.connect.herder import (
    AlreadyExists,
    BadRequest,
    Forbidden,
    Herder,
    HerderError,
    NotFound,
    NotLeader,
    Rebalancing,
)
from heliograph.web.exchange import Refused, RestRequest, RestResponse
from heliograph.web.ui.rendering import see_other
from heliograph.web.ui.views.links import HOME

_log = logging.getLogger(__name__)

#: With the words for what was done.
ACTIONS = {
    "pause": "is being paused",
    "resume": "is being resumed",
    "stop": "is being stopped",
    "restart": "is being restarted",
}
_STATUSES: tuple[tuple[type[HerderError], int], ...] = (
    (NotFound, 404),
    (Forbidden, 403),
    (BadRequest, 400),
    (AlreadyExists, 409),
    (Rebalancing, 409),
    (NotLeader, 409),
)


class Actions:
    """`done` is called after a change."""

    def __init__(self, herder: Herder, done: Callable[[], None]) -> None:
        self._herder = herder
        self._done = done

    def carry_out(self, name: str, call: RestRequest) -> RestResponse | Refused:
        """Where to go on, or why nothing was done. Raises Refused for a form of another site."""
        require_own_form(call)
        connector = call.path["connector"]
        try:
            self._ask(name, connector)
        except HerderError as e:
            status = next((code for kind, code in _STATUSES if isinstance(e, kind)), 500)
            return Refused(status, f"{connector}: {e}")
        _log.info("page: connector %s %s", connector, ACTIONS[name])
        self._done()
        return see_other(f"{HOME}/connectors?{urlencode({'done': name, 'connector': connector})}")

    def _ask(self, name: str, connector: str) -> None:
        match name:
            case "pause":
                self._herder.pause(connector)
            case "resume":
                self._herder.resume(connector)
            case "stop":
                self._herder.stop(connector)
            case _:
                self._herder.restart(connector, include_tasks=True, only_failed=False)


def require_own_form(call: RestRequest) -> None:
    """A browser says where a form comes from; the same check for all changes (`heads.py`) also accepts
    programs and the origins of access.control.allow.origin. Raises Refused (403)."""
    site, origin = call.headers.get("sec-fetch-site"), call.headers.get("origin")
    host = call.headers.get("host", "").strip().lower()
    same = site == "same-origin" if site is not None else bool(host) and _host(origin) == host
    if not same:
        raise Refused(
            403,
            "Forbidden: this form is for the page of this listener; programs use the REST API, as in "
            "PUT /connectors/NAME/pause",
        )


def _host(origin: str | None) -> str:
    try:
        return urlsplit(origin or "").netloc.lower()
    except ValueError:
        return ""
