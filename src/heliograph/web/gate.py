"""Checks login and role of a request by its head, before its body is read."""

from __future__ import annotations

import asyncio
import base64
import binascii
import logging
import math
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from heliograph.client.net.log_throttle import LogThrottle
from heliograph.config.connectors.rest import RestConfig
from heliograph.config.security.rest_users import CertificateRoles, User
from heliograph.config.security.role import Role
from heliograph.web.exchange import Refused
from heliograph.web.listener.attempts import SECONDS_EACH, Attempts
from heliograph.web.listener.protocol import Peer
from heliograph.web.passwords import Passwords

_log = logging.getLogger(__name__)

#: Each check takes 19 MB and one core for about 20 ms.
_CHECKS_AT_A_TIME = 2
_CHECKS_WAITING = 50
_LONGEST_NAME = 60


class Admitted(NamedTuple):
    """The name of the user, "-" if no login is required, and whether the user may change anything."""

    name: str
    may_write: bool


class Gate:
    """`admit` is called for every request, on one event loop; passwords are checked on threads of their
    own."""

    def __init__(
        self, users: Mapping[str, User] | None, certificates: CertificateRoles | None
    ) -> None:
        self._users = users
        self._certificates = certificates
        self._passwords = None if users is None else Passwords(users)
        self._attempts = Attempts()
        self._repeats = LogThrottle()
        self._checks = ThreadPoolExecutor(_CHECKS_AT_A_TIME, thread_name_prefix="rest-password")
        self._waiting = 0

    @classmethod
    def of(cls, config: RestConfig) -> Gate:
        return cls(config.users, config.certificate_roles)

    def close(self) -> None:
        self._checks.shutdown(wait=False, cancel_futures=True)

    async def admit(self, method: str, headers: Mapping[str, str], peer: Peer) -> Admitted:
        """Raises Refused (401, 403, 429)."""
        if self._users is None and self._certificates is None:
            return Admitted("-", may_write=True)
        header = headers.get("authorization", "")
        if self._passwords is not None and (header or peer.subject is None):
            name, role = await self._by_password(header, peer)
        else:
            name, role = self._by_certificate(peer)
        if not role.allows(method):
            _log.warning("403 for %s from %s: %s needs the role write", name, peer.address, method)
            raise Refused(403, f"User {name} has the role {role}; {method} needs the role write.")
        return Admitted(name, may_write=role is Role.WRITE)

    def _by_certificate(self, peer: Peer) -> tuple[str, Role]:
        name = peer.subject
        if name is None:
            raise self._unknown(
                peer, 403, "no client certificate", "A client certificate is needed."
            )
        role = None
        if self._certificates is not None:
            role = self._certificates.role(name, peer.common_name)
        if role is not None:
            return shown(name), role
        if self._users is not None:
            raise self._unknown(peer, 401, "no password", "User cannot access the resource.")
        sentence = f"Certificate {name} has no role."
        raise self._unknown(
            peer, 403, f"certificate {shown(name)} is not in rest.certificate.roles", sentence
        )

    async def _by_password(self, header: str, peer: Peer) -> tuple[str, Role]:
        assert self._users is not None
        credentials = _credentials(header)
        if credentials is None:
            raise self._unknown(peer, 401, "no password", "User cannot access the resource.")
        name, password = credentials
        if not await self._right(name, password, peer):
            _log.warning(
                "401 for user %s from %s: unknown user or wrong password", shown(name), peer.address
            )
            raise Refused(401, "User cannot access the resource.")
        return shown(name), self._users[name].role

    async def _right(self, name: str, password: str, peer: Peer) -> bool:
        assert self._passwords is not None
        if self._passwords.remembers(name, password):
            return True
        wait = self._attempts.take(peer.address)
        if wait > 0 or self._waiting >= _CHECKS_WAITING:
            why = (
                "too many wrong passwords"
                if wait > 0
                else "too many passwords waiting to be checked"
            )
            raise self._unknown(
                peer, 429, why, f"Too many logins; try again in {math.ceil(wait) or 1} s."
            )
        self._waiting += 1
        try:
            right = await asyncio.get_running_loop().run_in_executor(
                self._checks, self._passwords.right, name, password
            )
        finally:
            self._waiting -= 1
        if right:
            self._attempts.give_back(peer.address)
        return right

    def _unknown(self, peer: Peer, status: int, why: str, sentence: str) -> Refused:
        """Requests without a password, such as probes, may be frequent: the log line is throttled."""
        if self._repeats.is_news(status, why):
            _log.warning("%d for a request from %s: %s", status, peer.address, why)
        headers = {"retry-after": str(math.ceil(SECONDS_EACH))} if status == 429 else {}
        return Refused(status, sentence, headers=headers)


def shown(text: str, longest: int = _LONGEST_NAME) -> str:
    """A client's text for a log line: no control characters, at most `longest` characters."""
    short = text if len(text) <= longest else f"{text[:longest]}…"
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in short)


def _credentials(header: str) -> tuple[str, str] | None:
    """Name and password; None for a malformed header or another scheme."""
    scheme, _, encoded = header.strip().partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        name, _, password = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return name, password
