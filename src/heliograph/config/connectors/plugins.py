"""Lists the plugins of this worker as Connect does: MM2's three connectors and ByteArrayConverter.

Their version is the Kafka version whose connectors they replace.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from heliograph.config.connectors.connector_class import ConnectorClass, connector_class
from heliograph.config.options.values import BYTE_ARRAY_CONVERTER

#: The Kafka version whose REST API, connectors and internal topics are implemented.
KAFKA_VERSION = "4.3.1"


class ConnectorNotFound(ValueError):
    """The connector class is unknown; the text is Connect's answer."""


class PluginNotFound(ValueError):
    """The plugin does not have this version; the text is Connect's answer."""


class BadVersion(ValueError):
    """The version range cannot be parsed; the text is Connect's answer."""


class Plugin(NamedTuple):
    class_name: str
    type: str


_CONNECTORS = tuple(
    Plugin(each.java_name, "source") for each in sorted(ConnectorClass, key=lambda each: each.value)
)
PLUGINS = (
    *_CONNECTORS,
    Plugin(BYTE_ARRAY_CONVERTER, "converter"),
    Plugin(BYTE_ARRAY_CONVERTER, "header_converter"),
)

_DIGITS = re.compile("[0-9]{1,9}")
_BOUNDS = re.compile(r"([\[(])([^\[\]()]*)([\])])")


def connector_named(name: str) -> ConnectorClass:
    """Raises ConnectorNotFound."""
    found = connector_class(name.strip())
    if found is None:
        available = ", ".join(_described(plugin) for plugin in _CONNECTORS)
        raise ConnectorNotFound(
            "Failed to find any class that implements Connector and which name matches "
            f"{name}, available connectors are: {available}"
        )
    return found


def _described(plugin: Plugin) -> str:
    return (
        f"PluginDesc{{klass=class {plugin.class_name}, name='{plugin.class_name}', "
        f"version='{KAFKA_VERSION}', encodedVersion={KAFKA_VERSION}, type={plugin.type}, "
        f"typeName='{plugin.type}', location='classpath'}}"
    )


def check_version(class_name: str, wanted: str | None) -> None:
    """`wanted` is a list of Maven ranges: 4.3.1, [4.0,5.0). Raises PluginNotFound, BadVersion."""
    if wanted is None or wanted == "latest":
        return
    ranges = _ranges(wanted.strip())
    if not any(each.holds(_numbers(KAFKA_VERSION)) for each in ranges):
        raise PluginNotFound(
            f"Plugin {class_name} not found that matches the version range "
            f"{','.join(map(str, ranges))}, available versions: [{KAFKA_VERSION}]"
        )


class _Range(NamedTuple):
    opening: str
    low: str
    high: str
    closing: str

    def holds(self, version: tuple[int, ...]) -> bool:
        above = not self.low or (
            _numbers(self.low) <= version if self.opening == "[" else _numbers(self.low) < version
        )
        below = not self.high or (
            version <= _numbers(self.high) if self.closing == "]" else version < _numbers(self.high)
        )
        return above and below

    def __str__(self) -> str:
        return f"{self.opening}{self.low},{self.high}{self.closing}"


def _ranges(text: str) -> list[_Range]:
    if not text.startswith(("[", "(")):
        return [_Range("[", text, text, "]")]
    found = [_Range(*_bounds(match)) for match in _BOUNDS.finditer(text)]
    if not found or _BOUNDS.sub("", text).replace(",", "").strip():
        raise BadVersion(f"Unbounded range: {text}")
    return found


def _bounds(match: re.Match[str]) -> tuple[str, str, str, str]:
    opening, inside, closing = match.groups()
    low, comma, high = (part.strip() for part in inside.partition(","))
    return opening, low, high if comma else low, closing


def _numbers(version: str) -> tuple[int, ...]:
    """4.3 and 4.3.0 are equal; a part that is not a number counts as 0."""
    parts = version.replace("-", ".").split(".")
    found = [int(each) if _DIGITS.fullmatch(each) else 0 for each in parts]
    while found and found[-1] == 0:
        found.pop()
    return tuple(found)
