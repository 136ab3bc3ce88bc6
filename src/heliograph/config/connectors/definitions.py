"""Lists the settings of a connector as Connect's REST API does (`ConfigDef`): in its order, with its groups.

Types, defaults, checks, importance and documentation come from the option table (`config/options`). Order,
groups, widths and display names are here, since only Connect's answers need them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from heliograph.config.connectors.connector_class import ConnectorClass
from heliograph.config.options import SECTIONS, Option, Scope
from heliograph.config.options.checks import ConfigDefCheck
from heliograph.config.options.client_security import CLIENT_SECURITY
from heliograph.config.options.values import STRING, OptionType

_COMMON, _ERRORS, _EXACTLY_ONCE = "Common", "Error Handling", "Exactly Once Support"


def _names(text: str) -> list[str]:
    return text.split()


# Name, display name, group, width. The rows of each of these tuples are numbered from 1.
_CONNECT = (
    ("name", "Connector name", _COMMON, "MEDIUM"),
    ("connector.class", "Connector class", _COMMON, "LONG"),
    ("connector.plugin.version", "Connector version", _COMMON, "MEDIUM"),
    ("tasks.max", "Tasks max", _COMMON, "SHORT"),
    ("tasks.max.enforce", "Enforce tasks max", _COMMON, "SHORT"),
    ("key.converter", "Key converter class", _COMMON, "SHORT"),
    ("key.converter.plugin.version", "Key converter version", _COMMON, "SHORT"),
    ("value.converter", "Value converter class", _COMMON, "SHORT"),
    ("value.converter.plugin.version", "Value converter version", _COMMON, "SHORT"),
    ("header.converter", "Header converter class", _COMMON, "SHORT"),
    ("header.converter.plugin.version", "Header converter version", _COMMON, "SHORT"),
    ("transforms", "Transforms", "Transforms", "LONG"),
    ("predicates", "Predicates", "Predicates", "LONG"),
    ("config.action.reload", "Reload Action", _COMMON, "MEDIUM"),
)
_CONNECT_ERRORS = (
    ("errors.retry.timeout", "Retry Timeout for Errors", _ERRORS, "MEDIUM"),
    ("errors.retry.delay.max.ms", "Maximum Delay Between Retries for Errors", _ERRORS, "MEDIUM"),
    ("errors.tolerance", "Error Tolerance", _ERRORS, "SHORT"),
    ("errors.log.enable", "Log Errors", _ERRORS, "SHORT"),
    ("errors.log.include.messages", "Log Error Details", _ERRORS, "SHORT"),
)
_CONNECT_SOURCE = (
    ("topic.creation.groups", "Topic Creation Groups", "Topic Creation", "LONG"),
    ("exactly.once.support", "Exactly once support", _EXACTLY_ONCE, "SHORT"),
    ("transaction.boundary", "Transaction Boundary", _EXACTLY_ONCE, "SHORT"),
    ("transaction.boundary.interval.ms", "Transaction boundary interval", _EXACTLY_ONCE, "SHORT"),
)
_OFFSETS_TOPIC = (("offsets.storage.topic", "Offsets topic", "offsets.topic", "LONG"),)

CONNECT_GROUPS = (_COMMON, "Transforms", "Predicates", _ERRORS)
GROUPS = (*CONNECT_GROUPS, "Topic Creation", _EXACTLY_ONCE, "offsets.topic")

_MIRROR = _names(
    """
    enabled source.cluster.alias target.cluster.alias admin.timeout.ms replication.policy.class
    replication.policy.separator replication.policy.internal.topic.separator.enabled
    forwarding.admin.class metric.reporters security.protocol config.providers
    """
)
_OWN = {
    ConnectorClass.SOURCE: _names(
        """
        topics topics.exclude config.properties.exclude topic.filter.class
        config.property.filter.class consumer.poll.timeout.ms refresh.topics.enabled
        refresh.topics.interval.seconds sync.topic.configs.enabled
        sync.topic.configs.interval.seconds sync.topic.acls.enabled
        sync.topic.acls.interval.seconds replication.factor
        offset-syncs.topic.replication.factor offset.lag.max offset-syncs.topic.location
        emit.offset-syncs.enabled heartbeats.replication.enabled metric.names.formats
        """
    ),
    ConnectorClass.CHECKPOINT: _names(
        """
        consumer.poll.timeout.ms groups groups.exclude group.filter.class refresh.groups.enabled
        refresh.groups.interval.seconds emit.checkpoints.enabled
        emit.checkpoints.interval.seconds sync.group.offsets.enabled
        sync.group.offsets.interval.seconds checkpoints.topic.replication.factor
        offset-syncs.topic.location topic.filter.class metric.names.formats
        """
    ),
    ConnectorClass.HEARTBEAT: _names(
        """
        emit.heartbeats.enabled emit.heartbeats.interval.seconds
        heartbeats.topic.replication.factor
        """
    ),
}
_SECTIONS = {
    ConnectorClass.SOURCE: ("Flows", "Topics, records and offset syncs"),
    ConnectorClass.CHECKPOINT: ("Flows", "Groups and checkpoints"),
    ConnectorClass.HEARTBEAT: ("Flows",),
}

#: Settings that the ConfigDef of Kafka 4.3's connectors does not have (conformance/golden.json).
_NOT_IN_THIS_KAFKA = frozenset(
    f"sasl.oauthbearer.allow.unverified.{each}" for each in ("audience", "issuer")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A setting as Connect describes it; `order` is -1 outside any group.

    `check` is the validator of Kafka's ConfigDef. `option`: of a setting that Kafka does not have, which is
    checked by the option's own rule.
    """

    name: str
    value_type: OptionType
    default: str | None
    required: bool
    importance: str
    documentation: str
    group: str | None = None
    order: int = -1
    width: str = "NONE"
    display_name: str
    check: ConfigDefCheck | None = None
    option: Option | None = None

    @property
    def type(self) -> str:
        return self.value_type.name


@cache
def plugin_definitions(connector: ConnectorClass) -> tuple[Definition, ...]:
    """As `GET /connector-plugins/…/config` lists them: Connect's settings of source connectors last."""
    return (*connect_definitions(), *_mirror(connector), *source_definitions())


@cache
def validated_definitions(connector: ConnectorClass) -> tuple[Definition, ...]:
    """As `PUT /connector-plugins/…/config/validate` lists them: all of Connect's settings first."""
    return (*connect_definitions(), *source_definitions(), *_mirror(connector))


@cache
def connect_definitions() -> tuple[Definition, ...]:
    """The settings that every connector has."""
    return (*_grouped(_CONNECT), *_grouped(_CONNECT_ERRORS))


def converter_type(prefix: str = "") -> Definition:
    """The setting of a converter that says whether it converts keys or values."""
    return Definition(
        name=f"{prefix}converter.type",
        value_type=STRING,
        default=None,
        required=True,
        importance="LOW",
        documentation="Whether it converts keys or values.",
        display_name="converter.type",
    )


@cache
def source_definitions() -> tuple[Definition, ...]:
    """The settings that every source connector has."""
    return (*_grouped(_CONNECT_SOURCE), *_grouped(_OFFSETS_TOPIC))


def _grouped(rows: tuple[tuple[str, str, str, str], ...]) -> Iterator[Definition]:
    for order, (name, display_name, group, width) in enumerate(rows, 1):
        yield _definition(name, display_name, group, order, width)


def _mirror(connector: ConnectorClass) -> Iterator[Definition]:
    security = [option.name for option in CLIENT_SECURITY if option.name not in _NOT_IN_THIS_KAFKA]
    for name in (*_MIRROR, *security, *_OWN[connector]):
        yield _definition(name, name)
    for section in _SECTIONS[connector]:
        for option in SECTIONS[section]:
            if option.since == "heliograph":
                yield _ours(option)


def _definition(
    name: str, display_name: str, group: str | None = None, order: int = -1, width: str = "NONE"
) -> Definition:
    option = _options()[name]
    return Definition(
        name=name,
        value_type=option.type,
        default=_default(option),
        required=option.in_connector is not None and option.in_connector.required,
        importance=str(option.importance).upper(),
        documentation=f"{option.doc}.",
        group=group,
        order=order,
        width=width,
        display_name=display_name,
        check=None if option.valid is None else option.valid.config_def,
    )


def _ours(option: Option) -> Definition:
    return Definition(
        name=option.name,
        value_type=option.type,
        default=_default(option),
        required=False,
        importance=str(option.importance).upper(),
        documentation=f"{option.doc}.",
        display_name=option.name,
        option=option,
    )


def _default(option: Option) -> str | None:
    default = option.default if option.in_connector is None else option.in_connector.default
    if default is None:
        return None
    value = option.type.parse(default)
    return ",".join(value) if isinstance(value, tuple) else default


@cache
def _options() -> Mapping[str, Option]:
    """By name: options of connectors, then of clients, then of the whole file."""
    wanted = (Scope.TOP, Scope.CLIENT, Scope.CONNECTOR)
    return {
        option.name: option
        for scope in wanted
        for section in SECTIONS.values()
        for option in section
        if option.scope is scope
    }
