"""Strimzi's annotations of a KafkaMirrorMaker2: restart a connector or a task; list, alter or reset offsets.

    strimzi.io/restart-connector="A->B.MirrorSourceConnector"
    strimzi.io/restart-connector-task="A->B.MirrorSourceConnector:0"
    strimzi.io/connector-offsets=list|alter|reset   with strimzi.io/mirrormaker-connector="A->B.Mirror…"

Each is carried out once and then removed from the resource. Offsets are listed to the ConfigMap that the
connector's `listOffsets` names, and altered to those of the one that `alterOffsets` names; the key is the
connector's name with `--` in place of `->`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heliograph.errors import ConfigError
from heliograph.operator.connectors import RestCall, path_of
from heliograph.operator.resource import Mirror, sections

RESTART = "strimzi.io/restart-connector"
RESTART_TASK = "strimzi.io/restart-connector-task"
OFFSETS, CONNECTOR = "strimzi.io/connector-offsets", "strimzi.io/mirrormaker-connector"
LIST, ALTER, RESET = "list", "alter", "reset"
_FIELDS = {LIST: ("listOffsets", "toConfigMap"), ALTER: ("alterOffsets", "fromConfigMap")}


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsRequest:
    """`config_map` is empty for a reset."""

    action: str
    connector: str
    config_map: str = ""

    @property
    def key(self) -> str:
        return f"{self.connector.replace('->', '--')}.json"

    def call(self, text: str | None = None) -> RestCall:
        """`text` is what the ConfigMap has under `key`. Raises ConfigError."""
        path = path_of(self.connector, "/offsets")
        match self.action:
            case "list":
                return RestCall("GET", path)
            case "reset":
                return RestCall("DELETE", path)
        try:
            return RestCall("PATCH", path, json.loads(text or ""))
        except ValueError:
            found = "nothing" if text is None else "no JSON"
            raise ConfigError(
                f"ConfigMap {self.config_map}: expected offsets as JSON in {self.key}, found {found}"
            ) from None


def restarts(annotations: Mapping[str, str]) -> dict[str, RestCall]:
    """The calls, by the annotation that asks for each."""
    found = {}
    if name := annotations.get(RESTART):
        found[RESTART] = RestCall(
            "POST", path_of(name, "/restart?includeTasks=false&onlyFailed=false")
        )
    if (task := annotations.get(RESTART_TASK)) and task.rpartition(":")[2].isdigit():
        name, _, number = task.rpartition(":")
        found[RESTART_TASK] = RestCall("POST", path_of(name, f"/tasks/{number}/restart"))
    return found


def offsets_request(mirror: Mirror) -> OffsetsRequest | None:
    """Raises ConfigError for one that cannot be carried out."""
    action = mirror.annotations.get(OFFSETS)
    if action is None:
        return None
    name = mirror.annotations.get(CONNECTOR, "")
    named: dict[str, Mapping[str, Any]] = {each: section for section, each in sections(mirror)}
    if action not in (LIST, ALTER, RESET):
        raise ConfigError(f"{OFFSETS}: expected list, alter or reset, found {action!r}")
    if name not in named:
        raise ConfigError(f"{CONNECTOR}: expected one of {', '.join(named)}, found {name!r}")
    if action == RESET:
        return OffsetsRequest(action=action, connector=name)
    field, inner = _FIELDS[action]
    place = ((named[name].get(field) or {}).get(inner) or {}).get("name")
    if not place:
        raise ConfigError(
            f"{name}: {field}.{inner}.name: missing; it names the ConfigMap of offsets"
        )
    return OffsetsRequest(action=action, connector=name, config_map=place)


def without(mirror: Mirror, *names: str) -> dict[str, Any]:
    """The patch of the resource that removes these annotations."""
    gone = {name: None for name in names if name in mirror.annotations}
    return {"metadata": {"annotations": gone}} if gone else {}
