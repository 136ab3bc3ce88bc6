"""Settings of topics as brokers tell them, and changes to them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple


class ConfigSource(IntEnum):
    """Where a setting's value in force comes from (`DescribeConfigsResponse.ConfigSource`)."""

    UNKNOWN = 0
    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    OTHER = -1  # what only newer brokers, or loggers and groups, have


class ConfigEntry(NamedTuple):
    """One setting of a topic as it is in force."""

    name: str
    value: str | None
    source: ConfigSource
    read_only: bool = False
    sensitive: bool = False


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """Set on the topic, or, if `value` is None, unset, so that the target's default holds."""

    name: str
    value: str | None

    def __str__(self) -> str:
        return f"{self.name} unset" if self.value is None else f"{self.name}={self.value}"
