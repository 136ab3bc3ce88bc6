"""Describes the client listeners of an embedded broker, and turns them into broker properties.

Every broker has two more listeners, INTERNAL (between brokers) and CONTROLLER, both PLAINTEXT on 127.0.0.1:
the brokers need no credentials for each other, whatever a client listener requires.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from heliograph.errors import ConfigError


class SecurityProtocol(StrEnum):
    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"

    @property
    def sasl(self) -> bool:
        return self.value.startswith("SASL_")

    @property
    def tls(self) -> bool:
        return self.value.endswith("SSL")


SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")
_LOGIN_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
    # Unsecured tokens (no signature): what Kafka's default callback handlers use.
    "OAUTHBEARER": "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """PEM files: `keystore` holds a PKCS #8 key followed by its certificate chain."""

    keystore: Path
    truststore: Path | None = None
    client_auth: str = "none"  # none | requested | required


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """A listener for clients. SCRAM users are written into the metadata when it is formatted.

    `advertised_ports`: a port per node, where clients connect through a proxy. `ports`: a port per node to
    listen on, where a login contains the address; default: free ports. `host`: the address of this machine to
    listen on and to advertise; containers cannot reach the default.
    """

    name: str = "CLIENT"
    protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    mechanisms: tuple[str, ...] = ()
    users: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    tls: Tls | None = None
    advertised_ports: tuple[int, ...] = ()
    ports: tuple[int, ...] = ()
    host: str = "127.0.0.1"

    def __post_init__(self) -> None:
        problems = []
        if self.name in ("INTERNAL", "CONTROLLER") or not self.name.isalnum():
            problems.append(f"listener {self.name!r}: the name is reserved, or not alphanumeric")
        if self.protocol.sasl != bool(self.mechanisms):
            problems.append(
                f"listener {self.name}: SASL protocols need mechanisms and others have none, "
                f"found {self.protocol} with {list(self.mechanisms)}"
            )
        if self.protocol.tls != (self.tls is not None):
            problems.append(
                f"listener {self.name}: SSL protocols need TLS files and others have none, "
                f"found {self.protocol} {'without' if self.tls is None else 'with'} them"
            )
        problems += [
            f"listener {self.name}: mechanism {mechanism!r} is not one of {', '.join(_LOGIN_MODULES)}"
            for mechanism in self.mechanisms
            if mechanism not in _LOGIN_MODULES
        ]
        if problems:
            raise ConfigError(problems)

    def properties(self) -> dict[str, str]:
        """The broker properties of this listener, all under its own `listener.name.` prefix."""
        prefix = f"listener.name.{self.name.lower()}."
        found: dict[str, str] = {}
        if self.mechanisms:
            found["sasl.enabled.mechanisms"] = ",".join(self.mechanisms)
        for mechanism in self.mechanisms:
            found[f"{mechanism.lower()}.sasl.jaas.config"] = self._jaas(mechanism)
        if self.tls is not None:
            found["ssl.keystore.type"] = "PEM"
            found["ssl.keystore.location"] = str(self.tls.keystore.absolute())
            found["ssl.client.auth"] = self.tls.client_auth
            if self.tls.truststore is not None:
                found["ssl.truststore.type"] = "PEM"
                found["ssl.truststore.location"] = str(self.tls.truststore.absolute())
        return {prefix + key: value for key, value in found.items()}

    def scram_credentials(self) -> list[str]:
        """Arguments of `kafka-storage format --add-scram`, one per user and mechanism."""
        return [
            f"{mechanism}=[name={user},password={password}]"
            for mechanism in self.mechanisms
            if mechanism in SCRAM
            for user, password in self.users.items()
        ]

    def _jaas(self, mechanism: str) -> str:
        options = ""
        if mechanism == "PLAIN":
            options = "".join(
                f' user_{user}="{_quoted(password)}"' for user, password in self.users.items()
            )
        return f"{_LOGIN_MODULES[mechanism]} required{options};"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
