"""Handlers of /admin/loggers. Upstream: LoggingResource."""

from __future__ import annotations

import logging
from collections.abc import Callable

from heliograph.connect.logger_levels import Level, LoggerLevels, is_level
from heliograph.web.endpoints.bodies import read_config
from heliograph.web.exchange import Refused, RestRequest, RestResponse, nothing, ok

_log = logging.getLogger(__name__)

_LONGEST_NAME = 256
_MOST_PARTS = 20

#: Sets a logger's level on every worker of the cluster.
TellAll = Callable[[str, str], None]


class Loggers:
    def __init__(self, levels: LoggerLevels, tell_all: TellAll) -> None:
        self._levels = levels
        self._tell_all = tell_all

    def list(self, call: RestRequest) -> RestResponse:
        return ok({name: _json(level) for name, level in self._levels.all().items()})

    def get(self, call: RestRequest) -> RestResponse:
        name = _name(call)
        level = self._levels.level(name)
        if level is None:
            raise Refused(404, f"Logger {name} not found.")
        return ok(_json(level))

    def put(self, call: RestRequest) -> RestResponse:
        name, level = _name(call), read_config(call.entity()).get("level")
        if level is None:
            raise Refused(400, "Desired 'level' parameter was not specified in request.")
        if not is_level(level):
            raise Refused(404, f"invalid log level '{level}'.")
        scope = call.first("scope") or "worker"
        if scope.lower() == "cluster":
            self._tell_all(name, level.upper())
            return nothing()
        if scope.lower() != "worker":
            _log.warning(
                "level of %s: unknown scope %r; setting it on this worker only", name, scope
            )
        return ok(self._levels.set(name, level))


def _name(call: RestRequest) -> str:
    """Limited, since Python keeps a logger for each part of a name until the process ends."""
    name = call.path["logger"]
    if len(name) > _LONGEST_NAME or name.count(".") > _MOST_PARTS:
        raise Refused(
            400,
            f"Logger: expected a name of at most {_LONGEST_NAME} characters and {_MOST_PARTS} dots",
        )
    return name


def _json(level: Level) -> dict[str, object]:
    return {"level": level.level, "last_modified": level.last_modified}
