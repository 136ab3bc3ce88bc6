"""The classes that a flow names: made once here, so that what is wrong with them is told at once."""

from __future__ import annotations

from collections.abc import Callable

from heliograph.config.mirror_config import FlowClasses, policy_of
from heliograph.config.options.kafka_clients import is_security
from heliograph.config.resolve.typed_settings import TypedSettings
from heliograph.errors import ConfigError, InvalidPattern
from heliograph.permitted import Permitted
from heliograph.policy import classes
from heliograph.policy.naming import DefaultReplicationPolicy, ReplicationPolicy

# Client settings below these hold secrets, and say nothing of topics or groups.
_CLIENT_PREFIXES = tuple(
    f"{side}{kind}."
    for side in ("", "source.", "target.")
    for kind in ("cluster", "consumer", "producer", "admin")
)


def read_classes(
    source: str, target: str, connector: TypedSettings, permitted: Permitted | None = None
) -> FlowClasses:
    """As MM2 a class is given the settings of its connector, but for those of clients."""
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
    """A user's Python class, which may read `topics` and other settings in its own way."""
    return ":" in class_name


def has_own(connector: TypedSettings) -> bool:
    """Whether any class of the flow may read settings that MM2 does not know."""
    kinds = ("replication.policy", "topic.filter", "group.filter", "config.property.filter")
    return any(is_own(connector.text(f"{kind}.class")) for kind in kinds)


def usable_policy(flow_classes: FlowClasses, connector: TypedSettings) -> ReplicationPolicy:
    """The flow's policy; where it cannot be made, that is a problem and the default stands in."""
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
            continue  # Effective.patterns has said it, with the item
        except ConfigError as error:
            connector.problems.append(_completed(str(error), connector))


def _completed(problem: str, connector: TypedSettings) -> str:
    """`option: sentence` with the key and line where the user set that option."""
    option, _, sentence = problem.partition(": ")
    setting = connector.settings.get(option)
    if setting is None:
        return problem
    if setting.found.written is not None:
        sentence = f"what {setting.found.shown!r} stands for cannot be used"
    return f"{setting.key}: {sentence} ({connector.at(setting)})"
