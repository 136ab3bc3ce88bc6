"""Validates a connector's configuration and words the answer as Connect does (`AbstractHerder`).

`validate` answers `PUT /connector-plugins/…/config/validate`; `refusal` is the message for a request that
creates or changes a connector. Neither contains a value that may be a secret.
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
    source_definitions,
    validated_definitions,
)
from heliograph.config.connectors.plugins import (
    KAFKA_VERSION,
    ConnectorNotFound,
    PluginNotFound,
    check_version,
    connector_named,
)
from heliograph.config.connectors.transform_definitions import (
    AliasDefinitions,
    alias_definitions,
)
from heliograph.config.options.checks import (
    Parsed,
    copies_bytes,
    invalid,
    is_converter,
    java_text,
    rewrites_headers,
)
from heliograph.config.options.values import CLASS, InvalidValue
from heliograph.config.resolve.providers import placeholders
from heliograph.config.security.secrets import HIDDEN, is_secret
from heliograph.config.transforms.read import read_transforms
from heliograph.mm2.connect.jackson import hash_map_order
from heliograph.policy.classes import is_built_in

Config = Mapping[str, str | None]

_OVERRIDE = re.compile(r"(?:producer|consumer|admin)\.override\.(.+)")
#: Settings of clients with these endings are numbers.
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
    """One setting. `value` is as Connect prints it, passwords hidden. `definition` None: Connect has none."""

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
    """A setting of a client that is not a number where it must be one; the text is Connect's answer."""


def validate(
    config: Config, *, exactly_once: bool = False, not_permitted: Iterable[tuple[str, str]] = ()
) -> ConfigInfos:
    """`exactly_once`: whether the worker has it enabled. `not_permitted`: settings that REST may not send,
    with the reason. Raises ConnectorNotFound, BadVersion, WrongOverride."""
    named = config.get("connector.class")
    if named is None:
        raise ConnectorNotFound(f"Connector config {printed(config)} contains no connector type")
    connector = connector_named(named)
    try:
        check_version(connector.java_name, config.get("connector.plugin.version"))
    except PluginNotFound as e:
        return _of_another_version(named, config, str(e))
    aliases = alias_definitions(config)
    infos = _infos(connector, config, aliases)
    beyond = [*_beyond_definitions(connector, config, exactly_once), *not_permitted]
    infos = _with_errors(infos, beyond)
    configs = (*infos, *_overrides(config), *_converter_types(config))
    return ConfigInfos(name=named, groups=(*GROUPS, *aliases.groups), configs=configs)


def _infos(
    connector: ConnectorClass, config: Config, aliases: AliasDefinitions
) -> list[ConfigInfo]:
    """Those of transformations and predicates stand between Connect's settings and the connector's."""
    definitions = validated_definitions(connector)
    own = [_info(definition, config) for definition in definitions]
    between = [_unchecked(definition, config, aliases) for definition in aliases.definitions]
    at = len(connect_definitions()) + len(source_definitions())
    return [*own[:at], *between, *own[at:]]


def _unchecked(definition: Definition, config: Config, aliases: AliasDefinitions) -> ConfigInfo:
    """`read_transforms` says what is wrong with it."""
    info = _info(definition, config)
    recommended = aliases.recommended.get(definition.name, ())
    missing = definition.value_type is CLASS and info.value not in recommended
    return replace(info, errors=(), recommended=recommended, value=None if missing else info.value)


def refusal(infos: ConfigInfos) -> str | None:
    """Connect's message about an invalid configuration; None: it is valid."""
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
    """As Java prints a map, in its order; values that may be secrets are hidden."""
    entries = (
        f"{name}={HIDDEN if is_secret(name, config[name]) else java_text(config[name])}"
        for name in hash_map_order(list(config), copied=True)
    )
    return f"{{{', '.join(entries)}}}"


def _of_another_version(named: str, config: Config, sentence: str) -> ConfigInfos:
    """Connect lists only its own settings for a connector version that is not installed."""
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
    given = config.get(name)
    if given is not None and any(each.provider for each in placeholders(given)):
        # The worker fills it in when the connector starts; an answer about it could tell a secret.
        return ConfigInfo(
            definition=definition, name=name, value=given, visible=_visible(name, config)
        )
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
        value = definition.value_type.parse(given)
    except InvalidValue:
        return None, [invalid(name, given, definition.value_type.refusal)]
    if not _class_exists(name, str(value)):
        return None, [invalid(name, given, f"Class {value} could not be found.")]
    return value, []


def _class_exists(name: str, value: str) -> bool:
    """Checks policies, filters and converters; other Java classes have no effect here."""
    if name in _POLICIES:
        return ":" in value or is_built_in(name, value)
    return name not in (*_CONVERTERS, "header.converter") or is_converter(value)


def _refused_here(definition: Definition, given: str | None) -> Iterator[str]:
    """Errors that Connect would not give: bad values of options that only Heliograph has."""
    if given is None:
        return
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
    """A converter's version is visible only if the converter is set (`RecommenderUtil`)."""
    which = name.removesuffix(".plugin.version")
    return not name.endswith(".converter.plugin.version") or _has_converter(which, config)


def _has_converter(name: str, config: Config) -> bool:
    given = config.get(name)
    return given is not None and (
        copies_bytes(given.strip())
        or (name == "header.converter" and rewrites_headers(given.strip()))
    )


def _beyond_definitions(
    connector: ConnectorClass, config: Config, exactly_once: bool
) -> Iterator[tuple[str, str]]:
    """Checks of `MirrorSourceConnector`, `MirrorCheckpointConnector` and the worker: setting and error."""
    yield from _exactly_once(connector, config, exactly_once)
    yield from _transforms(connector, config)
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


def _transforms(connector: ConnectorClass, config: Config) -> Iterator[tuple[str, str]]:
    """Connect applies them to the records of any connector; MirrorMaker's own would be unreadable then."""
    if connector is ConnectorClass.SOURCE:
        found = read_transforms({n: v for n, v in config.items() if v is not None})
        # Of the lists themselves the definitions say what is wrong.
        yield from (each for each in found.errors if each[0] not in ("transforms", "predicates"))
        return
    for name in ("transforms", "predicates"):
        given = config.get(name)
        if given is not None and given.strip():
            why = "only records that MirrorSourceConnector copies can be transformed"
            yield name, invalid(name, given, why)


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
    """`infos` with `errors` added; settings without a definition come first, as in Connect."""
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
                value=None if _loses_value(info, found) else info.value,
            )
            for info in infos
        ),
    ]


def _loses_value(info: ConfigInfo, found: Mapping[str, list[str]]) -> bool:
    """Connect answers null for a setting that the source connector checks but does not define."""
    return any(
        each.startswith("MirrorSourceConnector can only") for each in found.get(info.name, ())
    )


def _overrides(config: Config) -> Iterator[ConfigInfo]:
    """Settings of the worker's clients that the connector overrides."""
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
