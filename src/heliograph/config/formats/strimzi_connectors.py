"""Reads the connectors of one mirror of a `KafkaMirrorMaker2`: a section for each, and common patterns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from heliograph.config.connectors.connector_class import ConnectorClass
from heliograph.config.formats.connect_json import PAUSED, RUNNING, STOPPED, NamedConnector
from heliograph.config.formats.properties import PropertiesFile, Property
from heliograph.config.formats.strimzi_clusters import Settings, StrimziClusters
from heliograph.config.formats.text.node import Document, Node

SECTIONS = {
    "sourceConnector": ConnectorClass.SOURCE,
    "checkpointConnector": ConnectorClass.CHECKPOINT,
    "heartbeatConnector": ConnectorClass.HEARTBEAT,
}
PATTERNS = {
    "topics": ("topicsPattern",),
    "topics.exclude": ("topicsExcludePattern", "topicsBlacklistPattern"),
    "groups": ("groupsPattern",),
    "groups.exclude": ("groupsExcludePattern", "groupsBlacklistPattern"),
}
_CONNECTOR_FIELDS = frozenset(
    {
        "tasksMax",
        "config",
        "state",
        "pause",
        "autoRestart",
        "version",
        "listOffsets",
        "alterOffsets",
    }
)
#: `AbstractConnectorSpec.FORBIDDEN_PARAMETERS`
_FORBIDDEN = frozenset({"name", "connector.class", "tasks.max", "connector.plugin.version"})
_STATES = {"running": RUNNING, "paused": PAUSED, "stopped": STOPPED}


class StrimziConnectors:
    """`version` is the version of the API."""

    def __init__(self, clusters: StrimziClusters, version: str) -> None:
        self._clusters = clusters
        self._document = clusters.document
        self._version = version

    def read(
        self, mirror: Mapping[str, Node], path: str, node: Node, base: Settings, pair: str
    ) -> Iterator[NamedConnector]:
        patterns = self._patterns(mirror, path)
        sections = {
            name: (mirror[name].line, self._document.mapping(mirror[name], f"{path}.{name}"))
            for name in SECTIONS
            if name in mirror and mirror[name].value is not None
        }
        if "sourceConnector" not in sections:
            self._without_source(sections, path, node)
        for name, (line, fields) in sections.items():
            kind = SECTIONS[name]
            settings = base | self._connector(fields, f"{path}.{name}") | patterns
            settings["connector.class"] = Property(kind.java_name, line)
            settings["name"] = Property(f"{pair}.{kind}", line)
            file = PropertiesFile(name=self._document.name, properties=settings)
            yield NamedConnector(f"{pair}.{kind}", file, self._state(fields, f"{path}.{name}"))

    def _without_source(
        self, sections: dict[str, tuple[int, Mapping[str, Node]]], path: str, node: Node
    ) -> None:
        """Strimzi's operator starts only connectors that have a section. Old files and guides leave out the
        source connector and still expect records."""
        at = self._document.at(node)
        if self._version.endswith("/v1"):
            self._clusters.warnings.append(
                f"{path}.sourceConnector: missing, so no records are mirrored, as with Strimzi; write "
                f"sourceConnector: {{}} to mirror them ({at})"
            )
        else:
            self._clusters.warnings.append(
                f"{path}.sourceConnector: missing; Strimzi would mirror no records, here they are mirrored "
                f"with the connector's defaults ({at})"
            )
            sections["sourceConnector"] = (node.line, {})

    def _connector(self, fields: Mapping[str, Node], path: str) -> Settings:
        self._clusters.unknown(fields, path, _CONNECTOR_FIELDS)
        found: Settings = {}
        config = fields.get("config")
        if config is not None and config.value is not None:
            for name, each in self._clusters.settings(config, f"{path}.config"):
                if name in _FORBIDDEN:
                    self._clusters.warnings.append(
                        f"{path}.config.{name}: has no effect: Strimzi ignores it "
                        f"({self._document.at(each)})"
                    )
                else:
                    value = self._document.setting(each, f"{path}.config.{name}")
                    found[name] = Property(value, each.line)
        for name, option in (("tasksMax", "tasks.max"), ("version", "connector.plugin.version")):
            given = fields.get(name)
            if given is not None and given.value is not None:
                found[option] = Property(
                    self._document.setting(given, f"{path}.{name}"), given.line
                )
        self._clusters.warnings += [
            f"{path}.{name}: without effect outside of Kubernetes ({self._document.at(fields[name])})"
            for name in ("listOffsets", "alterOffsets")
            if name in fields
        ]
        return found

    def _state(self, fields: Mapping[str, Node], path: str) -> str:
        given = fields.get("state")
        if given is not None and given.value is not None:
            if given.text not in _STATES:
                self._clusters.problems.append(
                    f"{path}.state: expected {', '.join(_STATES)}, found {given.text!r} "
                    f"({self._document.at(given)})"
                )
            return _STATES.get(given.text, RUNNING)
        paused = fields.get("pause")
        return PAUSED if paused is not None and paused.text == "true" else RUNNING

    def _patterns(self, mirror: Mapping[str, Node], path: str) -> Settings:
        found: Settings = {}
        for setting, names in PATTERNS.items():
            given = [name for name in names if name in mirror and mirror[name].value is not None]
            if given:
                text = self._document.setting(mirror[given[0]], f"{path}.{given[0]}")
                found[setting] = Property(text, mirror[given[0]].line)
            self._clusters.warnings += _old_names(given, path, self._document, mirror)
        return found


def _old_names(
    given: Sequence[str], path: str, document: Document, mirror: Mapping[str, Node]
) -> list[str]:
    return [
        f"{path}.{name}: "
        + ("has no effect, since its new name is set:" if len(given) > 1 else "old name, read as")
        + f" {name.replace('Blacklist', 'Exclude')} ({document.at(mirror[name])})"
        for name in given
        if "Blacklist" in name
    ]
