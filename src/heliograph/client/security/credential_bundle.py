"""Packs cluster configurations for tasks on other machines, with the content of key and trust stores."""

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
    """Reads files once, and again after they were replaced."""

    def __init__(self) -> None:
        self._packed: dict[_Kept, Security] = {}
        self._stamps: dict[_Kept, Stamps] = {}
        self._used: set[_Kept] = set()

    def begin(self) -> None:
        """Start over: `stale` considers what is packed from now on."""
        self._used = set()

    def pack(self, cluster: ClusterConfig) -> ClusterConfig:
        """Leaves out the properties as written, which repeat all secrets."""
        return replace(
            cluster,
            properties=(),
            security=self._material(cluster, cluster.security),
            by_client=tuple(
                (kind, self._material(cluster, its)) for kind, its in cluster.by_client
            ),
        )

    def stale(self) -> bool:
        """Whether a packed file has changed since, or was created."""
        return any(stamps(kept[0]) != self._stamps[kept] for kept in self._used)

    def _material(self, cluster: ClusterConfig, security: Security) -> Security:
        """If files cannot be read: as read before, or else the paths, which may exist where a task runs."""
        kept = security, security.keys  # setting names differ, and errors show them
        found = stamps(security)
        self._used.add(kept)
        if self._stamps.get(kept) != found:
            self._stamps[kept] = found
            try:
                self._packed[kept] = shippable(security)
            except BadKeyMaterial as e:
                known = kept in self._packed
                instead = (
                    "using it as read before" if known else "tasks will try the path themselves"
                )
                log.warning("cluster %r: %s; %s", cluster.alias, e, instead)
        return self._packed.get(kept, security)


def carries_secrets(cluster: ClusterConfig) -> bool:
    """Whether a task needs secrets to reach the cluster."""
    return any(
        (security.sasl is not None and _is_secret(security.sasl.credentials))
        or (security.tls is not None and security.tls.keystore is not None)
        for security in (cluster.security, *dict(cluster.by_client).values())
    )


def _is_secret(credentials: Credentials) -> bool:
    """False for an identity that the executor has itself, and for a token's file, which the task reads."""
    match credentials:
        case AwsIam() | UnsecuredToken():
            return False
        case GivenToken(token=token):
            return token is not None
        case Kerberos(keytab=keytab):
            return keytab is not None
        case _:
            return True
