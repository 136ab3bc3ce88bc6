"""What `heliograph init` asks for, as values; imports nothing heavy, so that `--help` is fast."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class Protocol(StrEnum):
    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"

    @property
    def has_tls(self) -> bool:
        return self.value.endswith("SSL")

    @property
    def has_login(self) -> bool:
        return self.value.startswith("SASL")


class Mechanism(StrEnum):
    PLAIN = "PLAIN"
    SCRAM_256 = "SCRAM-SHA-256"
    SCRAM_512 = "SCRAM-SHA-512"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCluster:
    """`password`: None for a placeholder that reads it from the environment."""

    alias: str
    servers: str
    protocol: Protocol = Protocol.PLAINTEXT
    mechanism: Mechanism = Mechanism.PLAIN
    user: str = ""
    password: str | None = None
    truststore: str = ""

    def variable(self, what: str) -> str:
        """Of the environment: EU_WEST_PASSWORD for the alias eu-west."""
        return "".join(c if c.isalnum() else "_" for c in self.alias).upper() + f"_{what}"

    @property
    def trusts_pem(self) -> bool:
        return self.truststore.lower().endswith((".pem", ".crt", ".cer"))

    @property
    def variables(self) -> Iterator[str]:
        if self.protocol.has_login and not self.password:
            yield self.variable("PASSWORD")
        if self.protocol.has_tls and self.truststore and not self.trusts_pem:
            yield self.variable("TRUSTSTORE_PASSWORD")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMirror:
    source: NewCluster
    target: NewCluster
    topics: str = ".*"
    groups: str = ".*"
    both_ways: bool = False
    replication_factor: int = -1

    @property
    def variables(self) -> tuple[str, ...]:
        """Variables of the environment that the file reads."""
        found = (name for each in (self.source, self.target) for name in each.variables)
        return tuple(dict.fromkeys(found))

    @property
    def has_secrets(self) -> bool:
        return any(each.protocol.has_login and each.password for each in (self.source, self.target))
