"""Checks a connector's configuration from REST against what the worker permits it to name.

Each setting is parsed by the parser that would use it, regardless of protocol and mechanism. The files,
addresses, modules and identities that this parser finds are checked, not the text. Placeholders are not
filled in yet: if one is a whole value, `config/connectors/read_connectors.py` checks its value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from heliograph.config.options.checks import invalid
from heliograph.config.options.values import InvalidValue, parse_list
from heliograph.config.resolve.providers import placeholders
from heliograph.config.security.jaas import LoginModule, parse_jaas
from heliograph.config.security.oauthbearer import STRIMZI_URL, strimzi_url, token_location
from heliograph.permitted import (
    AWS,
    IDENTITIES,
    KERBEROS,
    MODULES,
    PATHS,
    URLS,
    Kind,
    Location,
    Permitted,
)
from heliograph.policy.ported import python_class
from heliograph.security import JAAS, TOKEN_URL

#: Settings of clients, under any prefix, whose value is a path.
_FILES = (
    "ssl.keystore.location",
    "ssl.truststore.location",
    "sasl.oauthbearer.assertion.file",
    "sasl.oauthbearer.assertion.private.key.file",
    "sasl.oauthbearer.assertion.template.file",
    "sasl.kerberos.kinit.cmd",
)
_URLS = (TOKEN_URL, "sasl.oauthbearer.jwks.endpoint.url")
#: Parts of the names of login module options that are paths: keytabs, ticket caches, stores.
_FILE_OPTIONS = ("keytab", "ticketcache", "file", "location")


def read_permitted(settings: Mapping[str, str]) -> Permitted:
    """What a worker permits: its rest.connector.allowed.* settings, and what its own settings name."""

    def listed(name: str) -> set[str]:
        return {each for each in parse_list(settings.get(name, "")) if each}

    own = [each for name, value in settings.items() for each in locations_in(name, value.strip())]
    return Permitted(
        paths=frozenset(listed(PATHS) | {each.value for each in own if each.kind is Kind.FILE}),
        urls=frozenset(listed(URLS) | {each.value for each in own if each.kind is Kind.URL}),
        modules=frozenset(listed(MODULES)),
        identities=frozenset(listed(IDENTITIES)),
    )


def problems(config: Mapping[str, str | None], permitted: Permitted) -> Iterator[tuple[str, str]]:
    """Refused settings, with the reason."""
    for name, value in config.items():
        if value is not None and value.strip():
            for what, why in _problems(name, value.strip(), permitted):
                yield name, invalid(name, what, why)


def _problems(name: str, value: str, permitted: Permitted) -> Iterator[tuple[str, str]]:
    if is_of_providers(name):
        yield (
            value,
            "connectors may not declare config providers; declare them in the worker's configuration",
        )
        return
    if name.endswith(".class") and (refused := _refused_class(value, permitted)) is not None:
        yield value, refused
    if _is(name, *_URLS) and "${" not in value:
        try:
            token_location(value)
        except InvalidValue as e:
            yield value, str(e)
    for location in locations_in(name, value):
        if not _is_reference(location.value):
            partly = "${" in location.value  # the rest of a path could lead anywhere
            refused = permitted.refusal(location)
            if refused is not None or partly:
                yield location.value, refused or "a placeholder must be the whole value here"


def locations_in(name: str, value: str) -> Iterator[Location]:
    """What a parser of this setting could open; nothing if the parser refuses the value."""
    if _is(name, *_FILES):
        yield Location(Kind.FILE, value, name)
    elif _is(name, *_URLS):
        if _is_reference(value):
            yield Location(Kind.URL, value, name)
        else:
            yield from _of_url(value, name)
    elif _is(name, JAAS):
        try:
            module = parse_jaas(value)
        except InvalidValue:
            return
        yield from _of_module(module, name)
    elif _is(name, "sasl.mechanism") and value == "AWS_MSK_IAM":
        yield Location(Kind.IDENTITY, AWS, name)


def _of_url(value: str, name: str) -> Iterator[Location]:
    try:
        yield token_location(value)._replace(setting=name)
    except InvalidValue:
        return


def _of_module(module: LoginModule, name: str) -> Iterator[Location]:
    for option, text in module.options.items():
        if any(each in option.lower() for each in _FILE_OPTIONS):
            yield Location(Kind.FILE, str(text), name)
    if STRIMZI_URL in module.options:
        try:
            yield Location(Kind.URL, strimzi_url(module.options[STRIMZI_URL]), name)
        except InvalidValue:
            yield Location(Kind.URL, str(module.options[STRIMZI_URL]), name)
    uses_keytab = module.options.get("useKeyTab", "").lower() == "true"
    if module.short_name == "Krb5LoginModule" and not uses_keytab:
        yield Location(Kind.IDENTITY, KERBEROS, name)


def is_of_providers(name: str) -> bool:
    """`config.providers` and all below it, under any prefix."""
    return ".config.providers." in f".{name}."


def _refused_class(value: str, permitted: Permitted) -> str | None:
    if _is_reference(value):
        return None
    if ":" not in value and "${" not in value:  # a Java class: only built-in ones have an effect
        return None
    python = python_class(value)
    if python is None:
        return "expected a Python class as module:Class"
    if not permitted.allows_module(python.module):
        return f"REST may only name Python modules that the worker's {MODULES} lists"
    return None


def _is(name: str, *settings: str) -> bool:
    """Whether `name` is one of these settings of clients, under any prefix."""
    return any(name == each or name.endswith(f".{each}") for each in settings)


def _is_reference(value: str) -> bool:
    """Whether the value is exactly one placeholder."""
    first = next(placeholders(value), None)
    return first is not None and not first.variable and first.text == value
