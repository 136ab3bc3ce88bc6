"""Handlers of /connectors. Upstream: ConnectorsResource."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from urllib.parse import quote

from heliograph.config.connectors.rest import RestConfig
from heliograph.config.security.secrets import hidden, led_elsewhere, restored, still_hidden
from heliograph.connect.herder import ConnectorInfo, Herder, NotFound, TaskId
from heliograph.mm2.connect.jackson import hash_map_order
from heliograph.web.endpoints.bodies import read_config, read_creation, read_offsets
from heliograph.web.endpoints.rendering import (
    config_json,
    info_json,
    offsets_json,
    status_json,
    task_id_json,
    task_state_json,
)
from heliograph.web.endpoints.validating import refuse_invalid
from heliograph.web.exchange import Refused, RestRequest, RestResponse, accepted, nothing, ok

_log = logging.getLogger(__name__)

_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,10}")
#: Characters that Java's UriBuilder leaves unescaped in a path segment (RFC 3986).
_UNESCAPED = "!$&'()*+,;=:@~"


class Connectors:
    def __init__(self, herder: Herder, config: RestConfig) -> None:
        self._herder = herder
        self._config = config
        self._shown = hidden if config.mask_secrets else _unmasked

    def list(self, call: RestRequest) -> RestResponse:
        names = self._herder.connectors()
        if "expand" not in call.query:
            return ok(hash_map_order(names, copied=True))
        found = {}
        for name in hash_map_order(names):
            try:
                found[name] = self._expanded(name, call)
            except NotFound:
                _log.debug("connector %s was deleted while it was listed", name)
        return ok(found)

    def _expanded(self, name: str, call: RestRequest) -> dict[str, object]:
        wanted = call.query["expand"]
        expanded: dict[str, object] = {}
        if "info" in wanted:
            expanded["info"] = info_json(self._herder.info(name), self._shown)
        if "status" in wanted:
            expanded["status"] = status_json(self._herder.status(name))
        return {key: expanded[key] for key in hash_map_order(list(expanded))}

    def info(self, call: RestRequest) -> RestResponse:
        return ok(info_json(self._herder.info(call.path["connector"]), self._shown))

    def config(self, call: RestRequest) -> RestResponse:
        return ok(config_json(self._herder.config(call.path["connector"]), self._shown))

    def create(self, call: RestRequest) -> RestResponse:
        asked = read_creation(call.entity())
        config = _named(asked.config, asked.name)
        self._refuse_hidden(config)
        refuse_invalid(config, self._config)
        _, info = self._herder.put(
            asked.name, _given(config), initial_state=asked.initial_state, allow_replace=False
        )
        return self._stored(info, call, created=True, config=config)

    def put(self, call: RestRequest) -> RestResponse:
        name = call.path["connector"]
        config = self._restored(name, _named(read_config(call.entity()), name))
        refuse_invalid(config, self._config)
        created, info = self._herder.put(
            name, _given(config), initial_state=None, allow_replace=True
        )
        return self._stored(info, call, created=created, config=config)

    def patch(self, call: RestRequest) -> RestResponse:
        name, body = call.path["connector"], call.entity()
        stored = self._herder.config(name)
        sent = read_config(body)
        changes = restored(sent, stored) if self._config.mask_secrets else sent
        self._refuse_hidden(changes)
        if changes.get("name") is not None:
            _named(changes, name)
        patched = {key: value for key, value in {**stored, **changes}.items() if value is not None}
        self._refuse_led_elsewhere(sent, patched, stored)
        refuse_invalid(patched, self._config)
        # The whole configuration that was validated: the stored one may have changed since.
        _, info = self._herder.put(name, patched, initial_state=None, allow_replace=True)
        return ok(info_json(info, self._shown))

    def delete(self, call: RestRequest) -> RestResponse:
        self._herder.delete(call.path["connector"])
        return nothing()

    def status(self, call: RestRequest) -> RestResponse:
        return ok(status_json(self._herder.status(call.path["connector"])))

    def tasks(self, call: RestRequest) -> RestResponse:
        configs = self._herder.task_configs(call.path["connector"])
        return ok(
            [
                {"id": task_id_json(id), "config": config_json(config, self._shown)}
                for id, config in sorted(configs.items())
            ]
        )

    def task_status(self, call: RestRequest) -> RestResponse:
        id = _task(call)
        return ok(task_state_json(id.task, self._herder.task_status(id)))

    def restart_task(self, call: RestRequest) -> RestResponse:
        self._herder.restart_task(_task(call))
        return nothing()

    def restart(self, call: RestRequest) -> RestResponse:
        tasks, only_failed = call.flag("includeTasks"), call.flag("onlyFailed")
        status = self._herder.restart(
            call.path["connector"], include_tasks=tasks, only_failed=only_failed
        )
        if tasks or only_failed:
            return RestResponse(status=202, content=status_json(status))
        return nothing()  # the answer from before KIP-745 added these parameters

    def pause(self, call: RestRequest) -> RestResponse:
        self._herder.pause(call.path["connector"])
        return accepted()

    def resume(self, call: RestRequest) -> RestResponse:
        self._herder.resume(call.path["connector"])
        return accepted()

    def stop(self, call: RestRequest) -> RestResponse:
        self._herder.stop(call.path["connector"])
        return nothing()

    def offsets(self, call: RestRequest) -> RestResponse:
        return ok(offsets_json(self._herder.offsets(call.path["connector"])))

    def alter_offsets(self, call: RestRequest) -> RestResponse:
        entries = read_offsets(call.entity())
        if not entries:
            raise Refused(
                400, "Partitions / offsets need to be provided for an alter offsets request"
            )
        return ok({"message": self._herder.alter_offsets(call.path["connector"], entries)})

    def reset_offsets(self, call: RestRequest) -> RestResponse:
        return ok({"message": self._herder.reset_offsets(call.path["connector"])})

    def topics(self, call: RestRequest) -> RestResponse:
        self._refuse_untracked()
        name = call.path["connector"]
        return ok({name: {"topics": self._herder.active_topics(name)}})

    def reset_topics(self, call: RestRequest) -> RestResponse:
        self._refuse_untracked()
        if not self._config.topic_tracking_reset:
            raise Refused(403, "Topic tracking reset is disabled.")
        self._herder.reset_active_topics(call.path["connector"])
        return accepted()

    def _refuse_untracked(self) -> None:
        if not self._config.topic_tracking:
            raise Refused(403, "Topic tracking is disabled.")

    def _restored(self, name: str, config: dict[str, str | None]) -> dict[str, str | None]:
        """A secret that comes back as [hidden] keeps its stored value."""
        if not self._config.mask_secrets:
            return config
        try:
            stored = self._herder.config(name)
        except NotFound:
            _log.debug("connector %s: new, no secret of it is stored", name)
            stored = {}
        complete = restored(config, stored)
        self._refuse_hidden(complete)
        self._refuse_led_elsewhere(config, complete, stored)
        return complete

    def _refuse_led_elsewhere(
        self,
        sent: Mapping[str, str | None],
        merged: Mapping[str, str | None],
        stored: Mapping[str, str],
    ) -> None:
        found = led_elsewhere(sent, merged, stored) if self._config.mask_secrets else None
        if found is not None:
            secret, changed = found
            raise Refused(
                400,
                f"{secret}: the stored value is not reused while the same request changes {changed}, which "
                "decides where it is sent; send the value itself",
            )

    def _refuse_hidden(self, config: Mapping[str, str | None]) -> None:
        if self._config.mask_secrets and (names := still_hidden(config)):
            raise Refused(
                400,
                f"{names[0]}: expected a value, found {config[names[0]]}, which stands for a stored value, "
                "but none is stored; send the value itself",
            )

    def _stored(
        self,
        info: ConnectorInfo,
        call: RestRequest,
        *,
        created: bool,
        config: Mapping[str, str | None],
    ) -> RestResponse:
        content = info_json(
            info._replace(config=_ordered(info.config, config)), self._shown, as_sent=True
        )
        if not created:
            return ok(content)
        location = f"{call.base}/connectors/{quote(info.name, safe=_UNESCAPED)}"
        return RestResponse(status=201, content=content, headers={"location": location})


def _unmasked(config: Mapping[str, str]) -> Mapping[str, str]:
    return config


def _named(config: dict[str, str | None], name: str) -> dict[str, str | None]:
    """Adds the connector's name to its settings. Raises Refused if they have another name."""
    included = config.get("name")
    if included is not None and included != name:
        raise Refused(
            400,
            f"Connector name configuration ({included}) doesn't match connector name in the URL ({name})",
        )
    return {**config, "name": name}


def _given(config: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in config.items() if value is not None}


def _ordered(config: Mapping[str, str], like: Mapping[str, str | None]) -> dict[str, str]:
    return {name: config[name] for name in (*like, *(set(config) - set(like))) if name in config}


def _task(call: RestRequest) -> TaskId:
    number = call.path["task"]
    if not _WHOLE_NUMBER.fullmatch(number) or not -(2**31) <= int(number) < 2**31:
        raise Refused(404, "HTTP 404 Not Found")
    return TaskId(call.path["connector"], int(number))
