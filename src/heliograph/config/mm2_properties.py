"""Reads mm2.properties, the file of MM2's dedicated mode, into a MirrorConfig.

All problems of a file are found before any is raised, each with its line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from heliograph.config.findings import alias_problems, refusals, remarks, value_problems
from heliograph.config.layers import Layers, Setting, Settings, is_client_config
from heliograph.config.mirror_config import FlowConfig, MirrorConfig
from heliograph.config.near_match import did_you_mean, near
from heliograph.config.options import OPTIONS, Option, Scope
from heliograph.config.placement import Placer
from heliograph.config.properties import PropertiesFile, read_properties
from heliograph.config.values import InvalidValue, Value, parse_list
from heliograph.errors import ConfigError, InvalidPattern
from heliograph.model import ClusterConfig, IsolationLevel, OffsetReset, Timestamps
from heliograph.policy.topic_filter import joined

# org.apache.kafka.common.utils.Utils.HOST_PORT_PATTERN: [protocol://]host:port, [IPv6]:port
_HOST_PORT = re.compile(r"(?:[0-9a-zA-Z\-%._]*://)?(\[[0-9a-zA-Z\-%._:]+\]|[0-9a-zA-Z\-%._]+):(.*)")


def load(path: Path, clusters: Sequence[str] = ()) -> MirrorConfig:
    """`clusters` are the aliases of the targets to serve, as MM2's --clusters; empty for all."""
    return _Reading(read_properties(path)).mirror(clusters)


class _Reading:
    """One pass over a file; collects problems until `mirror` ends."""

    def __init__(self, file: PropertiesFile) -> None:
        self._file = file
        self._layers = Layers(file)
        self._problems: list[str] = []

    def mirror(self, served: Sequence[str]) -> MirrorConfig:
        aliases = self._aliases()
        placer = Placer(aliases)
        placements = [placer.place(key) for key in self._file.properties]
        self._problems += alias_problems(self._file, placements, aliases)
        self._problems += value_problems(self._file, placements)
        self._problems += refusals(self._file, placements)
        clusters = [self._cluster(alias) for alias in aliases]
        targets = self._targets(aliases, served)
        flows = [
            self._flow(source, target)
            for source in aliases
            for target in targets
            if source != target and self._is_enabled(source, target)
        ]
        if not flows and not self._problems:
            self._problems.append(self._no_flow(aliases, targets, served))
        top = self._layers.top()
        epoch_seconds = self._int(top, Scope.TOP, "epoch.seconds")
        once_timeout_seconds = self._int(top, Scope.TOP, "once.timeout.seconds")
        if self._problems:
            raise ConfigError(self._problems)
        return MirrorConfig(
            flows=tuple(flows),
            clusters=tuple(clusters),
            epoch_seconds=epoch_seconds,
            once_timeout_seconds=once_timeout_seconds,
            warnings=(*self._file.warnings, *remarks(self._file, placements)),
        )

    def _aliases(self) -> list[str]:
        setting = self._layers.top().get("clusters")
        if setting is None:
            keys = self._file.properties
            raise ConfigError(
                f"clusters: missing in {self._file.name}; expected the aliases of the clusters, "
                f"such as clusters = us, eu{did_you_mean('clusters', keys)}"
            )
        aliases = parse_list(setting.value)
        found = f"found {setting.value!r} ({self._at(setting)})"
        if len(aliases) < 2:
            self._problems.append(f"clusters: expected two aliases or more, {found}")
        if "" in aliases:
            self._problems.append(f"clusters: expected an alias between commas, {found}")
        for alias in dict.fromkeys(aliases):
            if aliases.count(alias) > 1 and alias:
                self._problems.append(f"clusters: expected {alias!r} once, {found}")
        return [alias for alias in dict.fromkeys(aliases) if alias]

    def _cluster(self, alias: str) -> ClusterConfig:
        settings = self._layers.cluster(alias)
        properties = [
            (name, setting.value)
            for name, setting in settings.items()
            if name != "bootstrap.servers" and not _is_handed_down(name, setting, alias)
        ]
        return ClusterConfig(
            alias=alias,
            bootstrap_servers=self._bootstrap_servers(alias, settings),
            properties=tuple(properties),
        )

    def _bootstrap_servers(self, alias: str, settings: Settings) -> tuple[str, ...]:
        setting = settings.get("bootstrap.servers")
        servers = [] if setting is None else [s for s in parse_list(setting.value) if s]
        if setting is None or not servers:
            key = f"{alias}.bootstrap.servers"
            misspelt = near(key, [k for k in self._file.properties if "->" not in k and k != key])
            hint = f"; did you mean it with {misspelt}?" if misspelt and setting is None else ""
            self._problems.append(
                f"{key}: missing in {self._file.name}; expected host:port of one or more brokers"
                f"{hint}"
            )
            return ()
        return tuple(self._host_port(server, setting) for server in servers)

    def _host_port(self, server: str, setting: Setting) -> str:
        match = _HOST_PORT.fullmatch(server)
        found = f"found {server!r} ({self._at(setting)})"
        if "${" in server:
            self._problems.append(
                f"{setting.key}: placeholders are not supported by this version; "
                f"expected host:port, {found}"
            )
        elif match is None:
            self._problems.append(f"{setting.key}: expected host:port, {found}")
        elif not re.fullmatch("[0-9]{1,5}", match[2]) or not 0 < int(match[2]) < 65536:
            self._problems.append(f"{setting.key}: expected a port from 1 to 65535, {found}")
        else:
            return f"{match[1]}:{match[2]}"
        return server

    def _targets(self, aliases: Sequence[str], served: Sequence[str]) -> list[str]:
        for alias in served:
            if alias not in aliases:
                self._problems.append(
                    f"--clusters: {alias!r} is not one of clusters in {self._file.name} "
                    f"({', '.join(aliases)}){did_you_mean(alias, aliases)}"
                )
        known = [alias for alias in aliases if alias in served]
        return known or list(aliases)

    def _is_enabled(self, source: str, target: str) -> bool:
        """As MM2: a top-level `enabled` counts only where the pair has a herder for heartbeats."""
        settings = self._layers.connector(source, target)
        herder = f"{source}->{target}.enabled" in self._file.properties
        heartbeats = settings.get("emit.heartbeats.enabled")
        if not herder and heartbeats is not None and heartbeats.value.strip().lower() != "true":
            return False
        return bool(self._value(settings, Scope.CONNECTOR, "enabled"))

    def _no_flow(
        self, aliases: Sequence[str], targets: Sequence[str], served: Sequence[str]
    ) -> str:
        keys = [f"{s}->{t}.enabled" for s in aliases for t in targets if s != t]
        off = [
            f"; found {key} = {self._file.properties[key].value} ({self._file.where(key)})"
            for key in keys
            if key in self._file.properties
        ]
        towards = f" towards {', '.join(served)}" if served else ""
        wanted = ", ".join(f"{key} = true" for key in keys[:6])
        return (
            f"No source->target replication flows: none is enabled in {self._file.name}{towards}"
            f"{''.join(off[:1])}; set one of: {wanted}"
        )

    def _flow(self, source: str, target: str) -> FlowConfig:
        connector = self._layers.connector(source, target)
        worker = self._layers.worker(target)
        consumer = self._layers.source_consumer(source, target)
        refresh = self._value(connector, Scope.CONNECTOR, "refresh.topics.enabled")
        interval = self._int(connector, Scope.CONNECTOR, "refresh.topics.interval.seconds")
        internal_separator = "replication.policy.internal.topic.separator.enabled"
        return FlowConfig(
            name=f"{source}->{target}",
            source=source,
            target=target,
            topics=self._patterns(connector, "topics"),
            topics_exclude=self._patterns(connector, "topics.exclude"),
            replication_factor=self._int(connector, Scope.CONNECTOR, "replication.factor"),
            tasks_max=self._int(connector, Scope.CONNECTOR, "tasks.max"),
            isolation_level=IsolationLevel(self._text(consumer, Scope.CONSUMER, "isolation.level")),
            auto_offset_reset=OffsetReset(
                self._text(consumer, Scope.CONSUMER, "auto.offset.reset")
            ),
            refresh_interval_seconds=interval if refresh else None,
            heartbeats_replication=bool(
                self._value(connector, Scope.CONNECTOR, "heartbeats.replication.enabled")
            ),
            separator=self._text(connector, Scope.CONNECTOR, "replication.policy.separator"),
            internal_topic_separator_enabled=bool(
                self._value(connector, Scope.CONNECTOR, internal_separator)
            ),
            timestamps=Timestamps(self._text(connector, Scope.CONNECTOR, "timestamps")),
            connector_name=self._text(connector, Scope.CONNECTOR, "name"),
            offsets_topic=self._text(worker, Scope.WORKER, "offset.storage.topic")
            or f"mm2-offsets.{source}.internal",
            offset_storage_replication_factor=self._int(
                worker, Scope.WORKER, "offset.storage.replication.factor"
            ),
            offset_storage_partitions=self._int(worker, Scope.WORKER, "offset.storage.partitions"),
            offset_flush_interval_ms=self._int(worker, Scope.WORKER, "offset.flush.interval.ms"),
        )

    def _patterns(self, settings: Settings, name: str) -> tuple[str, ...]:
        items = parse_list(str(OPTIONS[Scope.CONNECTOR, name].default))
        if name in settings:
            items = parse_list(settings[name].value)
        try:
            joined(items)
        except InvalidPattern as invalid:
            index, position = _culprit(items, invalid.position)
            setting = settings[name]
            glob = items[index].startswith("*")
            remedy = "; a regular expression for anything is .*" if glob else ""
            self._problems.append(
                f"{setting.key}: item {index + 1}, {items[index]!r}, is not a regular expression: "
                f"{invalid.reason}, at character {position + 1}{remedy} ({self._at(setting)})"
            )
        return items

    def _value(self, settings: Settings, scope: Scope, name: str) -> Value:
        """The effective value, or the default; a bad value was reported by `value_problems`."""
        option = OPTIONS[scope, name]
        if name in settings:
            try:
                return option.parse(settings[name].value)
            except InvalidValue:
                return _default(option)  # any; the mirror will not be made
        return _default(option)

    def _int(self, settings: Settings, scope: Scope, name: str) -> int:
        return int(str(self._value(settings, scope, name)))

    def _text(self, settings: Settings, scope: Scope, name: str) -> str:
        return str(self._value(settings, scope, name))

    def _at(self, setting: Setting) -> str:
        return f"{self._file.name}:{setting.line}"


def _default(option: Option) -> Value:
    return "" if option.default is None else option.parse(option.default)


def _is_handed_down(name: str, setting: Setting, alias: str) -> bool:
    """True for `consumer.ssl.x` that MM2 derives from `alias.ssl.x`; the user did not write it."""
    return setting.key != f"{alias}.{name}" and not is_client_config(name)


def _culprit(items: Sequence[str], position: int) -> tuple[int, int]:
    """Which item of a list joined with | is to blame for an error at a position, and where in it.

    An item that is wrong by itself comes first: its open bracket runs on to the end of the list.
    """
    for index, item in enumerate(items):
        try:
            joined([item])
        except InvalidPattern as invalid:
            return index, min(invalid.position, len(item))
    for index, item in enumerate(items):
        if position <= len(item):
            return index, position
        position -= len(item) + 1
    return len(items) - 1, len(items[-1])
