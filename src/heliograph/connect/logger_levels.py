"""Reads and sets levels of loggers, under Java's names or Heliograph's.

A Java logger's name stands for the module of Heliograph that does the same work. Upstream:
org.apache.kafka.connect.runtime.Loggers.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import NamedTuple

ROOT = "root"

_MIRROR = "org.apache.kafka.connect.mirror"
_RUNTIME = "org.apache.kafka.connect.runtime"
#: Longest names first: the first entry that is the name or a prefix of it is used.
_OURS = {
    f"{_MIRROR}.MirrorSourceConnector": "heliograph.sync.topics",
    f"{_MIRROR}.MirrorSourceTask": "heliograph.copy",
    f"{_MIRROR}.MirrorCheckpointConnector": "heliograph.sync.group_offsets",
    f"{_MIRROR}.MirrorCheckpointTask": "heliograph.sync.checkpoints",
    f"{_MIRROR}.MirrorHeartbeatTask": "heliograph.sync.heartbeats",
    f"{_RUNTIME}.rest": "heliograph.web",
    f"{_RUNTIME}.distributed": "heliograph.connect",
    _RUNTIME: "heliograph.runtime",
    _MIRROR: "heliograph",
    "org.apache.kafka.connect": "heliograph",
    "org.apache.kafka.clients": "heliograph.client",
}
_TRACE = 5
_LEVELS = {
    "OFF": logging.CRITICAL + 10,
    "FATAL": logging.CRITICAL,
    "ERROR": logging.ERROR,
    "WARN": logging.WARNING,
    "INFO": logging.INFO,
    "DEBUG": logging.DEBUG,
    "TRACE": _TRACE,
    "ALL": 1,
}


class Level(NamedTuple):
    """`last_modified` in milliseconds; None if the level was not changed since the start."""

    level: str
    last_modified: int | None


def is_level(text: str) -> bool:
    """Log4j's names, in any case."""
    return text.upper() in _LEVELS


def level_name(number: int) -> str:
    """Log4j's name of a level of Python's."""
    return min(_LEVELS, key=lambda each: abs(_LEVELS[each] - number))


class LoggerLevels:
    """The loggers of this process. `now` is in milliseconds."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._modified: dict[str, int] = {}
        self._asked: set[str] = {ROOT}

    def all(self) -> dict[str, Level]:
        """Loggers whose level was set, by name."""
        with self._lock:
            return {name: self._level(name) for name in sorted(self._asked)}

    def level(self, name: str) -> Level | None:
        """None for an unknown logger."""
        with self._lock:
            known = name in self._asked or _ours(name) is not None
            return self._level(name) if known else None

    def set(self, name: str, level: str) -> list[str]:
        """The loggers whose level this changes: the one that is named, and all below it."""
        wanted = _LEVELS[level.upper()]
        with self._lock:
            self._asked.add(name)
            changed = [
                each for each in self._family(name) if _logger(each).getEffectiveLevel() != wanted
            ]
            for each in changed:
                _logger(each).setLevel(wanted)
                self._modified[each] = self._now()
            return changed

    def _family(self, name: str) -> list[str]:
        below = {each for each in (*_OURS, *self._asked) if each.startswith(f"{name}.")}
        return [name, *sorted(below)]

    def _level(self, name: str) -> Level:
        number = _logger(name).getEffectiveLevel()
        return Level(level_name(number), self._modified.get(name))


def _logger(name: str) -> logging.Logger:
    return logging.getLogger() if name == ROOT else logging.getLogger(_ours(name) or name)


def _ours(name: str) -> str | None:
    """Heliograph's logger for a name; None for an unrelated one."""
    for java, ours in _OURS.items():
        if name == java or name.startswith(f"{java}."):
            return ours
    return name if name == "heliograph" or name.startswith("heliograph.") else None
