"""Reads where a client's OAUTHBEARER tokens come from: an endpoint, a file, or an unsecured one for tests.

Mirrors `OAuthBearerLoginCallbackHandler`, `OAuthBearerUnsecuredLoginCallbackHandler` and Strimzi's
`JaasClientOauthLoginCallbackHandler`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from heliograph.config.options.values import InvalidValue
from heliograph.config.security.jaas import LoginModule
from heliograph.permitted import MOST_OF_A_URL, Kind, Location
from heliograph.security import (
    JAAS,
    TOKEN_URL,
    GivenToken,
    Secret,
    Store,
    Tls,
    TokenEndpoint,
    UnsecuredToken,
)

TokenSource = TokenEndpoint | GivenToken | UnsecuredToken

LOGIN_HANDLER = "sasl.login.callback.handler.class"
STRIMZI_HANDLER = "JaasClientOauthLoginCallbackHandler"
STRIMZI_URL = "oauth.token.endpoint.uri"
STRIMZI_TOKEN_FILE = "oauth.access.token.location"
_EXPECTED_URL = "https://…, http://… or file://…"
_RETRIEVERS = frozenset(
    {"", "DefaultJwtRetriever", "ClientCredentialsJwtRetriever", "FileJwtRetriever"}
)


def read_token_source(module: LoginModule, settings: Mapping[str, str]) -> TokenSource:
    """Raises InvalidValue whose text is "<setting>: <sentence>"."""
    handler = short_class(settings, LOGIN_HANDLER)
    if handler == STRIMZI_HANDLER:
        return _strimzi(module)
    retriever = short_class(settings, "sasl.oauthbearer.jwt.retriever.class")
    if retriever not in _RETRIEVERS:
        raise InvalidValue(
            f"sasl.oauthbearer.jwt.retriever.class: expected one of "
            f"{', '.join(sorted(_RETRIEVERS - {''}))}"
        )
    url = settings.get(TOKEN_URL, "").strip()
    if url:
        return _from_url(url, module, settings)
    if handler == "OAuthBearerLoginCallbackHandler":
        raise InvalidValue(f"{TOKEN_URL}: missing; expected the address of the token endpoint")
    return _unsecured(module)


def token_location(url: str) -> Location:
    """The file or the address that the client would open. Raises InvalidValue.

    Control characters are refused: `urlsplit` drops tabs and line breaks, so the checked address and the
    opened one could differ.
    """
    if len(url) > MOST_OF_A_URL:
        raise InvalidValue(f"a URL of at most {MOST_OF_A_URL} characters")
    if any(c < " " or c == "\x7f" for c in url):
        raise InvalidValue(f"{_EXPECTED_URL}, without control characters")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise InvalidValue(_EXPECTED_URL) from None
    if parts.scheme == "file":
        return Location(Kind.FILE, unquote(parts.path), TOKEN_URL)
    if parts.scheme not in ("http", "https") or not host:
        raise InvalidValue(_EXPECTED_URL)
    if not url.isascii() or " " in url:
        raise InvalidValue("a URL of ASCII characters without spaces")
    return Location(Kind.URL, url, TOKEN_URL)


def _from_url(url: str, module: LoginModule, settings: Mapping[str, str]) -> TokenSource:
    try:
        found = token_location(url)
    except InvalidValue as invalid:
        raise InvalidValue(f"{TOKEN_URL}: expected {invalid.expected}") from None
    if found.kind is Kind.FILE:
        return GivenToken(location=found.value, extensions=_extensions(module))
    prefix = "sasl.oauthbearer."
    credentials = f"{prefix}client.credentials.client."
    return TokenEndpoint(
        url=url,
        client_id=str(_either(f"{credentials}id", "clientId", module, settings)),
        client_secret=_either(f"{credentials}secret", "clientSecret", module, settings),
        scope=settings.get(f"{prefix}scope") or module.options.get("scope"),
        urlencode=settings.get(f"{prefix}header.urlencode", "").strip().lower() == "true",
        extensions=_extensions(module),
        tls=_tls(module, "ssl."),
        timeout_seconds=_milliseconds(settings, "sasl.login.connect.timeout.ms"),
        window=_window(settings),
    )


def _strimzi(module: LoginModule) -> TokenSource:
    """The options of `strimzi-kafka-oauth`; its environment variables are not read."""
    options = module.options
    if "oauth.access.token" in options:
        return GivenToken(token=options["oauth.access.token"])
    if STRIMZI_TOKEN_FILE in options:
        return GivenToken(location=str(options[STRIMZI_TOKEN_FILE]))
    for name in (STRIMZI_URL, "oauth.client.id", "oauth.client.secret"):
        if name not in options:
            raise InvalidValue(
                f"{JAAS}: {name} is missing; expected {STRIMZI_URL}, oauth.client.id and "
                "oauth.client.secret, or oauth.access.token"
            )
    return TokenEndpoint(
        url=strimzi_url(options[STRIMZI_URL]),
        client_id=str(options["oauth.client.id"]),
        client_secret=options["oauth.client.secret"],
        scope=options.get("oauth.scope"),
        tls=_tls(module, "oauth.ssl."),
    )


def strimzi_url(text: str) -> str:
    """Raises InvalidValue; unlike in Kafka's own setting, a file is not allowed."""
    try:
        found = token_location(str(text).strip())
    except InvalidValue as invalid:
        raise InvalidValue(f"{JAAS}: {STRIMZI_URL}: expected {invalid.expected}") from None
    if found.kind is not Kind.URL:
        raise InvalidValue(f"{JAAS}: {STRIMZI_URL}: expected https://… or http://…")
    return found.value


def _unsecured(module: LoginModule) -> UnsecuredToken:
    claims: dict[str, object] = {}
    for option, text in module.options.items():
        kind, _, name = option.partition("Claim_")
        if kind == "unsecuredLoginString":
            claims[name] = str(text)
        elif kind == "unsecuredLoginNumber":
            claims[name] = _number(option, text)
        elif kind == "unsecuredLoginList":  # the first character separates the items
            claims[name] = text[1:].split(text[0]) if text else []
    principal = module.options.get("unsecuredLoginPrincipalClaimName", "sub")
    if principal not in claims:
        raise InvalidValue(
            f"{JAAS}: no source of tokens: expected {TOKEN_URL}, or for tests the option "
            f'unsecuredLoginStringClaim_{principal}="…"'
        )
    return UnsecuredToken(
        claims=tuple((name, json.dumps(value)) for name, value in claims.items()),
        lifetime_seconds=int(
            _number(
                "unsecuredLoginLifetimeSeconds",
                module.options.get("unsecuredLoginLifetimeSeconds", "3600"),
            )
        ),
        extensions=_extensions(module, "unsecuredLoginExtension_"),
    )


def _number(option: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidValue(f"{JAAS}: {option}: expected a number")
    return int(number) if number.is_integer() else number


def _either(name: str, option: str, module: LoginModule, settings: Mapping[str, str]) -> Secret:
    """Kafka 4.1 has settings for what older versions read from the JAAS line only."""
    found = settings.get(name, "").strip() or module.options.get(option, "")
    if not found:
        raise InvalidValue(f"{JAAS}: {option} is missing; expected it here or as {name}")
    return Secret(found)


def _tls(module: LoginModule, prefix: str) -> Tls:
    """The certificates to trust at a token endpoint are options of the login module."""
    options = {
        name.removeprefix(prefix): value
        for name, value in module.options.items()
        if name.startswith(prefix)
    }
    location, certificates = (
        options.get("truststore.location"),
        options.get("truststore.certificates"),
    )
    if not location and not certificates:
        return Tls()
    store = Store(
        name="truststore",
        type=options.get("truststore.type", "PEM" if certificates else "JKS").upper(),
        location=None if location is None else str(location),
        password=options.get("truststore.password"),
        certificates=certificates,
    )
    algorithm = options.get("endpoint.identification.algorithm", "https")
    return Tls(truststore=store, verify_host=bool(algorithm))


def _extensions(module: LoginModule, prefix: str = "extension_") -> tuple[tuple[str, str], ...]:
    return tuple(
        (name.removeprefix(prefix), str(value))
        for name, value in module.options.items()
        if name.startswith(prefix)
    )


def _milliseconds(settings: Mapping[str, str], name: str) -> float:
    text = settings.get(name, "").strip()
    return int(text) / 1000 if text.isascii() and text.isdigit() and len(text) < 10 else 10.0


def _window(settings: Mapping[str, str]) -> float:
    try:
        return min(max(float(settings.get("sasl.login.refresh.window.factor", "0.8")), 0.5), 1.0)
    except ValueError:
        return 0.8  # a bad value was reported by value_problems


def short_class(settings: Mapping[str, str], name: str) -> str:
    """The class name in this setting, without its package."""
    return settings.get(name, "").strip().rpartition(".")[2]
