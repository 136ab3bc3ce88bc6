"""From class names in a configuration to policies and filters.

MM2's own classes, and those of others that do the same, are built in. Other Java classes cannot run
here; a Python class takes their place, written `module:Class`. It is called with the flow's settings (a
mapping that holds `source.cluster.alias`) and has the methods named in `_METHODS`.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heliograph.errors import ConfigError
from heliograph.policy import config_filter as configs
from heliograph.policy import group_filter as groups
from heliograph.policy import topic_filter as topics
from heliograph.policy.identity import IdentityReplicationPolicy
from heliograph.policy.naming import DEFAULT_SEPARATOR, DefaultReplicationPolicy, ReplicationPolicy
from heliograph.policy.rename import (
    TOPIC_MAP,
    TOPIC_RENAME,
    RenameReplicationPolicy,
    read_rename_rules,
    read_topic_map,
)

Settings = Mapping[str, str]

_MIRROR = "org.apache.kafka.connect.mirror."
_SEPARATOR = "replication.policy.separator"
_INTERNAL_SEPARATOR = "replication.policy.internal.topic.separator.enabled"

#: What others named their own: Strimzi's derives from Kafka's, Amazon's keeps names just as well.
_ALSO_IDENTITY = (
    "io.strimzi.kafka.connect.mirror.IdentityReplicationPolicy",
    "com.amazonaws.kafka.samples.CustomMM2ReplicationPolicy",
)

_METHODS = {
    "replication.policy.class": (
        "format_remote_topic(source_alias, topic)",
        "topic_source(topic)",
        "upstream_topic(topic)",
        "original_topic(topic)",
        "heartbeats_topic()",
        "offset_syncs_topic(alias)",
        "checkpoints_topic(alias)",
        "is_heartbeats_topic(topic)",
        "is_checkpoints_topic(topic)",
        "is_mm2_internal_topic(topic)",
        "is_internal_topic(topic)",
    ),
    "topic.filter.class": ("should_replicate_topic(topic)",),
    "group.filter.class": ("should_replicate_group(group)",),
    "config.property.filter.class": (
        "should_replicate_config_property(name)",
        "should_replicate_source_default(name)",
    ),
}
_HINTS = {
    "replication.policy.class": "; derive it from heliograph.policy.naming.DefaultReplicationPolicy "
    "to write only those that differ",
}


_KINDS = {
    "replication.policy.class": (("Default", "Identity", "Rename"), "ReplicationPolicy"),
    "topic.filter.class": (("Default",), "TopicFilter"),
    "group.filter.class": (("Default",), "GroupFilter"),
    "config.property.filter.class": (("Default",), "ConfigPropertyFilter"),
}


def is_built_in(option: str, class_name: str) -> bool:
    """Whether a policy or filter can be named so; KeyError for other options."""
    return _built_in(class_name, *_KINDS[option]) is not None or (
        option == "replication.policy.class" and class_name in _ALSO_IDENTITY
    )


def replication_policy(
    class_name: str, settings: Settings, source_alias: str | None
) -> ReplicationPolicy:
    """The policy that `replication.policy.class` names; a client that reads any cluster has no
    `source_alias`. Raises ConfigError."""
    option = "replication.policy.class"
    built_in = _built_in(class_name, ("Default", "Identity", "Rename"), "ReplicationPolicy")
    if class_name in _ALSO_IDENTITY:
        built_in = "Identity"
    if built_in != "Rename":
        _refuse_renaming(class_name, settings)
    separator = settings.get(_SEPARATOR, DEFAULT_SEPARATOR)
    internal = settings.get(_INTERNAL_SEPARATOR, "true").strip().lower() != "false"
    match built_in:
        case "Default":
            return DefaultReplicationPolicy(
                separator=separator, internal_topic_separator_enabled=internal
            )
        case "Identity":
            return IdentityReplicationPolicy(
                separator=separator,
                internal_topic_separator_enabled=internal,
                source_alias=source_alias,
            )
        case "Rename":
            if source_alias is None:
                raise ConfigError(f"{option}: {class_name} needs source.cluster.alias, found none")
            return RenameReplicationPolicy(
                separator=separator,
                internal_topic_separator_enabled=internal,
                source_alias=source_alias,
                topic_map=read_topic_map(settings.get(TOPIC_MAP, "")),
                rules=read_rename_rules(settings.get(TOPIC_RENAME, "")),
            )
    alias = {} if source_alias is None else {"source.cluster.alias": source_alias}
    policy: ReplicationPolicy = _ported(option, class_name, {**settings, **alias})
    return policy


def topic_filter(class_name: str, settings: Settings) -> topics.TopicFilter:
    """The filter that `topic.filter.class` names. Raises ConfigError."""
    if _built_in(class_name, ("Default",), "TopicFilter"):
        return topics.DefaultTopicFilter.of(
            _patterns(settings, "topics", topics.DEFAULT_TOPICS),
            _patterns(settings, "topics.exclude", topics.DEFAULT_TOPICS_EXCLUDE),
        )
    ported = _ported("topic.filter.class", class_name, settings)
    return _Ported(class_name, ported.should_replicate_topic)


def group_filter(class_name: str, settings: Settings) -> groups.GroupFilter:
    """The filter that `group.filter.class` names. Raises ConfigError."""
    if _built_in(class_name, ("Default",), "GroupFilter"):
        return groups.DefaultGroupFilter.of(
            _patterns(settings, "groups", groups.DEFAULT_GROUPS),
            _patterns(settings, "groups.exclude", groups.DEFAULT_GROUPS_EXCLUDE),
        )
    ported = _ported("group.filter.class", class_name, settings)
    return _Ported(class_name, ported.should_replicate_group)


def config_property_filter(class_name: str, settings: Settings) -> configs.ConfigPropertyFilter:
    """The filter that `config.property.filter.class` names. Raises ConfigError."""
    if _built_in(class_name, ("Default",), "ConfigPropertyFilter"):
        return configs.DefaultConfigPropertyFilter.of(
            _patterns(
                settings, "config.properties.exclude", configs.DEFAULT_CONFIG_PROPERTIES_EXCLUDE
            ),
            settings.get("use.defaults.from", "target").strip(),
        )
    ported: configs.ConfigPropertyFilter = _ported(
        "config.property.filter.class", class_name, settings
    )
    return ported


@dataclass(frozen=True, slots=True)
class _Ported:
    """A user's filter of topics or groups, which says yes or no, but not why."""

    class_name: str
    ask: Callable[[str], bool]

    def accepts(self, name: str) -> bool:
        return bool(self.ask(name))

    def why_not(self, name: str) -> str | None:
        return None if self.ask(name) else f"{self.class_name} does not replicate it"


def _built_in(class_name: str, kinds: Sequence[str], suffix: str) -> str | None:
    """Which of MM2's own (or, by its simple name, ours) is meant."""
    simple = class_name.removeprefix(_MIRROR)
    return next((kind for kind in kinds if simple == kind + suffix), None)


def _refuse_renaming(class_name: str, settings: Settings) -> None:
    given = [name for name in (TOPIC_MAP, TOPIC_RENAME) if settings.get(name, "").strip()]
    if given:
        raise ConfigError(
            f"{given[0]}: without effect under {class_name}; "
            "set replication.policy.class = RenameReplicationPolicy, or leave it out"
        )


def _patterns(settings: Settings, name: str, default: Sequence[str]) -> Sequence[str]:
    """As Kafka's ConfigDef reads a LIST."""
    if name not in settings:
        return default
    text = settings[name].strip()
    return re.split(r"\s*,\s*", text) if text else ()


def _ported(option: str, class_name: str, settings: Settings) -> Any:
    methods = _METHODS[option]
    module_name, colon, name = class_name.partition(":")
    if not colon:
        raise ConfigError(
            f"{option}: {class_name} is not built in, and Java classes cannot run here; write a Python "
            f"class that takes the settings and has {_listed(methods)}{_HINTS.get(option, '')}, put "
            "its module on PYTHONPATH and name it as module:Class"
        )
    try:
        module = importlib.import_module(module_name)
    except Exception as problem:
        raise ConfigError(
            f"{option}: {class_name}: the module {module_name} cannot be imported "
            f"({type(problem).__name__}: {problem}); is it on PYTHONPATH?"
        ) from problem
    cls = getattr(module, name, None)
    if not callable(cls):
        raise ConfigError(f"{option}: {class_name}: the module {module_name} has no class {name}")
    missing = [m for m in methods if not callable(getattr(cls, m.partition("(")[0], None))]
    if missing:
        raise ConfigError(
            f"{option}: {class_name} lacks {_listed(missing)}{_HINTS.get(option, '')}"
        )
    try:
        return cls(dict(settings))
    except Exception as problem:
        raise ConfigError(
            f"{option}: {class_name} could not be made from the settings "
            f"({type(problem).__name__}: {problem})"
        ) from problem


def _listed(methods: Sequence[str]) -> str:
    return ", ".join(methods)
