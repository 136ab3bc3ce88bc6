"""Reads connectors from JSON files, in every shape that Connect accepts or returns:

{"name": "mm2-msc", "config": {"connector.class": …}}     POST /connectors
{"name": "mm2-msc", "connector.class": …}                 PUT /connectors/mm2-msc/config
{"mm2-msc": {"info": {"name": …, "config": {…}}}}         GET /connectors?expand=info
[ …, … ]                                                  several of them
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from heliograph.config.formats.properties import PropertiesFile, Property
from heliograph.config.formats.text.files import read_text
from heliograph.config.formats.text.json_text import parse_json
from heliograph.config.formats.text.node import Document, Node
from heliograph.errors import ConfigError

#: Values of `initial_state` (KIP-980) and of Strimzi's `state`.
RUNNING, PAUSED, STOPPED = "RUNNING", "PAUSED", "STOPPED"
_STATES = (RUNNING, PAUSED, STOPPED)
_EXPECTED = '{"name": …, "config": {…}}, or a bare configuration with connector.class'


@dataclass(frozen=True, slots=True)
class NamedConnector:
    """One connector of a file, and the state in which it should be."""

    name: str
    file: PropertiesFile
    state: str = RUNNING

    @property
    def config(self) -> dict[str, str]:
        return {key: found.value for key, found in self.file.properties.items()}


def read_connectors(path: Path) -> list[NamedConnector]:
    """Reads a file, or all .json files of a folder. Raises ConfigError with every problem."""
    if not path.is_dir():
        return connectors_in(read_text(path), path.name, path.stem)
    files = sorted(each for each in path.iterdir() if each.suffix == ".json")
    if not files:
        raise ConfigError(f"{path}: expected a folder with .json files of connectors, found none")
    found: list[NamedConnector] = []
    problems: list[str] = []
    for each in files:
        try:
            found += connectors_in(read_text(each), each.name, each.stem)
        except ConfigError as error:
            problems += error.problems
    problems += _duplicates(found)
    if problems:
        raise ConfigError(problems)
    return found


def connectors_in(text: str, name: str, stem: str) -> list[NamedConnector]:
    """`stem` is the name of a bare configuration without a name. Raises ConfigError."""
    document, warnings = parse_json(text, name)
    found = list(_connectors(document, document.root, stem, tuple(warnings)))
    if problems := _duplicates(found):
        raise ConfigError(problems)
    return found


def _connectors(
    document: Document, node: Node, stem: str, warnings: tuple[str, ...]
) -> Iterator[NamedConnector]:
    if isinstance(node.value, list):
        for _, item in document.items(node, ""):
            yield from _connectors(document, item, "", warnings)
        return
    if not isinstance(node.value, dict):
        raise document.wrong(node, "", _EXPECTED)
    fields = node.value
    if "config" in fields:
        yield _wrapped(document, node, fields, warnings)
    elif "connector.class" in fields:
        yield _bare(document, node, fields, stem, warnings)
    elif fields and all(_is_expanded(each) for each in fields.values()):
        for each in fields.values():
            info = document.mapping(each, "")["info"]
            yield _wrapped(document, info, document.mapping(info, "info"), warnings)
    else:
        raise ConfigError(
            f"{document.name}:{node.line}: expected {_EXPECTED}; connector.class is missing"
        )


def _is_expanded(node: Node) -> bool:
    return isinstance(node.value, dict) and "info" in node.value


def _wrapped(
    document: Document, node: Node, fields: Mapping[str, Node], warnings: tuple[str, ...]
) -> NamedConnector:
    config = document.mapping(fields["config"], "config")
    given = fields.get("name") or config.get("name")
    if given is None:
        raise ConfigError(f"name: missing; expected the connector's name ({document.at(node)})")
    name = document.setting(given, "name")
    inner = config.get("name")
    if inner is not None and document.setting(inner, "name") != name:
        # ConnectorsResource.checkAndPutConnectorConfigName
        raise ConfigError(
            f"name: expected {name!r} in config as well, found {inner.text!r} ({document.at(inner)})"
        )
    state = RUNNING
    if (wanted := fields.get("initial_state")) is not None:
        state = document.setting(wanted, "initial_state").upper()
        if state not in _STATES:
            raise ConfigError(
                f"initial_state: expected {', '.join(_STATES)}, found {wanted.text!r} "
                f"({document.at(wanted)})"
            )
    return NamedConnector(name, _file(document, config, warnings), state)


def _bare(
    document: Document,
    node: Node,
    fields: Mapping[str, Node],
    stem: str,
    warnings: tuple[str, ...],
) -> NamedConnector:
    name = document.setting(fields["name"], "name") if "name" in fields else stem
    if not name:
        raise ConfigError(f"name: missing; expected the connector's name ({document.at(node)})")
    return NamedConnector(name, _file(document, fields, warnings))


def _file(
    document: Document, fields: Mapping[str, Node], warnings: tuple[str, ...]
) -> PropertiesFile:
    """A null is not a setting, as in Connect."""
    properties = {
        key: Property(document.setting(node, key), node.line)
        for key, node in fields.items()
        if node.value is not None
    }
    return PropertiesFile(name=document.name, properties=properties, warnings=warnings)


def _duplicates(connectors: Iterable[NamedConnector]) -> list[str]:
    seen: dict[str, NamedConnector] = {}
    problems = []
    for each in connectors:
        first = seen.setdefault(each.name, each)
        if first is not each:
            problems.append(
                f"{each.name}: expected one connector of that name, found two, in {first.file.name} "
                f"and {each.file.name}"
            )
    return problems
