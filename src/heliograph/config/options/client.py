"""How to reach a cluster (`MirrorClientConfig.CLIENT_CONFIG_DEF`), its consumers and producers.

What names a Java class of the user's own, or a provider of the JVM, is refused: a connection without what
it does would fail, or lack the protection that the file asks for.
"""

from __future__ import annotations

from functools import partial

from heliograph.config.options.option import Importance, Option, Scope, Support
from heliograph.config.options.values import (
    BOOLEAN,
    CLASS,
    DOUBLE,
    INT,
    LIST,
    LONG,
    PASSWORD,
    SHORT,
    STRING,
    OptionType,
    at_least,
    one_of,
    one_of_ignoring_case,
)

#: Of the JVM, or of brokers, which validate tokens; a client here does without.
_WITHOUT_EFFECT = frozenset(
    {
        "ssl.provider",
        "ssl.keymanager.algorithm",
        "ssl.trustmanager.algorithm",
        "ssl.secure.random.implementation",
        "sasl.kerberos.kinit.cmd",
        "sasl.kerberos.ticket.renew.window.factor",
        "sasl.kerberos.ticket.renew.jitter",
        "sasl.kerberos.min.time.before.relogin",
        "sasl.login.refresh.window.jitter",
        "sasl.login.refresh.min.period.seconds",
        "sasl.login.refresh.buffer.seconds",
        "sasl.login.read.timeout.ms",
        "sasl.login.retry.backoff.ms",
        "sasl.login.retry.backoff.max.ms",
        "sasl.oauthbearer.jwt.validator.class",
        "sasl.oauthbearer.scope.claim.name",
        "sasl.oauthbearer.sub.claim.name",
        "sasl.oauthbearer.jwks.endpoint.url",
        "sasl.oauthbearer.jwks.endpoint.refresh.ms",
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms",
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
        "sasl.oauthbearer.clock.skew.seconds",
        "sasl.oauthbearer.expected.audience",
        "sasl.oauthbearer.expected.issuer",
        "sasl.oauthbearer.allow.unverified.audience",
        "sasl.oauthbearer.allow.unverified.issuer",
    }
)
_REFUSED = ("ssl.engine.factory.class", "sasl.login.class", "sasl.oauthbearer.assertion.")

# name, type, default
_SSL: tuple[tuple[str, OptionType, str | None], ...] = (
    ("protocol", STRING, "TLSv1.3"),
    ("provider", STRING, None),
    ("cipher.suites", LIST, None),
    ("enabled.protocols", LIST, "TLSv1.2,TLSv1.3"),
    ("keystore.type", STRING, "JKS"),
    ("keystore.key", PASSWORD, None),
    ("keystore.certificate.chain", PASSWORD, None),
    ("keystore.location", STRING, None),
    ("keystore.password", PASSWORD, None),
    ("key.password", PASSWORD, None),
    ("truststore.type", STRING, "JKS"),
    ("truststore.location", STRING, None),
    ("truststore.password", PASSWORD, None),
    ("truststore.certificates", PASSWORD, None),
    ("keymanager.algorithm", STRING, "SunX509"),
    ("trustmanager.algorithm", STRING, "PKIX"),
    ("endpoint.identification.algorithm", STRING, "https"),
    ("secure.random.implementation", STRING, None),
    ("engine.factory.class", CLASS, None),
)

_SASL: tuple[tuple[str, OptionType, str | None], ...] = (
    ("mechanism", STRING, "GSSAPI"),
    ("jaas.config", PASSWORD, None),
    ("client.callback.handler.class", CLASS, None),
    ("login.callback.handler.class", CLASS, None),
    ("login.class", CLASS, None),
    ("kerberos.service.name", STRING, None),
    ("kerberos.kinit.cmd", STRING, "/usr/bin/kinit"),
    ("kerberos.ticket.renew.window.factor", DOUBLE, "0.8"),
    ("kerberos.ticket.renew.jitter", DOUBLE, "0.05"),
    ("kerberos.min.time.before.relogin", LONG, "60000"),
    ("login.refresh.window.factor", DOUBLE, "0.8"),
    ("login.refresh.window.jitter", DOUBLE, "0.05"),
    ("login.refresh.min.period.seconds", SHORT, "60"),
    ("login.refresh.buffer.seconds", SHORT, "300"),
    ("login.connect.timeout.ms", INT, None),
    ("login.read.timeout.ms", INT, None),
    ("login.retry.backoff.ms", LONG, "100"),
    ("login.retry.backoff.max.ms", LONG, "10000"),
)

_OAUTHBEARER: tuple[tuple[str, OptionType, str | None], ...] = (
    ("jwt.retriever.class", CLASS, None),
    ("jwt.validator.class", CLASS, None),
    ("scope", STRING, None),
    ("client.credentials.client.id", STRING, None),
    ("client.credentials.client.secret", PASSWORD, None),
    ("assertion.algorithm", STRING, "RS256"),
    ("assertion.claim.aud", STRING, None),
    ("assertion.claim.exp.seconds", INT, "300"),
    ("assertion.claim.iss", STRING, None),
    ("assertion.claim.jti.include", BOOLEAN, "false"),
    ("assertion.claim.nbf.seconds", INT, "60"),
    ("assertion.claim.sub", STRING, None),
    ("assertion.file", STRING, None),
    ("assertion.private.key.file", STRING, None),
    ("assertion.private.key.passphrase", PASSWORD, None),
    ("assertion.template.file", STRING, None),
    ("scope.claim.name", STRING, "scope"),
    ("sub.claim.name", STRING, "sub"),
    ("token.endpoint.url", STRING, None),
    ("jwks.endpoint.url", STRING, None),
    ("jwks.endpoint.refresh.ms", LONG, "3600000"),
    ("jwks.endpoint.retry.backoff.ms", LONG, "100"),
    ("jwks.endpoint.retry.backoff.max.ms", LONG, "10000"),
    ("clock.skew.seconds", INT, "30"),
    ("expected.audience", LIST, None),
    ("expected.issuer", STRING, None),
    ("allow.unverified.audience", BOOLEAN, None),
    ("allow.unverified.issuer", BOOLEAN, None),
    ("header.urlencode", BOOLEAN, "false"),
)

_client = partial(Option, scope=Scope.CLIENT)
_security = partial(_client, importance=Importance.MEDIUM)


def _support(name: str) -> Support:
    if name.startswith(_REFUSED):
        return Support.REFUSED
    return Support.LATER if name in _WITHOUT_EFFECT else Support.ACTED


CLIENT = (
    _client(
        name="bootstrap.servers",
        type=LIST,
        importance=Importance.HIGH,
        doc="Brokers to ask first, as host:port, separated by commas",
    ),
    _security(
        name="security.protocol",
        type=STRING,
        default="PLAINTEXT",
        valid=one_of_ignoring_case("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
        doc="How to talk to brokers",
    ),
    *(
        _security(
            name=f"{family}.{name}",
            type=type_,
            default=default,
            doc=doc,
            support=_support(f"{family}.{name}"),
        )
        for family, doc, options in (
            ("ssl", "TLS", _SSL),
            ("sasl", "SASL", _SASL),
            ("sasl.oauthbearer", "SASL OAUTHBEARER", _OAUTHBEARER),
        )
        for name, type_, default in options
    ),
)

CONSUMER = (
    Option(
        name="isolation.level",
        type=STRING,
        scope=Scope.CONSUMER,
        default="read_uncommitted",
        valid=one_of("read_uncommitted", "read_committed"),
        importance=Importance.MEDIUM,
        doc="Whether records of aborted transactions are mirrored",
    ),
    Option(
        name="auto.offset.reset",
        type=STRING,
        scope=Scope.CONSUMER,
        default="earliest",  # MM2's own default; a plain consumer has latest
        valid=one_of("earliest", "latest", "none"),
        importance=Importance.MEDIUM,
        doc="Where a partition without a stored offset starts",
    ),
    *(
        Option(
            name=name,
            type=INT,
            scope=Scope.CONSUMER,
            default=default,
            valid=at_least(low),
            importance=importance,
            doc=doc,
        )
        for name, default, low, importance, doc in (
            # Measured: more per answer is no faster, and takes as much more memory per broker.
            (
                "fetch.max.bytes",
                "8388608",
                1,
                Importance.MEDIUM,
                "At most so many bytes in one answer of a broker, unless a single batch is larger; "
                "Kafka's default is 52428800",
            ),
            (
                "max.partition.fetch.bytes",
                "1048576",
                1,
                Importance.HIGH,
                "At most so many bytes of one partition in an answer, unless a single batch is larger",
            ),
            (
                "fetch.min.bytes",
                "1",
                0,
                Importance.HIGH,
                "A broker answers once it has so many bytes, or fetch.max.wait.ms is over",
            ),
            (
                "fetch.max.wait.ms",
                "500",
                0,
                Importance.LOW,
                "How long a broker waits for fetch.min.bytes, in milliseconds",
            ),
        )
    ),
)

PRODUCER = (
    Option(
        name="buffer.memory",
        type=LONG,
        scope=Scope.PRODUCER,
        default="33554432",
        valid=at_least(1),
        importance=Importance.HIGH,
        doc="Bytes of fetched records that a task of a flow holds until the target has them; nothing "
        "more is fetched meanwhile",
    ),
    Option(
        name="max.request.size",
        type=INT,
        scope=Scope.PRODUCER,
        default="1048576",
        valid=at_least(1),
        importance=Importance.MEDIUM,
        doc="A request is filled with batches of several partitions up to this size; it is no limit "
        "for a batch or a record",
    ),
    Option(
        name="transaction.timeout.ms",
        type=INT,
        scope=Scope.PRODUCER,
        default="60000",
        valid=at_least(1000),
        doc="When the target aborts a transaction that was left open; none is kept open past a third of "
        "that",
    ),
)
