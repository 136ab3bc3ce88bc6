"""Limits the length of names and values from REST, and with it the time that parsers take.

Every parser reads its text in one pass.

Kafka's own limits are smaller where it has any: a topic's name has at most 249 characters, a record of the
config topic at most `max.message.bytes`, about 1 MB for all settings of a connector together.
"""

from __future__ import annotations

from collections.abc import Mapping

from heliograph.config.resolve.providers import placeholders
from heliograph.permitted import MOST_OF_A_PATH, MOST_OF_A_URL

#: Characters of the name of a connector, a logger or a setting.
MOST_OF_A_NAME = 1024
MOST_OF_A_VALUE = 256 * 1024
MOST_SETTINGS = 1000
#: In one value; each placeholder may read a file.
MOST_PLACEHOLDERS = 20

_BY_ENDING = (
    (".class", MOST_OF_A_NAME),
    (".alias", MOST_OF_A_NAME),
    (".location", MOST_OF_A_PATH),
    (".file", MOST_OF_A_PATH),
    (".url", MOST_OF_A_URL),
    (".version", MOST_OF_A_NAME),
)


def most_of(name: str) -> int:
    """Most characters in the value of this setting."""
    if name == "name":
        return MOST_OF_A_NAME
    return next((most for end, most in _BY_ENDING if name.endswith(end)), MOST_OF_A_VALUE)


def too_large(config: Mapping[str, str | None]) -> str | None:
    """What is too large in a configuration, checked before anything else reads it; None: nothing."""
    if len(config) > MOST_SETTINGS:
        return f"expected at most {MOST_SETTINGS} settings, found {len(config)}"
    return next(filter(None, (_too_long(name, value) for name, value in config.items())), None)


def _too_long(name: str, value: str | None) -> str | None:
    if len(name) > MOST_OF_A_NAME:
        return f"{name[:40]}…: expected a name of at most {MOST_OF_A_NAME} characters"
    if value is None:
        return None
    most, count = most_of(name), sum(1 for _ in placeholders(value[: MOST_OF_A_VALUE + 1]))
    if len(value) > most:
        return f"{name}: expected at most {most} characters, found {len(value)}"
    if count > MOST_PLACEHOLDERS:
        return f"{name}: expected at most {MOST_PLACEHOLDERS} placeholders, found {count}"
    return None
