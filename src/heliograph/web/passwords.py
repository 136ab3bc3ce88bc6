"""Checks passwords of the users file: argon2id (RFC 9106) with the parameters that OWASP recommends.

    $argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>        19 MB and about 20 ms for each check

A right password is remembered for a minute, as a keyed digest: a client that polls costs one check a minute.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import time
from collections.abc import Callable, Mapping

from cryptography.exceptions import InvalidKey, UnsupportedAlgorithm
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from heliograph.config.security.rest_users import User
from heliograph.errors import EnvironmentProblem

_MEMORY_KB, _PASSES, _LANES = 19_456, 2, 1
_SALT_BYTES, _HASH_BYTES = 16, 32
_REMEMBERED_SECONDS = 60.0


def hashed(password: str) -> str:
    """Raises EnvironmentProblem."""
    return _argon2(os.urandom(_SALT_BYTES)).derive_phc_encoded(password.encode())


class Passwords:
    """Raises EnvironmentProblem if this machine's OpenSSL has no argon2id."""

    def __init__(
        self, users: Mapping[str, User], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._users = users
        self._clock = clock
        self._key = secrets.token_bytes(32)
        self._remembered: dict[str, tuple[bytes, float]] = {}
        self._any_hashed = any(user.hashed for user in users.values())
        # Checked for unknown names, or the response time would tell which names exist.
        self._dummy = hashed(secrets.token_hex()) if self._any_hashed else ""

    def remembers(self, name: str, password: str) -> bool:
        """Whether it was right within the last minute; needs no argon2id."""
        digest, until = self._remembered.get(name, (b"", 0.0))
        same = hmac.compare_digest(digest, self._digest(name, password))
        return same and self._clock() < until

    def right(self, name: str, password: str) -> bool:
        """With hashes in use, an unknown name takes as long as a known one."""
        user = self._users.get(name)
        if user is None or user.hashed:
            if self._any_hashed:
                right = _fits(password, self._dummy if user is None else user.password)
            else:
                right = False
        else:
            right = hmac.compare_digest(user.password.encode(), password.encode())
        if user is None or not right:
            return False
        until = self._clock() + _REMEMBERED_SECONDS
        self._remembered[name] = (self._digest(name, password), until)
        return True

    def _digest(self, name: str, password: str) -> bytes:
        text = f"{len(name)}:{name}{password}".encode("utf-8", "surrogatepass")
        return hmac.digest(self._key, text, hashlib.sha256)


def _fits(password: str, hash: str) -> bool:
    try:
        Argon2id.verify_phc_encoded(password.encode(), hash)
    except InvalidKey:
        return False
    return True


def _argon2(salt: bytes) -> Argon2id:
    try:
        return Argon2id(
            salt=salt,
            length=_HASH_BYTES,
            iterations=_PASSES,
            lanes=_LANES,
            memory_cost=_MEMORY_KB,
        )
    except UnsupportedAlgorithm as e:
        raise EnvironmentProblem(
            "argon2id: the OpenSSL below python's cryptography is older than 3.2; install cryptography as a "
            "wheel from the package index"
        ) from e
