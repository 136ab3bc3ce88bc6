"""Caches tokens for OAUTHBEARER, shared by all clients of this process.

Once a part of a token's lifetime is over (`window`), a thread fetches a new one while the old one is still
valid, so that a copy loop that logs in again does not wait for the endpoint.
"""

from __future__ import annotations

import base64
import json
import logging
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from heliograph.client.security.opening import allow, read_file
from heliograph.client.security.sasl.token_endpoint import ask_endpoint
from heliograph.errors import BadKeyMaterial, HeliographError, LoginFailed
from heliograph.permitted import Kind, Location
from heliograph.security import (
    TOKEN_URL,
    Credentials,
    GivenToken,
    Security,
    TokenEndpoint,
    UnsecuredToken,
)

log = logging.getLogger(__name__)

_RETRY_SECONDS = 10.0
#: For a token without an expiry.
_DEFAULT_SECONDS = 300.0

_sources: dict[TokenEndpoint, TokenSource] = {}
_sources_lock = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """Valid from `since` to `until`, by this machine's clock."""

    text: str
    since: float
    until: float


class TokenSource:
    """The token of one endpoint and client; `fetch` requests a new one. For several threads."""

    def __init__(self, fetch: Callable[[], Token], window: float) -> None:
        self._fetch = fetch
        self._window = window
        self._lock = threading.Lock()
        self._token: Token | None = None
        self._next_try = 0.0
        self._fetching = False

    def get(self) -> Token:
        """Raises what `fetch` raises, if there is no valid token."""
        now = time.time()
        with self._lock:
            token = self._token
            if token is None or token.until <= now:
                self._token = token = self._fetch()
                return token
            if now >= token.since + (token.until - token.since) * self._window:
                self._refresh_aside(now)
            return token

    def _refresh_aside(self, now: float) -> None:
        if self._fetching or now < self._next_try:
            return
        self._fetching, self._next_try = True, now + _RETRY_SECONDS
        threading.Thread(target=self._refresh, name="token", daemon=True).start()

    def _refresh(self) -> None:
        try:
            token = self._fetch()
        except HeliographError as e:
            log.warning("%s; the current token is still valid; retrying in %g s", e, _RETRY_SECONDS)
            token = None
        with self._lock:
            self._fetching = False
            self._token = token or self._token


def token_for(
    credentials: Credentials, security: Security
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """A token, and SASL extensions."""
    if isinstance(credentials, UnsecuredToken):
        return unsecured(credentials, time.time()), credentials.extensions
    if isinstance(credentials, GivenToken):
        return _given(credentials, security), credentials.extensions
    assert isinstance(credentials, TokenEndpoint)
    allow(Location(Kind.URL, credentials.url, TOKEN_URL), security)
    return _source(credentials, security).get().text, credentials.extensions


def unsecured(credentials: UnsecuredToken, now: float) -> str:
    """An unsigned JWS (RFC 7515, appendix A.5). Issued at the full second: brokers count in milliseconds, and
    a token that reaches them within the same one would be from the future (`OAuthBearerValidationUtils`)."""
    claims = {name: json.loads(value) for name, value in credentials.claims}
    claims |= {"iat": math.floor(now), "exp": now + credentials.lifetime_seconds}
    return f"{_encoded({'alg': 'none'})}.{_encoded(claims)}."


def expiry(token: str) -> float | None:
    """The expiry in a JWT; None for any other token."""
    parts = token.split(".")
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        until = float(claims["exp"])
    except (IndexError, KeyError, TypeError, ValueError, OverflowError, RecursionError):
        return None
    return until if math.isfinite(until) else None


def _source(endpoint: TokenEndpoint, security: Security) -> TokenSource:
    def fetch() -> Token:
        now = time.time()
        text, seconds = ask_endpoint(endpoint, security)
        until = expiry(text) or now + (seconds or _DEFAULT_SECONDS)
        if until <= now:
            raise LoginFailed(f"{endpoint.url}: returned an expired token; check the clocks")
        return Token(text=text, since=now, until=until)

    with _sources_lock:
        return _sources.setdefault(endpoint, TokenSource(fetch, endpoint.window))


def _given(credentials: GivenToken, security: Security) -> str:
    if credentials.token is not None:
        return credentials.token
    assert credentials.location is not None
    setting = security.key(TOKEN_URL)
    text = read_file(credentials.location, setting, security).decode(errors="replace").strip()
    if not text or not text.isprintable():
        raise BadKeyMaterial(f"{setting}: {credentials.location}: expected a token, found none")
    until = expiry(text)
    if until is not None and until <= time.time():
        raise BadKeyMaterial(f"{setting}: {credentials.location}: the token in it has expired")
    return text


def _encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
