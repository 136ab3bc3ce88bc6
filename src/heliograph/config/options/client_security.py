"""Options of encryption and login: `ssl.*` and `sasl.*`, in the order of Kafka's ConfigDef.

An option that names a Java class of the user's own, or a provider of the JVM, is refused: a connection
without it would fail, or lack the protection that the file asks for.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from heliograph.config.options.checks import Check, between, no_duplicates, one_of_ignoring_case
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
)

_HIGH, _MEDIUM, _LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
_ACTED, _LATER, _REFUSED = Support.ACTED, Support.LATER, Support.REFUSED
_JWT = "org.apache.kafka.common.security.oauthbearer"
_OF_BROKERS = "Read by brokers, which check tokens"

# name, type, default, importance, support, documentation
_Row = tuple[str, OptionType, str | None, Importance, Support, str]

_SSL: tuple[_Row, ...] = (
    (
        "protocol",
        STRING,
        "TLSv1.3",
        _MEDIUM,
        _ACTED,
        "TLSv1.2 excludes TLSv1.3 unless ssl.enabled.protocols is set",
    ),
    ("provider", STRING, None, _MEDIUM, _LATER, "Security provider of the JVM"),
    (
        "cipher.suites",
        LIST,
        "",
        _LOW,
        _ACTED,
        "Cipher suites of TLSv1.2; OpenSSL's defaults if not set",
    ),
    ("enabled.protocols", LIST, "TLSv1.2,TLSv1.3", _MEDIUM, _ACTED, "TLS versions to use"),
    ("keystore.type", STRING, "JKS", _MEDIUM, _ACTED, "Format of the keystore: JKS, PKCS12 or PEM"),
    (
        "keystore.location",
        STRING,
        None,
        _HIGH,
        _ACTED,
        "File with the client's key and certificate",
    ),
    ("keystore.password", PASSWORD, None, _HIGH, _ACTED, "Password of the keystore; PEM has none"),
    ("key.password", PASSWORD, None, _HIGH, _ACTED, "Password of the key"),
    ("keystore.key", PASSWORD, None, _HIGH, _ACTED, "The client's key itself, as PEM"),
    (
        "keystore.certificate.chain",
        PASSWORD,
        None,
        _HIGH,
        _ACTED,
        "The client's certificates themselves, as PEM",
    ),
    (
        "truststore.certificates",
        PASSWORD,
        None,
        _HIGH,
        _ACTED,
        "Trusted certificates themselves, as PEM",
    ),
    (
        "truststore.type",
        STRING,
        "JKS",
        _MEDIUM,
        _ACTED,
        "Format of the truststore: JKS, PKCS12 or PEM",
    ),
    ("truststore.location", STRING, None, _HIGH, _ACTED, "File with trusted certificates"),
    (
        "truststore.password",
        PASSWORD,
        None,
        _HIGH,
        _ACTED,
        "Password of the truststore; PEM has none",
    ),
    ("keymanager.algorithm", STRING, "SunX509", _LOW, _LATER, "Key manager of the JVM"),
    ("trustmanager.algorithm", STRING, "PKIX", _LOW, _LATER, "Trust manager of the JVM"),
    (
        "endpoint.identification.algorithm",
        STRING,
        "https",
        _LOW,
        _ACTED,
        "https checks that a broker's certificate names its host; empty does not",
    ),
    ("secure.random.implementation", STRING, None, _LOW, _LATER, "Random numbers of the JVM"),
    ("engine.factory.class", CLASS, None, _LOW, _REFUSED, "Java class that makes TLS engines"),
)

_SASL: tuple[_Row, ...] = (
    (
        "kerberos.service.name",
        STRING,
        None,
        _MEDIUM,
        _ACTED,
        "Kerberos name of the brokers' service, usually kafka",
    ),
    ("kerberos.kinit.cmd", STRING, "/usr/bin/kinit", _LOW, _LATER, "Path of kinit"),
    (
        "kerberos.ticket.renew.window.factor",
        DOUBLE,
        "0.8",
        _LOW,
        _LATER,
        "Part of a ticket's lifetime after which it is renewed",
    ),
    (
        "kerberos.ticket.renew.jitter",
        DOUBLE,
        "0.05",
        _LOW,
        _LATER,
        "Random part of the renewal time",
    ),
    (
        "kerberos.min.time.before.relogin",
        LONG,
        "60000",
        _LOW,
        _LATER,
        "Shortest time between two logins, in milliseconds",
    ),
    (
        "login.refresh.window.factor",
        DOUBLE,
        "0.8",
        _LOW,
        _ACTED,
        "Part of a token's lifetime after which the next one is fetched, 0.5 to 1.0",
    ),
    (
        "login.refresh.window.jitter",
        DOUBLE,
        "0.05",
        _LOW,
        _LATER,
        "Random part of the refresh time",
    ),
    (
        "login.refresh.min.period.seconds",
        SHORT,
        "60",
        _LOW,
        _LATER,
        "Shortest time between two tokens, in seconds",
    ),
    (
        "login.refresh.buffer.seconds",
        SHORT,
        "300",
        _LOW,
        _LATER,
        "Time before a token expires that is kept for fetching the next, in seconds",
    ),
    (
        "mechanism",
        STRING,
        "GSSAPI",
        _MEDIUM,
        _ACTED,
        "How to log in: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, AWS_MSK_IAM or GSSAPI",
    ),
    (
        "jaas.config",
        PASSWORD,
        None,
        _MEDIUM,
        _ACTED,
        "Login module and its options, with user and password, in JAAS format",
    ),
    (
        "client.callback.handler.class",
        CLASS,
        None,
        _MEDIUM,
        _ACTED,
        "Kafka's or MSK's handler, by name; Java classes of your own cannot run here",
    ),
    (
        "login.callback.handler.class",
        CLASS,
        None,
        _MEDIUM,
        _ACTED,
        "Kafka's, Strimzi's or MSK's handler, by name; Java classes of your own cannot run here",
    ),
    ("login.class", CLASS, None, _MEDIUM, _REFUSED, "Java class that logs in"),
    (
        "login.connect.timeout.ms",
        INT,
        None,
        _LOW,
        _ACTED,
        "How long a request to a token endpoint may take, in milliseconds; 10000 if not set",
    ),
    (
        "login.read.timeout.ms",
        INT,
        None,
        _LOW,
        _LATER,
        "How long the response of a token endpoint may take, in milliseconds",
    ),
    (
        "login.retry.backoff.max.ms",
        LONG,
        "10000",
        _LOW,
        _LATER,
        "Longest wait between two requests to a token endpoint, in milliseconds",
    ),
    (
        "login.retry.backoff.ms",
        LONG,
        "100",
        _LOW,
        _LATER,
        "First wait between two requests to a token endpoint, in milliseconds",
    ),
)

_OAUTHBEARER: tuple[_Row, ...] = (
    (
        "jwt.retriever.class",
        CLASS,
        f"{_JWT}.DefaultJwtRetriever",
        _MEDIUM,
        _ACTED,
        "Kafka's retriever of tokens, by name: default, client credentials or file",
    ),
    (
        "jwt.validator.class",
        CLASS,
        f"{_JWT}.DefaultJwtValidator",
        _MEDIUM,
        _LATER,
        "Java class that checks tokens; brokers check them",
    ),
    ("scope", STRING, None, _MEDIUM, _ACTED, "Scope to ask a token endpoint for"),
    (
        "client.credentials.client.id",
        STRING,
        None,
        _MEDIUM,
        _ACTED,
        "Client id for a token endpoint",
    ),
    (
        "client.credentials.client.secret",
        PASSWORD,
        None,
        _MEDIUM,
        _ACTED,
        "Client secret for a token endpoint",
    ),
    (
        "assertion.algorithm",
        STRING,
        "RS256",
        _MEDIUM,
        _REFUSED,
        "Signature of a JWT bearer assertion",
    ),
    ("assertion.claim.aud", STRING, None, _MEDIUM, _REFUSED, "Audience of an assertion"),
    (
        "assertion.claim.exp.seconds",
        INT,
        "300",
        _LOW,
        _REFUSED,
        "Lifetime of an assertion, in seconds",
    ),
    ("assertion.claim.iss", STRING, None, _MEDIUM, _REFUSED, "Issuer of an assertion"),
    (
        "assertion.claim.jti.include",
        BOOLEAN,
        "false",
        _MEDIUM,
        _REFUSED,
        "Whether an assertion has an id",
    ),
    (
        "assertion.claim.nbf.seconds",
        INT,
        "60",
        _LOW,
        _REFUSED,
        "How long before now an assertion becomes valid, in seconds",
    ),
    ("assertion.claim.sub", STRING, None, _MEDIUM, _REFUSED, "Subject of an assertion"),
    ("assertion.file", STRING, None, _MEDIUM, _REFUSED, "File with an assertion"),
    (
        "assertion.private.key.file",
        STRING,
        None,
        _MEDIUM,
        _REFUSED,
        "File with the key that signs assertions",
    ),
    (
        "assertion.private.key.passphrase",
        PASSWORD,
        None,
        _MEDIUM,
        _REFUSED,
        "Password of the key that signs assertions",
    ),
    (
        "assertion.template.file",
        STRING,
        None,
        _MEDIUM,
        _REFUSED,
        "File with other claims of an assertion",
    ),
    ("scope.claim.name", STRING, "scope", _LOW, _LATER, _OF_BROKERS),
    ("sub.claim.name", STRING, "sub", _LOW, _LATER, _OF_BROKERS),
    (
        "token.endpoint.url",
        STRING,
        None,
        _MEDIUM,
        _ACTED,
        "Where tokens come from: https://… or http://… of an endpoint, or file://… of a token",
    ),
    ("jwks.endpoint.url", STRING, None, _MEDIUM, _LATER, _OF_BROKERS),
    ("jwks.endpoint.refresh.ms", LONG, "3600000", _LOW, _LATER, _OF_BROKERS),
    ("jwks.endpoint.retry.backoff.max.ms", LONG, "10000", _LOW, _LATER, _OF_BROKERS),
    ("jwks.endpoint.retry.backoff.ms", LONG, "100", _LOW, _LATER, _OF_BROKERS),
    ("clock.skew.seconds", INT, "30", _LOW, _LATER, _OF_BROKERS),
    ("expected.audience", LIST, "", _HIGH, _LATER, _OF_BROKERS),
    ("expected.issuer", STRING, None, _HIGH, _LATER, _OF_BROKERS),
    (
        "header.urlencode",
        BOOLEAN,
        "false",
        _LOW,
        _ACTED,
        "Whether client id and secret are URL-encoded for a token endpoint",
    ),
    ("allow.unverified.audience", BOOLEAN, None, _MEDIUM, _LATER, _OF_BROKERS),
    ("allow.unverified.issuer", BOOLEAN, None, _MEDIUM, _LATER, _OF_BROKERS),
)

_CHECKS: dict[str, Check] = {
    "ssl.cipher.suites": no_duplicates,
    "ssl.enabled.protocols": no_duplicates,
    # In Connect only: in a file, a factor beyond the range is limited to it (config/security/oauthbearer.py).
    "sasl.login.refresh.window.factor": between(0.5, 1.0).in_connect_only,
    "sasl.login.refresh.window.jitter": between(0.0, 0.25).in_connect_only,
    "sasl.login.refresh.min.period.seconds": between(0, 900).in_connect_only,
    "sasl.login.refresh.buffer.seconds": between(0, 3600).in_connect_only,
    "sasl.oauthbearer.assertion.algorithm": one_of_ignoring_case(
        "ES256", "RS256", expected="ES256 or RS256"
    ).in_connect_only,
    "sasl.oauthbearer.assertion.claim.exp.seconds": between(0, 86400).in_connect_only,
    "sasl.oauthbearer.assertion.claim.nbf.seconds": between(0, 3600).in_connect_only,
    "sasl.oauthbearer.expected.audience": no_duplicates,
}
_option = partial(Option, scope=Scope.CLIENT)


def _options() -> Iterator[Option]:
    families = (("ssl", _SSL), ("sasl", _SASL), ("sasl.oauthbearer", _OAUTHBEARER))
    for family, rows in families:
        for suffix, type_, default, importance, support, doc in rows:
            name = f"{family}.{suffix}"
            yield _option(
                name=name,
                type=type_,
                default=default,
                importance=importance,
                support=support,
                valid=_CHECKS.get(name),
                doc=doc,
            )


CLIENT_SECURITY = tuple(_options())
