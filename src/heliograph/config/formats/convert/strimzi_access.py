"""Translates Kafka's settings of logins into fields of a `KafkaMirrorMaker2`: tls and authentication.

The reverse of `strimzi_clusters.py`. Logins without a field become authentication of type custom. A
truststore that is not in a Secret cannot be expressed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from heliograph.config.formats.strimzi_clusters import ALLOWED, PROVIDER
from heliograph.config.options.kafka_clients import is_security

_SECRET = re.compile(rf"\$\{{{PROVIDER}:(?:[^}}:]*/)?(?P<secret>[^}}:/]+):(?P<key>[^}}]+)\}}")
_PASSWORD = re.compile(
    r'\S+(?:Plain|Scram)LoginModule required username="(?P<user>[^"]*)" password="(?P<password>[^"]*)";'
)
_TYPES = {
    "PLAIN": "plain",
    "SCRAM-SHA-256": "scram-sha-256",
    "SCRAM-SHA-512": "scram-sha-512",
}


def access_fields(settings: Mapping[str, str], subject: str, notes: list[str]) -> dict[str, Any]:
    """`tls` and `authentication`, if any; settings that have no field get a note."""
    left = {name: value for name, value in settings.items() if is_security(name)}
    protocol = left.pop("security.protocol", "PLAINTEXT").strip().upper()
    fields: dict[str, Any] = {}
    if protocol.endswith("SSL"):
        fields["tls"] = _tls(left)
    sasl = protocol.startswith("SASL")
    authentication = (_password(left) if sasl else _certificate(left)) or _custom(left, sasl=sasl)
    if authentication:
        fields["authentication"] = authentication
    for name in ALLOWED:
        left.pop(name, None)
    notes += [
        f"{subject}: {name}: left out; put it into a Secret and name that in tls.trustedCertificates"
        if "truststore" in name
        else f"{subject}: {name}: left out; Strimzi has no field for it"
        for name in left
    ]
    return fields


def _tls(left: dict[str, str]) -> dict[str, Any]:
    """Removes from `left` what it expresses."""
    certificates = [
        _secret(line) for line in left.get("ssl.truststore.certificates", "").splitlines()
    ]
    found = [each for each in certificates if each is not None]
    if not found or len(found) < len(certificates):
        return {}
    del left["ssl.truststore.certificates"]
    left.pop("ssl.truststore.type", None)
    return {
        "trustedCertificates": [
            {"secretName": secret, "pattern" if "*" in key else "certificate": key}
            for secret, key in found
        ]
    }


def _password(left: dict[str, str]) -> dict[str, Any] | None:
    kind = _TYPES.get(left.get("sasl.mechanism", "").strip().upper())
    line = _PASSWORD.fullmatch(left.get("sasl.jaas.config", "").strip())
    secret = _secret(line["password"]) if line else None
    if kind is None or line is None or secret is None:
        return None
    del left["sasl.mechanism"], left["sasl.jaas.config"]
    return {
        "type": kind,
        "username": line["user"],
        "passwordSecret": {"secretName": secret[0], "password": secret[1]},
    }


def _certificate(left: dict[str, str]) -> dict[str, Any] | None:
    chain = _secret(left.get("ssl.keystore.certificate.chain", ""))
    key = _secret(left.get("ssl.keystore.key", ""))
    if chain is None or key is None or chain[0] != key[0]:
        return None
    for name in ("type", "certificate.chain", "key"):
        left.pop(f"ssl.keystore.{name}", None)
    return {
        "type": "tls",
        "certificateAndKey": {"secretName": chain[0], "certificate": chain[1], "key": key[1]},
    }


def _custom(left: dict[str, str], *, sasl: bool) -> dict[str, Any] | None:
    config = {n: v for n, v in left.items() if n.startswith(("sasl.", "ssl.keystore."))}
    for name in config:
        del left[name]
    if not config and not sasl:
        return None
    return {"type": "custom", "sasl": sasl, "config": config}


def _secret(text: str) -> tuple[str, str] | None:
    match = _SECRET.fullmatch(text.strip())
    return (match["secret"], match["key"]) if match else None
