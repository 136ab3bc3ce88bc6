"""What is wrong with a connector's configuration, told as Connect tells it (`AbstractHerder`).

`validate` is `PUT /connector-plugins/…/config/validate`; `refusal` is the sentence of a request to create or
change a connector. Values that may be secrets never stand in either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from heliograph.config.connectors.connector_class import ConnectorClass
from heliograph.config.connectors.definitions import (
    CONNECT_GROUPS,
    GROUPS,
    Definition,
    connect_definitions,
    converter_type,
    validated_definitions,
)
from heliograph.config.connectors.plugins import (
    KAFKA_VERSION,
    ConnectorNotFound,
    PluginNotFound,
    check_version,
    connector_named,
)
from heliograph.config.options.java_checks import (
    NotParsed,
    Parsed,
    converter,
    invalid,
    is_converter,
    java_text,
    parse,
)
from heliograph.config.options.values import InvalidValue
from heliograph.config.security.secrets import HIDDEN, is_secret
from heliograph.mm2.connect.jackson import hash_map_order
from heliograph.policy.classes import is_built_in

Config = Mapping[str, str | None]

_OVERRIDE = re.compile(r"(?:producer|consumer|admin)\.override\.(.+)")
#: Of a client's settings these endings always mean a number.
_NUMERIC = (".ms", ".bytes", ".size", ".records", ".per.connection")
_POLICIES = (
    "replication.policy.class",
    "topic.filter.class",
    "group.filter.class",
    "config.property.filter.class",
)
_CONVERTERS = ("key.converter", "value.converter")
_ISOLATION = ("consumer.isolation.level", "source.consumer.isolation.level")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigInfo:
    """`value` as Connect prints it, a password hidden. `definition` is None for what it does not know."""

    definition: Definition | None
    name: str
    value: str | None
    errors: tuple[str, ...] = ()
    recommended: tuple[str, ...] = ()
    visible: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigInfos:
    """`name` is the connector's class as the configuration names it."""

    name: str
    groups: tuple[str, ...]
    configs: tuple[ConfigInfo, ...]

    @property
    def errors(self) -> tuple[str, ...]:
        return tuple(error for info in self.configs for error in info.errors)


class WrongOverride(ValueError):
    """A client's setting that no client can be made with; the sentence."""


def validate(
    config: Config, *, exactly_once: bool = False, not_permitted: Iterable[tuple[str, str]] = ()
) -> ConfigInfos:
    """`exactly_once`: whether the worker has it. `not_permitted`: settings, and why they may not come from
    where they come from. Raises ConnectorNotFound, BadVersion, WrongOverride."""
    named = config.get("connector.class")
    if named is None:
        raise ConnectorNotFound(f"Connector config {printed(config)} contains no connector type")
    connector = connector_named(named)
    try:
        check_version(connector.java_name, config.get("connector.plugin.version"))
    except PluginNotFound as e:
        return _of_another_version(named, config, str(e))
    infos = [_info(definition, config) for definition in validated_definitions(connector)]
    beyond = [*_beyond_definitions(connector, config, exactly_once), *not_permitted]
    infos = _with_errors(infos, beyond)
    configs = (*infos, *_overrides(config), *_converter_types(config))
    return ConfigInfos(name=named, groups=GROUPS, configs=configs)


def refusal(infos: ConfigInfos) -> str | None:
    """Why no connector can be made of it; None if one can."""
    if not infos.errors:
        return None
    return "\n".join(
        (
            f"Connector configuration is invalid and contains the following {len(infos.errors)} error(s):",
            *infos.errors,
            "You can also find the above list of errors at the endpoint "
            "`/connector-plugins/{connectorType}/config/validate`",
        )
    )


def printed(config: Config) -> str:
    """As Java prints a map, in its order; what may be a secret is hidden."""
    entries = (
        f"{name}={HIDDEN if is_secret(name, config[name]) else java_text(config[name])}"
        for name in hash_map_order(list(config), copied=True)
    )
    return f"{{{', '.join(entries)}}}"


def _of_another_version(named: str, config: Config, sentence: str) -> ConfigInfos:
    """Only what Connect itself defines can be told of a connector that is not there."""
    infos = [_info(definition, config) for definition in connect_definitions()]
    infos = [_recommending_version(info) for info in infos]
    errors = [("connector.class", sentence), ("connector.plugin.version", sentence)]
    return ConfigInfos(
        name=named, groups=CONNECT_GROUPS, configs=tuple(_with_errors(infos, errors))
    )


def _recommending_version(info: ConfigInfo) -> ConfigInfo:
    if info.name != "connector.plugin.version" or info.definition is None:
        return info
    definition = replace(info.definition, default=KAFKA_VERSION)
    return replace(info, definition=definition, recommended=(KAFKA_VERSION,))


def _info(definition: Definition, config: Config) -> ConfigInfo:
    name = definition.name
    value, errors = _parsed(definition, config)
    if definition.check is not None and (wrong := definition.check(name, value)) is not None:
        errors.append(wrong)
    errors += _refused_here(definition, config.get(name))
    return ConfigInfo(
        definition=definition,
        name=name,
        value=_text(value, definition.type),
        errors=tuple(errors),
        visible=_visible(name, config),
    )


def _parsed(definition: Definition, config: Config) -> tuple[Parsed, list[str]]:
    name = definition.name
    given = config.get(name, definition.default)
    if definition.required and given is None:
        return None, [f'Missing required configuration "{name}" which has no default value.']
    if given is None:
        return None, []
    try:
        value = parse(name, given, definition.type)
        if not _is_there(name, str(value)):
            raise NotParsed(invalid(name, given, f"Class {value} could not be found."))
    except NotParsed as e:
        return None, [str(e)]
    return value, []


def _is_there(name: str, value: str) -> bool:
    """Of a class that decides what is done; other classes of Java's have nothing to do here."""
    if name in _POLICIES:
        return ":" in value or is_built_in(name, value)
    return name not in (*_CONVERTERS, "header.converter") or is_converter(value)


def _refused_here(definition: Definition, given: str | None) -> Iterator[str]:
    """What Connect would take, or does not know, and this worker cannot do."""
    if given is None:
        return
    if definition.name in ("transforms", "predicates") and given.strip():
        why = "records are copied as they are, so that nothing can be done to each of them here"
        yield invalid(definition.name, given, why)
    if definition.option is not None:
        try:
            definition.option.parse(given)
        except InvalidValue as e:
            yield invalid(definition.name, given, str(e))


def _text(value: Parsed, type_: str) -> str | None:
    match value:
        case None:
            return None
        case bool():
            return str(value).lower()
        case tuple():
            return ",".join(value)
        case _:
            return HIDDEN if type_ == "PASSWORD" else str(value)


def _visible(name: str, config: Config) -> bool:
    """The version of a converter is of interest once there is one (`RecommenderUtil`)."""
    which = name.removesuffix(".plugin.version")
    return not name.endswith(".converter.plugin.version") or _has_converter(which, config)


def _has_converter(name: str, config: Config) -> bool:
    given = config.get(name)
    return (
        given is not None and is_converter(given.strip()) and converter(name, given.strip()) is None
    )


def _beyond_definitions(
    connector: ConnectorClass, config: Config, exactly_once: bool
) -> Iterator[tuple[str, str]]:
    """What the connectors and the worker check by themselves: a setting and what is wrong with it."""
    yield from _exactly_once(connector, config, exactly_once)
    if (config.get("transaction.boundary") or "").strip().lower() == "connector":
        yield (
            "transaction.boundary",
            "The connector does not support connector-defined transaction boundaries with the given "
            "configuration. Please reconfigure it to use a different transaction boundary definition.",
        )
    without_syncs = config.get("emit.offset-syncs.enabled") == "false"
    if connector is ConnectorClass.SOURCE:
        if without_syncs and any(name.startswith("offset-syncs.") for name in config):
            yield (
                "emit.offset-syncs.enabled",
                "MirrorSourceConnector can't setup offset-syncs feature while "
                "emit.offset-syncs.enabled set to false",
            )
    elif connector is ConnectorClass.CHECKPOINT and config.get("enabled", "true") != "false":
        if config.get("emit.checkpoints.enabled") == "false":
            yield (
                "emit.checkpoints.enabled",
                "MirrorCheckpointConnector can't run with emit.checkpoints.enabled set to false",
            )
        if without_syncs:
            yield (
                "emit.offset-syncs.enabled",
                "MirrorCheckpointConnector can't run without offset syncs",
            )


def _exactly_once(
    connector: ConnectorClass, config: Config, exactly_once: bool
) -> Iterator[tuple[str, str]]:
    name = "exactly.once.support"
    if (config.get(name) or "").strip().lower() != "required":
        return
    if connector is ConnectorClass.SOURCE and not any(
        config.get(each) == "read_committed" for each in _ISOLATION
    ):
        yield (
            name,
            "MirrorSourceConnector can only provide exactly-once guarantees when its source consumer is "
            "configured with isolation.level set to 'read_committed'; otherwise, records from aborted and "
            "uncommitted transactions will be replicated from the source cluster to the target cluster.",
        )
    elif not exactly_once:
        yield name, "This worker does not have exactly-once source support enabled."


def _with_errors(
    infos: Iterable[ConfigInfo], errors: Iterable[tuple[str, str]]
) -> list[ConfigInfo]:
    """Settings that Connect does not define come first."""
    found: dict[str, list[str]] = {}
    for name, sentence in errors:
        found.setdefault(name, []).append(sentence)
    infos = list(infos)
    known = {info.name for info in infos}
    return [
        *(
            ConfigInfo(definition=None, name=name, value=None, errors=tuple(sentences))
            for name, sentences in found.items()
            if name not in known
        ),
        *(
            replace(
                info,
                errors=(*info.errors, *found.get(info.name, ())),
                value=None if _is_the_connectors(info, found) else info.value,
            )
            for info in infos
        ),
    ]


def _is_the_connectors(info: ConfigInfo, found: Mapping[str, list[str]]) -> bool:
    """Of a setting that the source connector checks but does not define, Connect loses the value."""
    return any(
        each.startswith("MirrorSourceConnector can only") for each in found.get(info.name, ())
    )


def _overrides(config: Config) -> Iterator[ConfigInfo]:
    """Settings of the worker's clients that a connector changes for itself."""
    for name, given in config.items():
        override = _OVERRIDE.fullmatch(name)
        if override is None or given is None:
            continue
        if override[1].endswith(_NUMERIC) and not re.fullmatch(r"\s*-?\d+\s*", given):
            raise WrongOverride(invalid(name, given, "Not a number"))
        shown = HIDDEN if is_secret(name, given) else given
        yield ConfigInfo(definition=None, name=name, value=shown)


def _converter_types(config: Config) -> Iterator[ConfigInfo]:
    for name in _CONVERTERS:
        if _has_converter(name, config):
            kind = name.partition(".")[0]
            yield ConfigInfo(
                definition=converter_type(f"{name}."), name=f"{name}.converter.type", value=kind
            )
