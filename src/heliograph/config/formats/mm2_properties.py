"""Reads mm2.properties, the file of MM2's dedicated mode, into a MirrorConfig.

All problems of a file are collected before they are raised, each with its line.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from heliograph.config.clusters import Clusters
from heliograph.config.flows import Pair, pair_settings
from heliograph.config.formats.kubernetes import KubernetesSecrets
from heliograph.config.formats.properties import PropertiesFile, read_properties
from heliograph.config.formats.wrong_command import not_flows
from heliograph.config.metrics_config import read_metrics_config
from heliograph.config.mirror_config import MirrorConfig
from heliograph.config.options import Scope
from heliograph.config.options.top import is_of_rest
from heliograph.config.options.values import parse_list
from heliograph.config.resolve.diagnostics import (
    alias_problems,
    key_warnings,
    refused_problems,
    spaced_arrows,
    topic_problems,
    value_problems,
)
from heliograph.config.resolve.key_lookup import KeyLookup
from heliograph.config.resolve.layers import Layers
from heliograph.config.resolve.near_match import did_you_mean
from heliograph.config.resolve.placeholders import fill_in_placeholders
from heliograph.config.resolve.same_cause import told_once
from heliograph.config.resolve.typed_settings import TypedSettings
from heliograph.errors import ConfigError

_NO_SECRETS = KubernetesSecrets()


def load(
    path: Path,
    clusters: Sequence[str] = (),
    environment: Mapping[str, str] = os.environ,
    secrets: KubernetesSecrets = _NO_SECRETS,
) -> MirrorConfig:
    """`clusters` are the aliases of the targets to serve, as MM2's --clusters; empty for all.
    `environment` and `secrets` fill in placeholders such as ${env:NAME}."""
    file, problems = fill_in_placeholders(read_properties(path), environment, secrets)
    return _Reading(file, problems).mirror(clusters)


class _Reading:
    """One pass over a file; collects problems until `mirror` ends."""

    def __init__(self, file: PropertiesFile, problems: list[str]) -> None:
        self._file = file
        self._layers = Layers(file)
        self._problems = problems
        self._warnings: list[str] = []

    def mirror(self, served: Sequence[str]) -> MirrorConfig:
        aliases = self._aliases()
        targets = self._targets(aliases, served)
        pairs = [self._pair(s, t) for s in aliases for t in targets if s != t]
        enabled = [pair for pair in pairs if pair.is_enabled()]
        own = [pair.name for pair in pairs if pair.has_own_classes()]
        sources, sinks = [pair.source for pair in enabled], [pair.target for pair in enabled]
        lookup = KeyLookup(aliases, sources, sinks, own)
        spaced = spaced_arrows(self._file, aliases)
        self._problems += spaced.values()
        key_uses = [lookup.look_up(key) for key in self._file.properties if key not in spaced]
        self._problems += alias_problems(self._file, key_uses, aliases)
        self._problems += value_problems(self._file, key_uses)
        self._problems += refused_problems(self._file, key_uses)
        self._problems += topic_problems(self._file, key_uses)
        reader = Clusters(self._file, self._layers, self._problems, self._warnings)
        clusters = {alias: reader.read(alias) for alias in aliases}
        top = TypedSettings(self._layers.top(), Scope.TOP, self._file.name, self._problems)
        mirror = MirrorConfig(
            flows=tuple(pair.flow() for pair in enabled),
            heartbeats=tuple(
                beats
                for pair in pairs
                if (beats := pair.heartbeats(alone=pair not in enabled)) is not None
            ),
            clusters=tuple(clusters.values()),
            flow_clusters=tuple(
                (pair.name, other)
                for pair in pairs
                for alias in (pair.source, pair.target)
                if (other := reader.of_flow(pair.source, pair.target, clusters[alias]))
                != clusters[alias]
            ),
            epoch_seconds=top.number("epoch.seconds"),
            once_timeout_seconds=top.number("once.timeout.seconds"),
            channel_host=top.text("driver.channel.host"),
            channel_port=top.number("driver.channel.port"),
            accepts_unencrypted_secrets=top.text("spark.unencrypted.secrets.policy") == "accept",
            metrics=read_metrics_config(top),
            warnings=(*self._file.warnings, *key_warnings(self._file, key_uses), *self._warnings),
            rest=tuple((n, s.value) for n, s in self._layers.top().items() if is_of_rest(n)),
        )
        return self._checked(mirror, pairs, served)

    def _checked(
        self, mirror: MirrorConfig, pairs: Sequence[Pair], served: Sequence[str]
    ) -> MirrorConfig:
        """Raises all problems found; a problem that several flows share is reported once."""
        nothing = None if mirror.flows else self._nothing_mirrored(mirror, pairs, served)
        if nothing and not mirror.heartbeats and not self._problems:
            self._problems.append(nothing)
        if self._problems:
            raise ConfigError(told_once(self._problems))
        warnings = dict.fromkeys([*mirror.warnings, *([nothing] if nothing else [])])
        return replace(mirror, warnings=tuple(warnings))

    def _aliases(self) -> list[str]:
        setting = self._layers.top().get("clusters")
        if setting is None:
            keys = self._file.properties
            raise ConfigError(
                not_flows(self._file)
                or f"clusters: missing in {self._file.name}; expected the aliases of the clusters, "
                f"such as clusters = us, eu{did_you_mean('clusters', keys)}"
            )
        if setting.found.broken:
            raise ConfigError(self._problems)
        aliases = parse_list(setting.value)
        found = f"found {setting.found.shown.strip()!r} ({self._file.where('clusters')})"
        if len(aliases) < 2:
            self._problems.append(f"clusters: expected two aliases or more, {found}")
        if "" in aliases:
            self._problems.append(f"clusters: expected an alias between commas, {found}")
        for alias in dict.fromkeys(aliases):
            if aliases.count(alias) > 1 and alias:
                self._problems.append(f"clusters: expected {alias!r} once, {found}")
        return [alias for alias in dict.fromkeys(aliases) if alias]

    def _targets(self, aliases: Sequence[str], served: Sequence[str]) -> list[str]:
        for alias in served:
            if alias not in aliases:
                self._problems.append(
                    f"--clusters: {alias!r} is not one of clusters in {self._file.name} "
                    f"({', '.join(aliases)}){did_you_mean(alias, aliases)}"
                )
        known = [alias for alias in aliases if alias in served]
        return known or list(aliases)

    def _pair(self, source: str, target: str) -> Pair:
        return Pair(
            name=f"{source}->{target}",
            source=source,
            target=target,
            settings=pair_settings(self._layers, source, target),
            file_name=self._file.name,
            problems=self._problems,
            warnings=self._warnings,
        )

    def _nothing_mirrored(
        self, mirror: MirrorConfig, pairs: Sequence[Pair], served: Sequence[str]
    ) -> str:
        keys = [f"{pair.name}.enabled" for pair in pairs]
        off = [
            f"; found {key} = {self._file.properties[key].shown} ({self._file.where(key)})"
            for key in keys
            if key in self._file.properties
        ]
        what = "No source->target replication flows: none"
        if mirror.heartbeats:
            what = "No records are mirrored, only heartbeats are written: no flow"
        towards = f" to {', '.join(served)}" if served else ""
        wanted = ", ".join(f"{key} = true" for key in keys[:6])
        return (
            f"{what} is enabled in {self._file.name}{towards}"
            f"{''.join(off[:1])}; set one of: {wanted}"
        )
