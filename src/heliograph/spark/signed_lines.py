"""Signs the lines of a connection between driver and task with HMAC-SHA256, and checks them.

    driver ──►  <challenge>
    task   ──►  {…,"nonce":…,"proof":…}            proof: HMAC(key, "hello", challenge, nonce, hello)
    either ──►  <tag> <text>                       tag: HMAC(key of connection and direction, number, text)

A replayed hello fails, since the challenge differs. A forged, repeated or missing line does not fit its
number, and the reader closes the connection. Nothing is encrypted; no secret is sent over these lines.
"""

from __future__ import annotations

import hmac
import secrets

from heliograph.errors import HeliographError
from heliograph.security import Secret

TASK, DRIVER = "task", "driver"  # the writer of a direction
_TAG = 64  # hexadecimal digits


class ForgedLine(HeliographError):
    """A line was not written by the peer of this connection, or is not the next one."""


def new_nonce() -> str:
    return secrets.token_hex(16)


def proof(key: Secret, *words: str) -> str:
    """Proves that the sender of these words has the key. No word may contain a line break."""
    return hmac.new(key.encode(), "\n".join(words).encode(), "sha256").hexdigest()


def is_proof(given: object, key: Secret, *words: str) -> bool:
    return hmac.compare_digest(str(given).encode(errors="replace"), proof(key, *words).encode())


class SignedLines:
    """One direction of one connection, for its writer or its reader. For one thread at a time."""

    def __init__(self, key: Secret, writer: str, challenge: str, nonce: str) -> None:
        self._key = proof(key, "lines", writer, challenge, nonce).encode()
        self._number = 0

    def sign(self, text: bytes) -> bytes:
        """The next line; the text must not contain a line break."""
        return self._next_tag(text) + b" " + text + b"\n"

    def check(self, line: bytes) -> bytes:
        """The text of the next line, with or without its line break. Raises ForgedLine."""
        tag, space, text = line[:_TAG], line[_TAG : _TAG + 1], line[_TAG + 1 :].rstrip(b"\n")
        if space != b" " or not hmac.compare_digest(tag, self._next_tag(text)):
            raise ForgedLine(f"line {self._number} of this connection has a wrong signature")
        return text

    def _next_tag(self, text: bytes) -> bytes:
        self._number += 1
        signed = hmac.new(self._key, b"%d " % self._number, "sha256")
        signed.update(text)
        return signed.hexdigest().encode()
