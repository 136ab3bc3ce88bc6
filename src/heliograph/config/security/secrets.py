"""Which settings of a connector may hold a secret, and how one is shown.

Connect itself hands configurations out in clear. Here a secret is shown as Kafka's logs show it. Scripts
read a configuration, change it and send it back, so that HIDDEN in a request means: as it was. But a secret
that the sender need not know is not kept while the sender changes where it goes.
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
#: Names of settings that are never printed, of users' own classes, too.
_LOOKS_SECRET = re.compile(
    r"(?:^|[._-])(?:password|passwd|passphrase|secret|token|credentials?|api[._-]?key|private[._-]?key)$",
    re.IGNORECASE,
)
#: A reference to a config provider is no secret, and what it stands for is never stored.
_REFERENCE = re.compile(r"\$\{[^}]*\}")

_CLIENT_FAMILIES = (*SECURITY_FAMILIES, "bootstrap.")
#: Secrets of a client that decide which certificates it trusts.
_TRUST = "ssl.truststore.certificates"
#: Settings of a login that only say when.
_TIMING = (".ms", ".seconds", ".factor", ".jitter")
_ADDRESSES = ("url", "uri", "host", "hostname", "endpoint", "address", "servers")


def is_secret(name: str, value: str | None) -> bool:
    """Settings of any client, under any prefix (`source.cluster.ssl.key.password`)."""
    if value is None or not value or _REFERENCE.fullmatch(value.strip()):
        return False
    return _LOOKS_SECRET.search(name) is not None or any(
        name == password or name.endswith("." + password) for password in _PASSWORDS
    )


def hidden(config: Mapping[str, str]) -> dict[str, str]:
    """A configuration to show."""
    return {name: HIDDEN if is_secret(name, value) else value for name, value in config.items()}


def restored(config: Mapping[str, str | None], stored: Mapping[str, str]) -> dict[str, str | None]:
    """A configuration that was sent, with the stored value wherever it shows a hidden one."""
    return {
        name: stored[name] if value == HIDDEN and name in stored else value
        for name, value in config.items()
    }


def still_hidden(config: Mapping[str, str | None]) -> list[str]:
    """Settings that were sent as HIDDEN although nothing is stored for them."""
    return [name for name, value in config.items() if value == HIDDEN]


def led_elsewhere(
    sent: Mapping[str, str | None], merged: Mapping[str, str | None], stored: Mapping[str, str]
) -> tuple[str, str] | None:
    """A stored secret that `merged` would keep although `sent` does not show it, and a setting that changes
    which server it is sent to; None if there are none."""
    kept = {
        (
            _is_client(name),
            _sides(name),
            "sasl." in name,
        ): name  # all that _leads asks; one stands for each
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
    """Whether the setting says where the secret goes."""
    if not _is_client(secret) or not _is_client(name):
        ending = name.rpartition(".")[2].lower()
        return not _is_client(secret) and not _is_client(name) and ending in _ADDRESSES
    if not _sides(name) & _sides(secret):
        return False
    if name == JAAS or name.endswith(f".{JAAS}"):  # may name an endpoint, for secrets beside it
        return "sasl." in secret
    if is_secret(name, "any"):
        return name.endswith(_TRUST)
    return not name.endswith(_TIMING)


def _is_client(name: str) -> bool:
    """A client's address or login, under any prefix."""
    return any(name.startswith(each) or f".{each}" in name for each in _CLIENT_FAMILIES)


def _sides(name: str) -> frozenset[str]:
    side = name.partition(".")[0]
    return frozenset({side} if side in ("source", "target") else {"source", "target"})
