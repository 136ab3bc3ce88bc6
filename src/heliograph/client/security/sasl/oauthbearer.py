"""OAUTHBEARER (RFC 7628): login with a token. Brokers end a session when its token expires."""

from __future__ import annotations

import json

from heliograph.client.security.sasl.aws import msk_token
from heliograph.client.security.sasl.tokens import token_for
from heliograph.errors import LoginFailed
from heliograph.security import AwsIam, Credentials, Security

_SEPARATOR = "\x01"


class OAuthBearer:
    def __init__(self, credentials: Credentials, host: str, security: Security) -> None:
        self._credentials = credentials
        self._host = host
        self._security = security
        self._refusal = ""

    def start(self) -> bytes:
        """Waits for a token endpoint unless a valid token is cached."""
        extensions: tuple[tuple[str, str], ...] = ()
        if isinstance(self._credentials, AwsIam):
            token = msk_token(self._credentials, self._host)
        else:
            token, extensions = token_for(self._credentials, self._security)
        fields = [f"auth=Bearer {token}", *(f"{name}={value}" for name, value in extensions)]
        return f"n,,{_SEPARATOR}{_SEPARATOR.join(fields)}{_SEPARATOR}{_SEPARATOR}".encode()

    def answer(self, challenge: bytes) -> bytes | None:
        if not challenge:
            return None
        if self._refusal:
            raise LoginFailed(f"OAUTHBEARER: the broker refuses the token: {self._refusal}")
        self._refusal = _status(challenge)
        return _SEPARATOR.encode()  # the broker sends its error after this message


def _status(challenge: bytes) -> str:
    try:
        return str(json.loads(challenge)["status"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return "no reason given"
