"""Defines the parts of a JSON or YAML document, each with its line number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from heliograph.errors import ConfigError

Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """`value` contains nodes if it is a mapping or a list. `text` is a scalar as the text of a setting:
    numbers and booleans as Java prints them."""

    value: Scalar | list[Node] | dict[str, Node]
    line: int
    text: str = ""

    @property
    def kind(self) -> str:
        """In words, for "expected …, found …"."""
        match self.value:
            case dict():
                return "a mapping"
            case list():
                return "a list"
            case bool():
                return "true or false"
            case int() | float():
                return "a number"
            case None:
                return "nothing"
        return "text"


@dataclass(frozen=True, slots=True)
class Document:
    """The root of one document of a file."""

    name: str
    root: Node

    def at(self, node: Node) -> str:
        return f"{self.name}:{node.line}"

    def wrong(self, node: Node, path: str, expected: str) -> ConfigError:
        """`path` names the part of the document. The value is left out: it may be a secret."""
        subject = f"{path}: " if path else ""
        return ConfigError(f"{subject}expected {expected}, found {node.kind} ({self.at(node)})")

    def mapping(self, node: Node, path: str) -> Mapping[str, Node]:
        if not isinstance(node.value, dict):
            raise self.wrong(node, path, "a mapping")
        return node.value

    def items(self, node: Node, path: str) -> Iterator[tuple[str, Node]]:
        if not isinstance(node.value, list):
            raise self.wrong(node, path, "a list")
        for index, item in enumerate(node.value):
            yield f"{path}[{index}]", item

    def setting(self, node: Node, path: str) -> str:
        """A scalar as the text of a setting, as Connect reads it."""
        if isinstance(node.value, dict | list):
            raise self.wrong(node, path, "text, a number, true or false")
        return node.text
