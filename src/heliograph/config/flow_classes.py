"""Reads the policy and filter classes of a flow, and creates each once so that errors show at the start."""

from __future__ import annotations

from collections.abc import Callable

from heliograph.config.mirror_config import FlowClasses, policy_of
from heliograph.config.options.kafka_clients import is_security
from heliograph.config.resolve.typed_settings import TypedSettings
from heliograph.errors import ConfigError, InvalidPattern
from heliograph.permitted import Permitted
from heliograph.policy import classes
from heliograph.policy.naming import DefaultReplicationPolicy, ReplicationPolicy

# Settings of clients may be secrets, and do not concern topics or groups.
_CLIENT_PREFIXES = tuple(
    f"{side}{kind}."
    for side in ("", "source.", "target.")
    for kind in ("cluster", "consumer", "producer", "admin")
)


def read_classes(
    source: str, target: str, connector: TypedSettings, permitted: Permitted | None = None
) -> FlowClasses:
    """As in MM2, a class gets the settings of its connector; settings of clients are left out."""
    settings = {
        name: setting.value.strip()
        for name, setting in connector.settings.items()
        if not name.startswith(_CLIENT_PREFIXES) and not is_security(name)
    }
    settings |= {"source.cluster.alias": source, "target.cluster.alias": target}
    return FlowClasses(
        replication_policy=connector.text("replication.policy.class"),
        topic_filter=connector.text("topic.filter.class"),
        group_filter=connector.text("group.filter.class"),
        config_property_filter=connector.text("config.property.filter.class"),
        source=source,
        settings=tuple(sorted(settings.items())),
        modules=None if permitted is None else permitted.modules,
    )


def is_own(class_name: str) -> bool:
    """Whether it is a Python class of the user's, which may read `topics` and other settings differently."""
    return ":" in class_name


def has_own(connector: TypedSettings) -> bool:
    """Whether any class of the flow is the user's, and may read settings that MM2 does not have."""
    kinds = ("replication.policy", "topic.filter", "group.filter", "config.property.filter")
    return any(is_own(connector.text(f"{kind}.class")) for kind in kinds)


def usable_policy(flow_classes: FlowClasses, connector: TypedSettings) -> ReplicationPolicy:
    """The flow's policy. If it cannot be created, a problem is added and the default is returned."""
    try:
        return policy_of(flow_classes)
    except ConfigError as error:
        connector.problems.append(_completed(str(error), connector))
        return DefaultReplicationPolicy()


def check_filters(flow_classes: FlowClasses, connector: TypedSettings) -> None:
    settings, modules = flow_classes.mapping, flow_classes.modules
    makers: tuple[Callable[[], object], ...] = (
        lambda: classes.topic_filter(flow_classes.topic_filter, settings, modules),
        lambda: classes.group_filter(flow_classes.group_filter, settings, modules),
        lambda: classes.config_property_filter(
            flow_classes.config_property_filter, settings, modules
        ),
    )
    for make in makers:
        try:
            make()
        except InvalidPattern:
            continue  # TypedSettings.patterns has reported the item
        except ConfigError as error:
            connector.problems.append(_completed(str(error), connector))


def _completed(problem: str, connector: TypedSettings) -> str:
    """`option: sentence`, with the key and line where the user set that option."""
    option, _, sentence = problem.partition(": ")
    setting = connector.settings.get(option)
    if setting is None:
        return problem
    if setting.found.written is not None:
        sentence = f"the value of {setting.found.shown!r} is not valid"
    return f"{setting.key}: {sentence} ({connector.at(setting)})"
