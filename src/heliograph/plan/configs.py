"""Plans the changes that give a remote topic the settings of its source topic.

By the rules of `MirrorSourceConnector.targetConfig` (KIP-894). MM2 sends every setting in every round; here
only differences are planned, with the same result on the target.
"""

from __future__ import annotations

from collections.abc import Iterable

from heliograph.policy.config_filter import ConfigPropertyFilter
from heliograph.wire.topic_configs import ConfigChange, ConfigEntry, ConfigSource


def new_topic_configs(
    source: Iterable[ConfigEntry], config_filter: ConfigPropertyFilter
) -> dict[str, str]:
    """The settings to create a remote topic with.

    Values that the source topic has from dynamic broker settings count as its own, as in MM2; those from a
    broker's file do not.
    """
    wanted = ((entry, _wanted(entry, config_filter)) for entry in source)
    return {
        entry.name: value
        for entry, value in wanted
        if value is not None and _is_ours(entry, config_filter)
    }


def plan_configs(
    source: Iterable[ConfigEntry],
    target: Iterable[ConfigEntry],
    config_filter: ConfigPropertyFilter,
) -> list[ConfigChange]:
    """Changes of a remote topic, by name. Law: planning again after all changes yields nothing.

    A default of the source is unset on the target, or set to the source's default if the filter requires it.
    A value equal to the target's default is still set on the topic, as in MM2, so that it stays when that
    default changes. Settings that the filter excludes are not changed.
    """
    explicit = {e.name: e.value for e in target if e.source is ConfigSource.TOPIC}
    changes = []
    for entry in source:
        value = _wanted(entry, config_filter)
        # The filter last: most settings match already, and patterns are expensive.
        if explicit.get(entry.name) != value and _is_ours(entry, config_filter):
            changes.append(ConfigChange(entry.name, value))
    return sorted(changes, key=lambda change: change.name)


def _wanted(entry: ConfigEntry, config_filter: ConfigPropertyFilter) -> str | None:
    """The value for the target; None: unset."""
    default = entry.source is ConfigSource.DEFAULT
    if default and not config_filter.should_replicate_source_default(entry.name):
        return None
    return entry.value


def _is_ours(entry: ConfigEntry, config_filter: ConfigPropertyFilter) -> bool:
    """Whether the setting is synced at all."""
    if entry.read_only or entry.sensitive or entry.source is ConfigSource.STATIC_BROKER:
        return False
    return config_filter.should_replicate_config_property(entry.name)
