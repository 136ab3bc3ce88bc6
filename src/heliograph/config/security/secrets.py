"""Finds the settings of a connector that may be secrets, and hides their values.

Connect returns configurations in clear text. Here a secret is shown as [hidden], as in Kafka's logs. Scripts
read a configuration, change it and send it back, so HIDDEN in a request means: keep the stored value. A
secret that the sender did not send is not kept if the request changes the server that receives it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from heliograph.config.options import OPTIONS
from heliograph.config.options.kafka_clients import SECURITY_FAMILIES
from heliograph.security import JAAS

HIDDEN = "[hidden]"

_PASSWORDS = tuple(
    sorted({option.name for option in OPTIONS.values() if option.type.name == "PASSWORD"})
)
#: Names that are never printed, also of settings of users' own classes.
_LOOKS_SECRET = re.compile(
    r"(?:^|[._-])(?:password|passwd|passphrase|secret|token|credentials?|api[._-]?key|private[._-]?key)$",
    re.IGNORECASE,
)
#: A placeholder is not a secret; its value is never stored.
_REFERENCE = re.compile(r"\$\{[^}]*\}")

_CLIENT_FAMILIES = (*SECURITY_FAMILIES, "bootstrap.")
#: Secrets of a client that decide which certificates it trusts.
_TRUST = "ssl.truststore.certificates"
#: Endings of login settings that only concern timing.
_TIMING = (".ms", ".seconds", ".factor", ".jitter")
_ADDRESSES = ("url", "uri", "host", "hostname", "endpoint", "address", "servers")


def is_secret(name: str, value: str | None) -> bool:
    """Whether the setting may hold a secret, under any prefix (`source.cluster.ssl.key.password`)."""
    if value is None or not value or _REFERENCE.fullmatch(value.strip()):
        return False
    return _LOOKS_SECRET.search(name) is not None or any(
        name == password or name.endswith("." + password) for password in _PASSWORDS
    )


def hidden(config: Mapping[str, str]) -> dict[str, str]:
    """The configuration with its secrets hidden."""
    return {name: HIDDEN if is_secret(name, value) else value for name, value in config.items()}


def restored(config: Mapping[str, str | None], stored: Mapping[str, str]) -> dict[str, str | None]:
    """A configuration that was sent, with the stored value wherever it has HIDDEN."""
    return {
        name: stored[name] if value == HIDDEN and name in stored else value
        for name, value in config.items()
    }


def still_hidden(config: Mapping[str, str | None]) -> list[str]:
    """Settings that were sent as HIDDEN, but have no stored value."""
    return [name for name, value in config.items() if value == HIDDEN]


def led_elsewhere(
    sent: Mapping[str, str | None], merged: Mapping[str, str | None], stored: Mapping[str, str]
) -> tuple[str, str] | None:
    """A stored secret that `merged` keeps although `sent` does not contain it, and a changed setting that
    would send it to another server; None: there is no such pair."""
    kept = {
        (
            _is_client(name),
            _sides(name),
            "sasl." in name,
        ): name  # _leads depends on these three only, so one secret of each kind is enough
        for name, value in merged.items()
        if is_secret(name, value) and sent.get(name, HIDDEN) == HIDDEN
    }
    changed = [
        name
        for name in dict.fromkeys([*merged, *stored])
        if _plain(merged.get(name)) != _plain(stored.get(name))
    ]
    return next(
        ((secret, name) for secret in kept.values() for name in changed if _leads(name, secret)),
        None,
    )


def _plain(value: str | None) -> str | None:
    return None if value is None else value.strip()


def _leads(name: str, secret: str) -> bool:
    """Whether the setting decides which server receives the secret."""
    if not _is_client(secret) or not _is_client(name):
        ending = name.rpartition(".")[2].lower()
        return not _is_client(secret) and not _is_client(name) and ending in _ADDRESSES
    if not _sides(name) & _sides(secret):
        return False
    if name == JAAS or name.endswith(
        f".{JAAS}"
    ):  # may name a token endpoint, which receives other secrets
        return "sasl." in secret
    if is_secret(name, "any"):
        return name.endswith(_TRUST)
    return not name.endswith(_TIMING)


def _is_client(name: str) -> bool:
    """Whether it is a client's address or login, under any prefix."""
    return any(name.startswith(each) or f".{each}" in name for each in _CLIENT_FAMILIES)


def _sides(name: str) -> frozenset[str]:
    side = name.partition(".")[0]
    return frozenset({side} if side in ("source", "target") else {"source", "target"})
