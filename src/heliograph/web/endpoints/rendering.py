"""Renders a herder's values as Connect's JSON, keys in Connect's order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from heliograph.config.connectors.definitions import Definition
from heliograph.config.connectors.validation import ConfigInfo, ConfigInfos
from heliograph.connect.herder import ConnectorInfo, ConnectorStatus, OffsetEntry, State, TaskId
from heliograph.mm2.connect.jackson import hash_map_order

#: Shows a configuration: with its secrets hidden, or unchanged.
Showing = Callable[[Mapping[str, str]], Mapping[str, str]]


def info_json(info: ConnectorInfo, shown: Showing, *, as_sent: bool = False) -> dict[str, object]:
    """`as_sent`: settings in the order of the request that has just stored them."""
    return {
        "name": info.name,
        "config": dict(shown(info.config)) if as_sent else config_json(info.config, shown),
        "tasks": [task_id_json(id) for id in info.tasks],
        "type": info.type,
    }


def config_json(config: Mapping[str, str], shown: Showing) -> dict[str, str]:
    visible = shown(config)
    return {name: visible[name] for name in hash_map_order(list(config))}


def task_id_json(id: TaskId) -> dict[str, object]:
    return {"connector": id.connector, "task": id.task}


def status_json(status: ConnectorStatus) -> dict[str, object]:
    return {
        "name": status.name,
        "connector": _state(status.connector),
        "tasks": [task_state_json(number, status.tasks[number]) for number in sorted(status.tasks)],
        "type": status.type,
    }


def task_state_json(number: int, state: State) -> dict[str, object]:
    return {"id": number, **_state(state)}


def _state(state: State) -> dict[str, object]:
    trace = {"trace": state.trace} if state.trace else {}
    return {
        "state": state.state,
        "worker_id": state.worker_id,
        "version": state.version,
        **trace,
    }


def offsets_json(entries: Sequence[OffsetEntry]) -> dict[str, object]:
    return {
        "offsets": [
            {
                "partition": _fields(each.partition),
                "offset": None if each.offset is None else _fields(each.offset),
            }
            for each in entries
        ]
    }


def _fields(fields: Mapping[str, object]) -> dict[str, object]:
    return {name: fields[name] for name in hash_map_order(list(fields))}


def definition_json(definition: Definition) -> dict[str, object]:
    return {
        "name": definition.name,
        "type": definition.type,
        "required": definition.required,
        "default_value": definition.default,
        "importance": definition.importance,
        "documentation": definition.documentation,
        "group": definition.group,
        "order_in_group": definition.order,
        "width": definition.width,
        "display_name": definition.display_name,
        "dependents": [],
    }


def validation_json(infos: ConfigInfos) -> dict[str, object]:
    return {
        "name": infos.name,
        "error_count": len(infos.errors),
        "groups": list(infos.groups),
        "configs": [_info(info) for info in infos.configs],
    }


def _info(info: ConfigInfo) -> dict[str, object]:
    return {
        "definition": None if info.definition is None else definition_json(info.definition),
        "value": {
            "name": info.name,
            "value": info.value,
            "recommended_values": list(info.recommended),
            "errors": list(info.errors),
            "visible": info.visible,
        },
    }
