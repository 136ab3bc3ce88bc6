"""What Connect's REST API tells of a connector's settings (`ConfigDef`), in its order.

Types, defaults, importance and documentation are the option table's. What stands here is what the table
does not need to know: order, groups, widths, display names, and the few places where a connector's
ConfigDef is not what holds in a file of flows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from heliograph.config.connectors.connector_class import ConnectorClass
from heliograph.config.options import SECTIONS, Option, Scope
from heliograph.config.options.java_checks import (
    Check,
    any_values,
    at_least,
    between,
    converter,
    name_of_a_connector,
    non_empty,
    one_of,
    one_of_ignoring_case,
    some_of,
    unique_aliases,
)

_COMMON, _ERRORS, _EXACTLY_ONCE = "Common", "Error Handling", "Exactly Once Support"


def _names(text: str) -> list[str]:
    return text.split()


# Name, display name, group, width; they are numbered within _COMMON with its neighbours, or their group.
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
_SSL = _names(
    """
    protocol provider cipher.suites enabled.protocols keystore.type keystore.location
    keystore.password key.password keystore.key keystore.certificate.chain
    truststore.certificates truststore.type truststore.location truststore.password
    keymanager.algorithm trustmanager.algorithm endpoint.identification.algorithm
    secure.random.implementation engine.factory.class
    """
)
_SASL = _names(
    """
    kerberos.service.name kerberos.kinit.cmd kerberos.ticket.renew.window.factor
    kerberos.ticket.renew.jitter kerberos.min.time.before.relogin login.refresh.window.factor
    login.refresh.window.jitter login.refresh.min.period.seconds login.refresh.buffer.seconds
    mechanism jaas.config client.callback.handler.class login.callback.handler.class login.class
    login.connect.timeout.ms login.read.timeout.ms login.retry.backoff.max.ms
    login.retry.backoff.ms
    """
)
_OAUTHBEARER = _names(
    """
    jwt.retriever.class jwt.validator.class scope client.credentials.client.id
    client.credentials.client.secret assertion.algorithm assertion.claim.aud
    assertion.claim.exp.seconds assertion.claim.iss assertion.claim.jti.include
    assertion.claim.nbf.seconds assertion.claim.sub assertion.file assertion.private.key.file
    assertion.private.key.passphrase assertion.template.file scope.claim.name sub.claim.name
    token.endpoint.url jwks.endpoint.url jwks.endpoint.refresh.ms
    jwks.endpoint.retry.backoff.max.ms jwks.endpoint.retry.backoff.ms clock.skew.seconds
    expected.audience expected.issuer header.urlencode
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

_OAUTHBEARER_CLASSES = "org.apache.kafka.common.security.oauthbearer"
_REQUIRED = {"name", "connector.class", "source.cluster.alias"}
_DEFAULTS = {
    "enabled": "true",
    "target.cluster.alias": "target",
    "key.converter": None,
    "value.converter": None,
    "header.converter": None,
    "ssl.cipher.suites": "",
    "sasl.oauthbearer.expected.audience": "",
    "sasl.oauthbearer.jwt.retriever.class": f"{_OAUTHBEARER_CLASSES}.DefaultJwtRetriever",
    "sasl.oauthbearer.jwt.validator.class": f"{_OAUTHBEARER_CLASSES}.DefaultJwtValidator",
}
_TYPES = {"connector.class": "STRING"}
_MEDIUM = {
    *("connector.plugin.version", "security.protocol"),
    *(f"ssl.{each}" for each in ["protocol", "provider", "enabled.protocols", "keystore.type"]),
    *("ssl.truststore.type", "sasl.kerberos.service.name", "sasl.mechanism", "sasl.jaas.config"),
    *(
        "sasl.client.callback.handler.class",
        "sasl.login.callback.handler.class",
        "sasl.login.class",
    ),
}
_HIGH = {
    *(f"ssl.{each}" for each in ["keystore.location", "keystore.password", "key.password"]),
    *("ssl.keystore.key", "ssl.keystore.certificate.chain", "ssl.truststore.certificates"),
    *("ssl.truststore.location", "ssl.truststore.password"),
    *("sasl.oauthbearer.expected.audience", "sasl.oauthbearer.expected.issuer"),
}
_LOW_OAUTHBEARER = (
    *("scope.claim", "sub.claim", "clock.", "header.", "jwks.endpoint.re"),
    *("assertion.claim.exp", "assertion.claim.nbf"),
)

_CHECKS: Mapping[str, Check] = {
    "name": name_of_a_connector,
    "tasks.max": at_least(1),
    "key.converter": converter,
    "value.converter": converter,
    "header.converter": converter,
    "transforms": unique_aliases,
    "predicates": unique_aliases,
    "config.action.reload": one_of("none", "restart"),
    "errors.tolerance": one_of("none", "all"),
    "exactly.once.support": one_of_ignoring_case("REQUIRED", "REQUESTED"),
    "transaction.boundary": one_of_ignoring_case("INTERVAL", "POLL", "CONNECTOR"),
    "offsets.storage.topic": non_empty,
    "security.protocol": one_of_ignoring_case("SASL_SSL", "PLAINTEXT", "SSL", "SASL_PLAINTEXT"),
    "offset-syncs.topic.location": one_of("source", "target"),
    "metric.names.formats": some_of("legacy", "new"),
    "sasl.login.refresh.window.factor": between(0.5, 1.0),
    "sasl.login.refresh.window.jitter": between(0.0, 0.25),
    "sasl.login.refresh.min.period.seconds": between(0, 900),
    "sasl.login.refresh.buffer.seconds": between(0, 3600),
    "sasl.oauthbearer.assertion.algorithm": one_of_ignoring_case("ES256", "RS256"),
    "sasl.oauthbearer.assertion.claim.exp.seconds": between(0, 86400),
    "sasl.oauthbearer.assertion.claim.nbf.seconds": between(0, 3600),
    **dict.fromkeys(
        _names(
            """
            metric.reporters config.providers topics topics.exclude config.properties.exclude
            groups groups.exclude ssl.cipher.suites ssl.enabled.protocols
            sasl.oauthbearer.expected.audience
            """
        ),
        any_values,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """`type` and `default` as Connect prints them; `order` is -1 outside any group.

    `option` is what the option table has to say of it, for settings that Kafka does not know.
    """

    name: str
    type: str
    default: str | None
    required: bool
    importance: str
    documentation: str
    group: str | None = None
    order: int = -1
    width: str = "NONE"
    display_name: str
    check: Check | None = None
    option: Option | None = None


@cache
def plugin_definitions(connector: ConnectorClass) -> tuple[Definition, ...]:
    """As `GET /connector-plugins/…/config` lists them: the connector's own first."""
    return (*connect_definitions(), *_mirror(connector), *_connect_source())


@cache
def validated_definitions(connector: ConnectorClass) -> tuple[Definition, ...]:
    """As `config/validate` lists them: Connect's first."""
    return (*connect_definitions(), *_connect_source(), *_mirror(connector))


@cache
def connect_definitions() -> tuple[Definition, ...]:
    """What every connector has, whatever it is."""
    return (*_grouped(_CONNECT), *_grouped(_CONNECT_ERRORS))


def converter_type(prefix: str = "") -> Definition:
    """What a converter lets one set: whether it is for keys or values, which follows from its place."""
    return Definition(
        name=f"{prefix}converter.type",
        type="STRING",
        default=None,
        required=True,
        importance="LOW",
        documentation="Whether it converts keys or values.",
        display_name="converter.type",
    )


def _connect_source() -> Iterator[Definition]:
    yield from _grouped(_CONNECT_SOURCE)
    yield from _grouped(_OFFSETS_TOPIC)


def _grouped(rows: tuple[tuple[str, str, str, str], ...]) -> Iterator[Definition]:
    for order, (name, display_name, group, width) in enumerate(rows, 1):
        yield _definition(name, display_name, group, order, width)


def _mirror(connector: ConnectorClass) -> Iterator[Definition]:
    names = (
        *_MIRROR,
        *(f"ssl.{each}" for each in _SSL),
        *(f"sasl.{each}" for each in _SASL),
        *(f"sasl.oauthbearer.{each}" for each in _OAUTHBEARER),
        *_OWN[connector],
    )
    for name in names:
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
        type=_TYPES.get(name, option.type.name),
        default=_DEFAULTS[name] if name in _DEFAULTS else _default(option),
        required=name in _REQUIRED,
        importance=_importance(option),
        documentation=f"{option.doc}.",
        group=group,
        order=order,
        width=width,
        display_name=display_name,
        check=_CHECKS.get(name),
    )


def _ours(option: Option) -> Definition:
    return Definition(
        name=option.name,
        type=option.type.name,
        default=_default(option),
        required=False,
        importance=str(option.importance).upper(),
        documentation=f"{option.doc}.",
        display_name=option.name,
        option=option,
    )


def _default(option: Option) -> str | None:
    if option.name in _REQUIRED or option.default is None:
        return None
    value = option.type.parse(option.default)
    return ",".join(value) if isinstance(value, tuple) else option.default


def _importance(option: Option) -> str:
    name = option.name
    if name in _HIGH:
        return "HIGH"
    if name in _MEDIUM:
        return "MEDIUM"
    if name.startswith("sasl.oauthbearer."):
        low = name.removeprefix("sasl.oauthbearer.").startswith(_LOW_OAUTHBEARER)
        return "LOW" if low else "MEDIUM"
    if name.startswith(("ssl.", "sasl.")):
        return "LOW"
    return str(option.importance).upper()


@cache
def _options() -> Mapping[str, Option]:
    """Connectors' settings by name; those of clients and of a file's top where a connector has none."""
    wanted = (Scope.TOP, Scope.CLIENT, Scope.CONNECTOR)
    return {
        option.name: option
        for scope in wanted
        for section in SECTIONS.values()
        for option in section
        if option.scope is scope
    }
