"""Reads how one client encrypts and logs in: `security.protocol`, `ssl.*` and `sasl.*`.

Mirrors `DefaultSslEngineFactory` and `ChannelBuilders` of Kafka. Files are not opened here: `client/` reads
them when it connects, so a file may appear or change later.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from heliograph.config.options import OPTIONS, Scope
from heliograph.config.options.values import PASSWORD, InvalidValue, parse_list
from heliograph.config.security.credentials import read_credentials
from heliograph.security import PLAINTEXT, Sasl, Secret, Security, Store, Tls

_TYPES = ("JKS", "PKCS12", "PEM")
_PROTOCOLS = ("TLSv1.2", "TLSv1.3")
_MECHANISMS = (
    "PLAIN",
    "SCRAM-SHA-256",
    "SCRAM-SHA-512",
    "OAUTHBEARER",
    "AWS_MSK_IAM",
    "GSSAPI",
)


class SecurityProblem(NamedTuple):
    """`sentence` completes "<setting>: …" and contains no value."""

    setting: str
    sentence: str

    def describe(self, key: str, found: str | None) -> str:
        """The sentence with the user's key, and with the value found, unless it is a secret."""
        is_secret = OPTIONS[Scope.CLIENT, self.setting].type is PASSWORD
        if found is None or is_secret or not self.sentence.startswith("expected"):
            return f"{key}: {self.sentence}"
        return f"{key}: {self.sentence}, found {found.strip()!r}"


def read_security(
    settings: Mapping[str, str], keys: Mapping[str, str] | None = None
) -> tuple[Security, list[SecurityProblem]]:
    """`settings` are in force for one client, without prefixes; `keys` are the user's keys, with prefixes."""
    reading = _Reading(settings)
    protocol = reading.text("security.protocol").upper()
    if protocol not in ("SSL", "SASL_PLAINTEXT", "SASL_SSL"):
        return PLAINTEXT, []  # a bad value was reported by value_problems
    security = Security(
        tls=reading.tls() if protocol.endswith("SSL") else None,
        sasl=reading.sasl(protocol) if protocol.startswith("SASL") else None,
        keys=tuple((keys or {}).items()),
    )
    return security, reading.problems


def without_effect(settings: Mapping[str, str]) -> list[SecurityProblem]:
    """Settings that have no effect with this `security.protocol`; MM2 gives no warning."""
    protocol = _Reading(settings).text("security.protocol").upper()
    unread = []
    if not protocol.endswith("SSL") and "ssl.truststore.location" in settings:
        unread.append("ssl.truststore.location")
    if not protocol.startswith("SASL") and "sasl.jaas.config" in settings:
        unread.append("sasl.jaas.config")
    return [
        SecurityProblem(name, f"has no effect: security.protocol is {protocol or 'PLAINTEXT'}")
        for name in unread
    ]


class _Reading:
    def __init__(self, settings: Mapping[str, str]) -> None:
        self._settings = settings
        self.problems: list[SecurityProblem] = []

    def text(self, name: str) -> str:
        default = OPTIONS[Scope.CLIENT, name].default or ""
        return self._settings.get(name, default).strip()

    # ── TLS ──────────────────────────────────────────────────────────────────────────────────

    def tls(self) -> Tls:
        return Tls(
            truststore=self._truststore(),
            keystore=self._keystore(),
            verify_host=self._verify_host(),
            protocols=self._protocols(),
            cipher_suites=parse_list(self.text("ssl.cipher.suites")),
        )

    def _truststore(self) -> Store | None:
        location = self.text("ssl.truststore.location")
        certificates = self.text("ssl.truststore.certificates")
        if not location and not certificates:
            return None
        self._one_of("ssl.truststore.certificates", certificates, location, "ssl.truststore")
        return Store(
            name="truststore",
            type=self._type("ssl.truststore", inline=bool(certificates)),
            location=location or None,
            password=self._secret("ssl.truststore.password"),
            certificates=self._secret("ssl.truststore.certificates"),
        )

    def _keystore(self) -> Store | None:
        location = self.text("ssl.keystore.location")
        chain, key = self.text("ssl.keystore.certificate.chain"), self.text("ssl.keystore.key")
        if not location and not chain and not key:
            return None
        if bool(chain) != bool(key):
            missing = "ssl.keystore.key" if chain else "ssl.keystore.certificate.chain"
            self._problem(missing, "missing; expected a key and its certificates, both as PEM")
        self._one_of("ssl.keystore.certificate.chain", chain, location, "ssl.keystore")
        return Store(
            name="keystore",
            type=self._type("ssl.keystore", inline=bool(chain)),
            location=location or None,
            password=self._secret("ssl.keystore.password"),
            key_password=self._secret("ssl.key.password"),
            certificates=self._secret("ssl.keystore.certificate.chain"),
            key=self._secret("ssl.keystore.key"),
        )

    def _one_of(self, inline: str, given: str, location: str, store: str) -> None:
        if given and location:
            self._problem(inline, f"expected either this or {store}.location, found both")

    def _type(self, store: str, *, inline: bool) -> str:
        name = f"{store}.type"
        found = self.text(name).upper()
        if found not in _TYPES:
            self._problem(name, f"expected {', '.join(_TYPES[:-1])} or PEM")
        elif inline and found != "PEM":
            self._problem(
                name, "expected PEM, since the certificates are in the configuration itself"
            )
        elif found == "PEM" and self.text(f"{store}.password"):
            remedy = (
                "; set ssl.key.password for the key"
                if store == "ssl.keystore"
                else "; leave it out"
            )
            self._problem(f"{store}.password", f"not allowed: a PEM store has no password{remedy}")
        return found

    def _verify_host(self) -> bool:
        name = "ssl.endpoint.identification.algorithm"
        found = self.text(name)
        if found.lower() not in ("https", ""):
            self._problem(name, "expected https, or an empty value to accept any host name")
        return bool(found)

    def _protocols(self) -> tuple[str, ...]:
        """`ssl.protocol=TLSv1.2` without ssl.enabled.protocols excludes TLSv1.3; in Java it does not."""
        name = "ssl.enabled.protocols"
        if name not in self._settings and self.text("ssl.protocol") == "TLSv1.2":
            return ("TLSv1.2",)
        wanted = parse_list(self.text(name))
        known = tuple(each for each in _PROTOCOLS if each in wanted)
        if not known:
            self._problem(name, f"expected {' or '.join(_PROTOCOLS)}")
        return known or _PROTOCOLS

    # ── SASL ─────────────────────────────────────────────────────────────────────────────────

    def sasl(self, protocol: str) -> Sasl | None:
        mechanism = self.text("sasl.mechanism")
        if mechanism not in _MECHANISMS:
            self._problem("sasl.mechanism", f"expected one of {', '.join(_MECHANISMS)}")
            return None
        if mechanism == "AWS_MSK_IAM" and protocol != "SASL_SSL":
            self._problem("security.protocol", "expected SASL_SSL, since AWS_MSK_IAM requires TLS")
        try:
            return Sasl(
                mechanism=mechanism, credentials=read_credentials(mechanism, self._settings)
            )
        except InvalidValue as invalid:
            setting, _, expected = invalid.expected.partition(": ")
            self._problem(setting, expected)
            return None

    def _secret(self, name: str) -> Secret | None:
        text = self.text(name)
        return Secret(text) if text else None

    def _problem(self, setting: str, sentence: str) -> None:
        self.problems.append(SecurityProblem(setting, sentence))
