"""Requests a token from a token endpoint with client credentials (RFC 6749, section 4.4)."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import urllib.error
import urllib.request
from dataclasses import replace
from urllib.parse import quote_plus, urlencode

from heliograph.client.security.key_stores import with_material
from heliograph.client.security.tls import new_context
from heliograph.errors import LoginFailed, Unreachable
from heliograph.security import Security, TokenEndpoint

_MAX_ANSWER = 1 << 20
_WORDS = 200
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
#: About 30,000 years; a longer lifetime is treated as none.
_MOST_SECONDS = 1e12


def ask_endpoint(endpoint: TokenEndpoint, security: Security) -> tuple[str, float | None]:
    """A token and its lifetime in seconds, if given. LoginFailed if refused, Unreachable if not answered."""
    body = {"grant_type": "client_credentials"}
    if endpoint.scope:
        body["scope"] = endpoint.scope
    request = urllib.request.Request(
        endpoint.url,
        data=urlencode(body).encode(),
        headers={
            "Accept": "application/json",
            "Authorization": f"Basic {_basic(endpoint)}",
            "Content-Type": "application/x-www-form-urlencoded",
        },
    )
    return read_answer(endpoint, _open(endpoint, request, security))


def _basic(endpoint: TokenEndpoint) -> str:
    parts = [endpoint.client_id, str(endpoint.client_secret)]
    if endpoint.urlencode:
        parts = [quote_plus(part) for part in parts]
    return base64.b64encode(":".join(parts).encode()).decode()


def _open(endpoint: TokenEndpoint, request: urllib.request.Request, security: Security) -> bytes:
    context = None
    if endpoint.url.lower().startswith("https:"):
        context = new_context(with_material(replace(security, tls=endpoint.tls)))
    try:
        with _opener(context).open(request, timeout=endpoint.timeout_seconds) as answer:
            return bytes(answer.read(_MAX_ANSWER))
    except urllib.error.HTTPError as e:
        if e.code in _REDIRECTS:
            e.close()
            raise LoginFailed(
                f"{endpoint.url}: no token: HTTP {e.code}: it redirects to another address, to which "
                "the client's secret is not sent; configure that address if it is the right one"
            ) from e
        with e:
            description = _error(e.read(_MAX_ANSWER))
        sentence = f"{endpoint.url}: no token: HTTP {e.code}{description}"
        if e.code >= 500:
            raise Unreachable(sentence) from e
        raise LoginFailed(f"{sentence}; check the client's id and secret") from e
    except urllib.error.URLError as e:
        raise Unreachable(f"{endpoint.url}: no token: {e.reason}") from e
    except (OSError, http.client.HTTPException) as e:
        raise Unreachable(f"{endpoint.url}: no token: {e or type(e).__name__}") from e


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """urllib would follow redirects and send the client's id and secret along."""

    def redirect_request(self, *_: object) -> None:
        return None


def _opener(context: ssl.SSLContext | None) -> urllib.request.OpenerDirector:
    """For http and https only, with the proxies of the environment: urllib's default opener also opens files
    and FTP."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(context=context),
        _NoRedirects(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    return opener


def read_answer(endpoint: TokenEndpoint, body: bytes) -> tuple[str, float | None]:
    try:
        answer = json.loads(body)
        token, seconds = answer["access_token"], answer.get("expires_in")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise LoginFailed(f"{endpoint.url}: expected JSON with access_token, found none") from None
    if not isinstance(token, str) or not token or not token.isprintable() or " " in token:
        raise LoginFailed(f"{endpoint.url}: access_token is not a token")
    given = isinstance(seconds, int | float) and 0 < seconds < _MOST_SECONDS
    return token, float(seconds) if given else None


def _error(body: bytes) -> str:
    """The endpoint's error description, if it is in OAuth's format."""
    try:
        answer = json.loads(body)
        description = answer.get("error_description") or answer["error"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ""
    return f" ({str(description)[:_WORDS]})"
