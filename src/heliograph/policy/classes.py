"""Creates policies and filters from the class names in a configuration.

MM2's classes, and equivalents of other vendors, are built in. Other Java classes cannot run here; a Python
class replaces them, written `module:Class` (`ported.py`). `modules` are the Python modules that may be
imported, with their submodules; None: any, since the operator wrote the configuration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from heliograph.errors import ConfigError
from heliograph.policy import config_filter as configs
from heliograph.policy import group_filter as groups
from heliograph.policy import topic_filter as topics
from heliograph.policy.identity import IdentityReplicationPolicy
from heliograph.policy.naming import DEFAULT_SEPARATOR, DefaultReplicationPolicy, ReplicationPolicy
from heliograph.policy.ported import PortedFilter, ported_class
from heliograph.policy.rename import (
    TOPIC_MAP,
    TOPIC_RENAME,
    RenameReplicationPolicy,
    read_rename_rules,
    read_topic_map,
)

Settings = Mapping[str, str]

_MIRROR = "org.apache.kafka.connect.mirror."
#: A class of the user's may well be called MyReplicationPolicy or CustomTopicFilter.
_LIKE = 0.85
_SEPARATOR = "replication.policy.separator"
_INTERNAL_SEPARATOR = "replication.policy.internal.topic.separator.enabled"

#: Equivalents of other vendors: Strimzi's derives from Kafka's, Amazon's keeps names, too.
_ALSO_IDENTITY = (
    "io.strimzi.kafka.connect.mirror.IdentityReplicationPolicy",
    "com.amazonaws.kafka.samples.CustomMM2ReplicationPolicy",
)

_KINDS = {
    "replication.policy.class": (("Default", "Identity", "Rename"), "ReplicationPolicy"),
    "topic.filter.class": (("Default",), "TopicFilter"),
    "group.filter.class": (("Default",), "GroupFilter"),
    "config.property.filter.class": (("Default",), "ConfigPropertyFilter"),
}


def is_built_in(option: str, class_name: str) -> bool:
    """Whether `class_name` is built in for this option; KeyError for other options."""
    return _built_in(class_name, *_KINDS[option]) is not None or (
        option == "replication.policy.class" and class_name in _ALSO_IDENTITY
    )


def replication_policy(
    class_name: str,
    settings: Settings,
    source_alias: str | None,
    modules: frozenset[str] | None = None,
) -> ReplicationPolicy:
    """The policy of `replication.policy.class`. `source_alias` is None for a client that reads any cluster.
    Raises ConfigError."""
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
    _refuse_misspelt(option, class_name)
    alias = {} if source_alias is None else {"source.cluster.alias": source_alias}
    policy: ReplicationPolicy = ported_class(option, class_name, {**settings, **alias}, modules)
    return policy


def topic_filter(
    class_name: str, settings: Settings, modules: frozenset[str] | None = None
) -> topics.TopicFilter:
    """The filter of `topic.filter.class`. Raises ConfigError."""
    if _built_in(class_name, ("Default",), "TopicFilter"):
        return topics.DefaultTopicFilter.of(
            _patterns(settings, "topics", topics.DEFAULT_TOPICS),
            _patterns(settings, "topics.exclude", topics.DEFAULT_TOPICS_EXCLUDE),
        )
    _refuse_misspelt("topic.filter.class", class_name)
    ported = ported_class("topic.filter.class", class_name, settings, modules)
    return PortedFilter(class_name, ported.should_replicate_topic)


def group_filter(
    class_name: str, settings: Settings, modules: frozenset[str] | None = None
) -> groups.GroupFilter:
    """The filter of `group.filter.class`. Raises ConfigError."""
    if _built_in(class_name, ("Default",), "GroupFilter"):
        return groups.DefaultGroupFilter.of(
            _patterns(settings, "groups", groups.DEFAULT_GROUPS),
            _patterns(settings, "groups.exclude", groups.DEFAULT_GROUPS_EXCLUDE),
        )
    _refuse_misspelt("group.filter.class", class_name)
    ported = ported_class("group.filter.class", class_name, settings, modules)
    return PortedFilter(class_name, ported.should_replicate_group)


def config_property_filter(
    class_name: str, settings: Settings, modules: frozenset[str] | None = None
) -> configs.ConfigPropertyFilter:
    """The filter of `config.property.filter.class`. Raises ConfigError."""
    if _built_in(class_name, ("Default",), "ConfigPropertyFilter"):
        return configs.DefaultConfigPropertyFilter.of(
            _patterns(
                settings, "config.properties.exclude", configs.DEFAULT_CONFIG_PROPERTIES_EXCLUDE
            ),
            settings.get("use.defaults.from", "target").strip(),
        )
    _refuse_misspelt("config.property.filter.class", class_name)
    ported: configs.ConfigPropertyFilter = ported_class(
        "config.property.filter.class", class_name, settings, modules
    )
    return ported


def _built_in(class_name: str, kinds: Sequence[str], suffix: str) -> str | None:
    """The built-in kind of a class name: MM2's full name, or a simple name."""
    simple = class_name.removeprefix(_MIRROR)
    return next((kind for kind in kinds if simple == kind + suffix), None)


def _refuse_misspelt(option: str, class_name: str) -> None:
    """A name like that of a built-in class is misspelt, or has the wrong package; others need a class of the
    user's (`ported.py`)."""
    kinds, suffix = _KINDS[option]
    simple = class_name.rpartition(".")[2]
    by_lower = {f"{kind}{suffix}".lower(): f"{kind}{suffix}" for kind in kinds}
    found = get_close_matches(simple.lower(), by_lower, n=1, cutoff=_LIKE)
    if found and ":" not in class_name:
        built_in = by_lower[found[0]]
        package = "" if built_in == "RenameReplicationPolicy" else _MIRROR
        raise ConfigError(
            f"{option}: {class_name} is not built in; did you mean {built_in}? Write {package}{built_in}"
        )


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
    return [each.strip() for each in text.split(",")] if text else ()
