"""A connector's configuration as it came through REST, held against what the worker permits.

Each setting is read by the parser that would use it, whatever the settings beside it say of protocol and
mechanism; what that parser would open, ask or import is checked, and not the text. Placeholders are not
filled in yet: where one stands for a whole value, `config/connectors/read_connectors.py` checks what it
stands for.
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
#: What the names of login modules' options have in common that name a file: keytabs, ticket caches, stores.
_FILE_OPTIONS = ("keytab", "ticketcache", "file", "location")


def read_permitted(settings: Mapping[str, str]) -> Permitted:
    """What a worker's settings allow: those that say so, and all that they themselves name."""

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
    """A setting, and why it is refused."""
    for name, value in config.items():
        if value is not None and value.strip():
            for what, why in _problems(name, value.strip(), permitted):
                yield name, invalid(name, what, why)


def _problems(name: str, value: str, permitted: Permitted) -> Iterator[tuple[str, str]]:
    if is_of_providers(name):
        why = "config providers are the worker's to declare"
        yield value, f"{why}; declare them in its configuration"
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
            partly = "${" in location.value  # who writes a part of a path may be anywhere
            refused = permitted.refusal(location)
            if refused is not None or partly:
                yield location.value, refused or "a placeholder must stand for the whole value here"


def locations_in(name: str, value: str) -> Iterator[Location]:
    """What any parser could open of this setting alone; nothing of a value that its parser refuses."""
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
    if (
        ":" not in value and "${" not in value
    ):  # a Java class, which only stands for what is built in
        return None
    python = python_class(value)
    if python is None:
        return "expected a Python class as module:Class"
    if not permitted.allows_module(python.module):
        return f"Python modules that REST may name must be listed in the worker's {MODULES}"
    return None


def _is(name: str, *settings: str) -> bool:
    """Whether it is one of these settings of a client, under any prefix."""
    return any(name == each or name.endswith(f".{each}") for each in settings)


def _is_reference(value: str) -> bool:
    """One placeholder and nothing else."""
    first = next(placeholders(value), None)
    return first is not None and not first.variable and first.text == value
