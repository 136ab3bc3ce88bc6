"""Settings of topics as brokers describe them, and changes to them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple


class ConfigSource(IntEnum):
    """Where the effective value of a setting comes from (`DescribeConfigsResponse.ConfigSource`)."""

    UNKNOWN = 0
    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    OTHER = -1  # of newer brokers, loggers or groups


class ConfigEntry(NamedTuple):
    """One setting of a topic, with its effective value."""

    name: str
    value: str | None
    source: ConfigSource
    read_only: bool = False
    sensitive: bool = False


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """Sets a value on the topic; None: unsets it, so that the target's default applies."""

    name: str
    value: str | None

    def __str__(self) -> str:
        return f"{self.name} unset" if self.value is None else f"{self.name}={self.value}"
