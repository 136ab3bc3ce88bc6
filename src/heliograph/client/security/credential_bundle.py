"""Clusters as tasks on other machines can reach them: what their files hold travels along."""

from __future__ import annotations

import logging
from dataclasses import replace

from heliograph.client.security.key_stores import Stamps, shippable, stamps
from heliograph.errors import BadKeyMaterial
from heliograph.model import ClusterConfig
from heliograph.security import (
    AwsIam,
    Credentials,
    GivenToken,
    Kerberos,
    Security,
    UnsecuredToken,
)

log = logging.getLogger(__name__)

_Kept = tuple[Security, tuple[tuple[str, str], ...]]


class CredentialBundle:
    """Files are read once, and again after they have been replaced."""

    def __init__(self) -> None:
        self._packed: dict[_Kept, Security] = {}
        self._stamps: dict[_Kept, Stamps] = {}
        self._used: set[_Kept] = set()

    def begin(self) -> None:
        """What is packed from now on is all that counts."""
        self._used = set()

    def pack(self, cluster: ClusterConfig) -> ClusterConfig:
        """Without the properties as written, which hold all secrets once more."""
        return replace(
            cluster,
            properties=(),
            security=self._material(cluster, cluster.security),
            by_client=tuple(
                (kind, self._material(cluster, its)) for kind, its in cluster.by_client
            ),
        )

    def stale(self) -> bool:
        """Whether a file has changed since it was packed, or come into being."""
        return any(stamps(kept[0]) != self._stamps[kept] for kept in self._used)

    def _material(self, cluster: ClusterConfig, security: Security) -> Security:
        """What cannot be read stays what it was; or a path, which may be there where a task runs."""
        kept = security, security.keys  # one that differs in names only is another to people
        found = stamps(security)
        self._used.add(kept)
        if self._stamps.get(kept) != found:
            self._stamps[kept] = found
            try:
                self._packed[kept] = shippable(security)
            except BadKeyMaterial as e:
                known = kept in self._packed
                instead = "what was read before serves on" if known else "tasks look where they run"
                log.warning("cluster %r: %s; %s", cluster.alias, e, instead)
        return self._packed.get(kept, security)


def carries_secrets(cluster: ClusterConfig) -> bool:
    """Whether a task that reaches it must be sent something that others must not have."""
    return any(
        (security.sasl is not None and _is_secret(security.sasl.credentials))
        or (security.tls is not None and security.tls.keystore is not None)
        for security in (cluster.security, *dict(cluster.by_client).values())
    )


def _is_secret(credentials: Credentials) -> bool:
    """Not an identity that the executor has itself, nor a token's file, which is read where a task runs."""
    match credentials:
        case AwsIam() | UnsecuredToken():
            return False
        case GivenToken(token=token):
            return token is not None
        case Kerberos(keytab=keytab):
            return keytab is not None
        case _:
            return True
