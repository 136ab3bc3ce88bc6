"""Translates a cluster of a `KafkaMirrorMaker2` into Kafka's settings: address, tls, authentication, config.

Mirrors `KafkaMirrorMaker2Connectors.addClusterToMirrorMaker2ConnectorConfig` of Strimzi 1.x, and of 0.4x
for OAuth. Secrets stay placeholders, ${strimzisecrets:<namespace>/<secret>:<key>}, as in Strimzi.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from heliograph.config.formats.properties import Property
from heliograph.config.formats.text.node import Document, Node
from heliograph.config.resolve.near_match import did_you_mean

PROVIDER = "strimzisecrets"
PROVIDER_CLASS = "io.strimzi.kafka.KubernetesSecretConfigProvider"

_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
_OAUTH = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
_OAUTH_HANDLER = "io.strimzi.kafka.oauth.client.JaasClientOauthLoginCallbackHandler"
_FIELDS = frozenset({"alias", "bootstrapServers", "tls", "authentication", "config"})
TARGET_FIELDS = _FIELDS | {
    "groupId",
    "configStorageTopic",
    "offsetStorageTopic",
    "statusStorageTopic",
}
#: `KafkaMirrorMaker2ClusterSpec.FORBIDDEN_PREFIXES` and exceptions: Strimzi ignores these settings.
FORBIDDEN = (
    "ssl.",
    "sasl.",
    "security.",
    "listeners",
    "plugin.path",
    "rest.",
    "bootstrap.servers",
    "consumer.interceptor.classes",
    "producer.interceptor.classes",
)
ALLOWED = (
    "ssl.endpoint.identification.algorithm",
    "ssl.cipher.suites",
    "ssl.protocol",
    "ssl.enabled.protocols",
)
_CUSTOM = ("ssl.keystore.", "sasl.")
#: Options of OAuth's JAAS line that are plain values, by Strimzi's field.
_OAUTH_VALUES = {
    "clientId": "oauth.client.id",
    "username": "oauth.password.grant.username",
    "tokenEndpointUri": "oauth.token.endpoint.uri",
    "scope": "oauth.scope",
    "audience": "oauth.audience",
    "accessTokenLocation": "oauth.access.token.location",
    "clientAssertionLocation": "oauth.client.assertion.location",
    "clientAssertionType": "oauth.client.assertion.type",
    "maxTokenExpirySeconds": "oauth.max.token.expiry.seconds",
    "connectTimeoutSeconds": "oauth.connect.timeout.seconds",
    "readTimeoutSeconds": "oauth.read.timeout.seconds",
    "httpRetries": "oauth.http.retries",
    "httpRetryPauseMs": "oauth.http.retry.pause.millis",
}
_OAUTH_SECRETS = {
    "clientSecret": ("oauth.client.secret", "key"),
    "accessToken": ("oauth.access.token", "key"),
    "refreshToken": ("oauth.refresh.token", "key"),
    "passwordSecret": ("oauth.password.grant.password", "password"),
    "clientAssertion": ("oauth.client.assertion", "key"),
}

Settings = dict[str, Property]


@dataclass(slots=True)
class StrimziClusters:
    """Reads clusters of one resource; collects problems and warnings."""

    document: Document
    namespace: str
    problems: list[str]
    warnings: list[str]

    def alias(self, node: Node, path: str) -> str:
        fields = self.document.mapping(node, path)
        return self.text(fields, "alias", path, node)

    def access(self, node: Node, path: str) -> Settings:
        """How to reach the cluster: bootstrap.servers, and the settings for tls and authentication."""
        fields = self.document.mapping(node, path)
        servers = self.text(fields, "bootstrapServers", path, node)
        place = fields.get("bootstrapServers", node)
        found = {"bootstrap.servers": Property(servers, place.line)}
        protocol = "PLAINTEXT"
        line = place.line
        if (tls := _set(fields, "tls")) is not None:
            protocol, line = "SSL", tls.line
            found |= self._trust(tls, f"{path}.tls")
        if (authentication := _set(fields, "authentication")) is not None:
            its, sasl = self._authentication(authentication, f"{path}.authentication")
            found |= its
            if sasl:
                protocol = "SASL_SSL" if protocol == "SSL" else "SASL_PLAINTEXT"
                line = authentication.line
        found["security.protocol"] = Property(protocol, line)
        return found

    def config(self, node: Node, path: str, also: tuple[str, ...] = ()) -> Settings:
        """`config` of a cluster without the settings that Strimzi ignores, and without `also`."""
        fields = self.document.mapping(node, path)
        if (config := _set(fields, "config")) is None:
            return {}
        found = {}
        for name, value in self.settings(config, f"{path}.config"):
            if name.startswith(FORBIDDEN) and name not in ALLOWED:
                self.warnings.append(
                    f"{path}.config.{name}: has no effect: Strimzi ignores it; write tls or "
                    f"authentication ({self.document.at(value)})"
                )
            elif name not in also:
                found[name] = Property(
                    self.document.setting(value, f"{path}.config.{name}"), value.line
                )
        return found

    def settings(self, config: Node, path: str) -> Iterator[tuple[str, Node]]:
        """The settings of a `config`. One without a value (null) is not set, rather than empty."""
        for name, value in self.document.mapping(config, path).items():
            if value.value is not None:
                yield name, value
            else:
                self.warnings.append(
                    f"{path}.{name}: has no value, so that its default applies ({self.document.at(value)})"
                )

    def check(self, node: Node, path: str, known: frozenset[str] = _FIELDS) -> None:
        self.unknown(self.document.mapping(node, path), path, known)

    def unknown(self, fields: Mapping[str, Node], path: str, known: frozenset[str]) -> None:
        self.warnings += [
            f"{path}.{name}: unknown field, ignored{did_you_mean(name, known)} ({self.document.at(each)})"
            for name, each in fields.items()
            if name not in known
        ]

    def text(self, fields: Mapping[str, Node], name: str, path: str, at: Node) -> str:
        node = _set(fields, name)
        if node is None:
            self.problems.append(f"{path}.{name}: missing ({self.document.at(at)})")
            return ""
        return self.document.setting(node, f"{path}.{name}")

    # ── tls and authentication ───────────────────────────────────────────────────────────────

    def _trust(self, node: Node, path: str) -> Settings:
        certificates = self._certificates(
            self.document.mapping(node, path), "trustedCertificates", path
        )
        if not certificates:
            return {}
        return {
            "ssl.truststore.type": Property("PEM", node.line),
            "ssl.truststore.certificates": Property("\n".join(certificates), node.line),
        }

    def _certificates(self, fields: Mapping[str, Node], name: str, path: str) -> list[str]:
        node = _set(fields, name)
        if node is None:
            return []
        return [
            self._secret(
                each,
                at,
                "pattern" if _has(self.document.mapping(each, at), "pattern") else "certificate",
            )
            for at, each in self.document.items(node, f"{path}.{name}")
        ]

    def _authentication(self, node: Node, path: str) -> tuple[Settings, bool]:
        """The settings, and whether they use SASL."""
        fields = self.document.mapping(node, path)
        kind = self.text(fields, "type", path, node)
        readers: dict[str, Callable[[Mapping[str, Node], str, Node], Settings]] = {
            "tls": self._tls,
            "plain": lambda f, p, n: self._password(f, p, n, "PLAIN", _PLAIN),
            "scram-sha-256": lambda f, p, n: self._password(f, p, n, "SCRAM-SHA-256", _SCRAM),
            "scram-sha-512": lambda f, p, n: self._password(f, p, n, "SCRAM-SHA-512", _SCRAM),
            "oauth": self._oauth,
            "custom": self._custom,
        }
        if kind not in readers:
            if kind:
                self.problems.append(
                    f"{path}.type: expected {', '.join(readers)}, found {kind!r} "
                    f"({self.document.at(fields['type'])})"
                )
            return {}, False
        sasl = kind != "tls" and (kind != "custom" or _is_true(fields, "sasl"))
        return readers[kind](fields, path, node), sasl

    def _tls(self, fields: Mapping[str, Node], path: str, node: Node) -> Settings:
        self.unknown(fields, path, frozenset({"type", "certificateAndKey"}))
        pair = _set(fields, "certificateAndKey")
        if pair is None:
            self.problems.append(f"{path}.certificateAndKey: missing ({self.document.at(node)})")
            return {}
        at = f"{path}.certificateAndKey"
        return {
            "ssl.keystore.type": Property("PEM", node.line),
            "ssl.keystore.certificate.chain": Property(
                self._secret(pair, at, "certificate"), pair.line
            ),
            "ssl.keystore.key": Property(self._secret(pair, at, "key"), pair.line),
        }

    def _password(
        self, fields: Mapping[str, Node], path: str, node: Node, mechanism: str, module: str
    ) -> Settings:
        self.unknown(fields, path, frozenset({"type", "username", "passwordSecret"}))
        options = {"username": self.text(fields, "username", path, node)}
        secret = _set(fields, "passwordSecret")
        if secret is None:
            self.problems.append(f"{path}.passwordSecret: missing ({self.document.at(node)})")
        else:
            options["password"] = self._secret(secret, f"{path}.passwordSecret", "password")
        return _sasl(mechanism, module, options, node.line)

    def _oauth(self, fields: Mapping[str, Node], path: str, node: Node) -> Settings:
        others = {
            "type",
            "tlsTrustedCertificates",
            "disableTlsHostnameVerification",
            "saslExtensions",
            "accessTokenIsJwt",
            "enableMetrics",
            "includeAcceptHeader",
            "grantType",
        }
        self.unknown(fields, path, frozenset(others | _OAUTH_VALUES.keys() | _OAUTH_SECRETS.keys()))
        options = {
            option: self.document.setting(each, f"{path}.{name}")
            for name, option in _OAUTH_VALUES.items()
            if (each := _set(fields, name)) is not None
        }
        for name, (option, key) in _OAUTH_SECRETS.items():
            if (secret := _set(fields, name)) is not None:
                options[option] = self._secret(secret, f"{path}.{name}", key)
        if certificates := self._certificates(fields, "tlsTrustedCertificates", path):
            options["oauth.ssl.truststore.type"] = "PEM"
            options["oauth.ssl.truststore.certificates"] = "\n".join(certificates)
        if _is_true(fields, "disableTlsHostnameVerification"):
            options["oauth.ssl.endpoint.identification.algorithm"] = ""
        if (extensions := _set(fields, "saslExtensions")) is not None:
            for name, each in self.document.mapping(extensions, f"{path}.saslExtensions").items():
                options[f"oauth.sasl.extension.{name}"] = self.document.setting(each, name)
        handler = {"sasl.login.callback.handler.class": Property(_OAUTH_HANDLER, node.line)}
        return _sasl("OAUTHBEARER", _OAUTH, options, node.line) | handler

    def _custom(self, fields: Mapping[str, Node], path: str, node: Node) -> Settings:
        self.unknown(fields, path, frozenset({"type", "sasl", "config"}))
        config = _set(fields, "config")
        found = {}
        if config is not None:
            for name, each in self.settings(config, f"{path}.config"):
                if name.startswith(_CUSTOM):
                    value = self.document.setting(each, f"{path}.config.{name}")
                    found[name] = Property(value, each.line)
                else:
                    self.warnings.append(
                        f"{path}.config.{name}: has no effect: Strimzi reads only {' and '.join(_CUSTOM)}… "
                        f"here ({self.document.at(each)})"
                    )
        return found

    def _secret(self, node: Node, path: str, key: str) -> str:
        """The placeholder of one key of a Secret."""
        fields = self.document.mapping(node, path)
        name = self.text(fields, "secretName", path, node)
        namespace = f"{self.namespace}/" if self.namespace else ""
        return f"${{{PROVIDER}:{namespace}{name}:{self.text(fields, key, path, node)}}}"


def _sasl(mechanism: str, module: str, options: Mapping[str, str], line: int) -> Settings:
    """`AuthenticationUtils.jaasConfig`."""
    words = " ".join(f'{name}="{value}"' for name, value in options.items())
    return {
        "sasl.mechanism": Property(mechanism, line),
        "sasl.jaas.config": Property(f"{module} required {words};", line),
    }


def _set(fields: Mapping[str, Node], name: str) -> Node | None:
    node = fields.get(name)
    return None if node is None or node.value is None else node


def _has(fields: Mapping[str, Node], name: str) -> bool:
    return _set(fields, name) is not None


def _is_true(fields: Mapping[str, Node], name: str) -> bool:
    node = _set(fields, name)
    return node is not None and node.text.lower() == "true"
