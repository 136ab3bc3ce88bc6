"""Which settings of a remote topic are to be changed so that it is configured as its source topic is.

The rules are those of `MirrorSourceConnector.targetConfig` (KIP-894). Where MM2 sends every setting in
every round, only real differences are planned here; carried out, both leave the target the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from heliograph.policy.config_filter import ConfigPropertyFilter


class ConfigSource(IntEnum):
    """Where a setting's value in force comes from (`DescribeConfigsResponse.ConfigSource`)."""

    UNKNOWN = 0
    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    OTHER = -1  # what only newer brokers, or loggers and groups, have


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigEntry:
    """One setting of a topic as it is in force."""

    name: str
    value: str | None
    source: ConfigSource
    read_only: bool = False
    sensitive: bool = False


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """Set on the topic, or, if `value` is None, unset, so that the target's default holds."""

    name: str
    value: str | None

    def __str__(self) -> str:
        return f"{self.name} unset" if self.value is None else f"{self.name}={self.value}"


def new_topic_configs(
    source: Iterable[ConfigEntry], config_filter: ConfigPropertyFilter
) -> dict[str, str]:
    """What a remote topic is created with.

    Values that brokers' dynamic settings give to the source topic count as its own, as in MM2; those
    out of a broker's file do not.
    """
    wanted = (_wanted(entry, config_filter) for entry in source)
    return {change.name: change.value for change in wanted if change and change.value is not None}


def plan_configs(
    source: Iterable[ConfigEntry],
    target: Iterable[ConfigEntry],
    config_filter: ConfigPropertyFilter,
) -> list[ConfigChange]:
    """Changes of a remote topic, by name. Law: planning again after all changes yields nothing.

    What the source has by default is unset on the target, or set to the source's default where the
    filter says so. A value equal to the target's default is still set on the topic, as by MM2, so that
    it stays when that default changes. What the filter excludes is not touched.
    """
    explicit = {e.name: e.value for e in target if e.source is ConfigSource.TOPIC}
    changes = []
    for entry in sorted(source, key=lambda entry: entry.name):
        change = _wanted(entry, config_filter)
        if change is not None and explicit.get(change.name) != change.value:
            changes.append(change)
    return changes


def _wanted(entry: ConfigEntry, config_filter: ConfigPropertyFilter) -> ConfigChange | None:
    """The state that a setting is to have on the target; None if that is not ours to say."""
    if entry.read_only or entry.sensitive or entry.source is ConfigSource.STATIC_BROKER:
        return None
    if not config_filter.should_replicate_config_property(entry.name):
        return None
    default = entry.source is ConfigSource.DEFAULT
    if default and not config_filter.should_replicate_source_default(entry.name):
        return ConfigChange(entry.name, None)
    return ConfigChange(entry.name, entry.value)
