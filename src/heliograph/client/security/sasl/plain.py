"""PLAIN (RFC 4616): sends the password itself, so use it with TLS only."""

from __future__ import annotations

from heliograph.security import Password


class Plain:
    def __init__(self, credentials: Password) -> None:
        self._credentials = credentials

    def start(self) -> bytes:
        return f"\0{self._credentials.username}\0{self._credentials.password}".encode()

    def answer(self, challenge: bytes) -> None:
        return None
