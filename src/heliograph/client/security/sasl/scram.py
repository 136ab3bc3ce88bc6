"""SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, RFC 7677): both ends prove that they know the password.

client  n,,n=user,r=nonce
server  r=nonce…,s=salt,i=iterations
client  c=biws,r=nonce…,p=proof
server  v=signature
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets

from heliograph.errors import LoginFailed
from heliograph.security import Password

_HEADER = "n,,"
#: Kafka's minimum for stored credentials; with fewer a false broker could find the password.
_LEAST_ITERATIONS = 4096
#: Kafka allows 16,384; a false broker could keep us busy for hours with more.
_MOST_ITERATIONS = 100_000


class Scram:
    """`nonce` is given in tests only."""

    def __init__(self, mechanism: str, credentials: Password, nonce: str | None = None) -> None:
        self._hash = mechanism.removeprefix("SCRAM-").replace("-", "").lower()
        self._password = credentials.password.encode()
        self._nonce = nonce or secrets.token_urlsafe(24)
        name = credentials.username.replace("=", "=3D").replace(",", "=2C")
        token = ",tokenauth=true" if credentials.is_token else ""
        self._first = f"n={name},r={self._nonce}{token}"
        self._signature: bytes | None = None

    def start(self) -> bytes:
        return (_HEADER + self._first).encode()

    def answer(self, challenge: bytes) -> bytes | None:
        server_message = challenge.decode(errors="replace")
        fields = _fields(server_message)
        if "e" in fields:
            raise LoginFailed(f"SCRAM: the broker refuses the login: {fields['e']}")
        if self._signature is None:
            return self._prove(server_message, fields)
        self._check(fields)
        return None

    def _prove(self, server_first: str, fields: dict[str, str]) -> bytes:
        try:
            nonce, salt = fields["r"], base64.b64decode(fields["s"], validate=True)
            iterations = int(fields["i"])
        except (KeyError, ValueError) as e:
            raise LoginFailed("SCRAM: the broker's challenge cannot be parsed") from e
        if not nonce.startswith(self._nonce) or len(nonce) == len(self._nonce):
            raise LoginFailed("SCRAM: the broker did not repeat our nonce")
        if not _LEAST_ITERATIONS <= iterations <= _MOST_ITERATIONS:
            raise LoginFailed(
                f"SCRAM: expected {_LEAST_ITERATIONS} to {_MOST_ITERATIONS} iterations, found {iterations}"
            )
        salted = hashlib.pbkdf2_hmac(self._hash, self._password, salt, iterations)
        final = f"c={base64.b64encode(_HEADER.encode()).decode()},r={nonce}"
        message = f"{self._first},{server_first},{final}".encode()
        client_key = self._hmac(salted, b"Client Key")
        stored_key = hashlib.new(self._hash, client_key).digest()
        proof = bytes(
            a ^ b for a, b in zip(client_key, self._hmac(stored_key, message), strict=True)
        )
        self._signature = self._hmac(self._hmac(salted, b"Server Key"), message)
        return f"{final},p={base64.b64encode(proof).decode()}".encode()

    def _check(self, fields: dict[str, str]) -> None:
        assert self._signature is not None
        try:
            found = base64.b64decode(fields.get("v", ""), validate=True)
        except binascii.Error:
            found = b""
        if not hmac.compare_digest(found, self._signature):
            raise LoginFailed("SCRAM: the broker did not prove that it knows the password")

    def _hmac(self, key: bytes, data: bytes) -> bytes:
        return hmac.digest(key, data, self._hash)


def _fields(message: str) -> dict[str, str]:
    return {part[:1]: part[2:] for part in message.split(",") if part[1:2] == "="}
