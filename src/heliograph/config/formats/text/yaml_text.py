"""Parses YAML with line numbers, as Kubernetes does: several documents per file, scalars by type."""

from __future__ import annotations

from typing import Any

import yaml

from heliograph.config.formats.text.node import Document, Node, Scalar
from heliograph.errors import ConfigError

_MERGE = "tag:yaml.org,2002:merge"
_INT, _FLOAT, _BOOL, _NULL = (
    f"tag:yaml.org,2002:{kind}" for kind in ("int", "float", "bool", "null")
)


def parse_yaml(text: str, name: str) -> tuple[list[Document], list[str]]:
    """All documents that are not empty, and warnings. Raises ConfigError with the line."""
    reading = _Reading(name)
    try:
        roots = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
        documents = [Document(name, reading.node(root)) for root in roots if root is not None]
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        line = f":{mark.line + 1}" if mark is not None else ""
        raise ConfigError(f"{name}{line}: not YAML: {problem.problem or problem.context}") from None
    except (yaml.YAMLError, ValueError):
        raise ConfigError(
            f"{name}: not YAML: it holds characters that YAML does not allow"
        ) from None
    except RecursionError:
        raise ConfigError(
            f"{name}: not a resource: nested too deeply, or contains itself"
        ) from None
    return [each for each in documents if each.root.value is not None], reading.warnings


class _Reading:
    """Makes nodes; one to which several YAML aliases refer is made once."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._made: dict[int, Node] = {}
        self._composed: list[object] = []  # kept alive, so that their ids stay unique
        self.warnings: list[str] = []

    def node(self, composed: Any) -> Node:
        made = self._made.get(id(composed))
        if made is None:
            made = self._made[id(composed)] = self._make(composed)
            self._composed.append(composed)
        return made

    def _make(self, composed: Any) -> Node:
        line = composed.start_mark.line + 1
        if isinstance(composed, yaml.SequenceNode):
            return Node([self.node(item) for item in composed.value], line)
        if isinstance(composed, yaml.MappingNode):
            return Node(self._mapping(composed), line)
        value = _scalar(composed)
        return Node(value, line, _as_java(value, composed.value))

    def _mapping(self, composed: Any) -> dict[str, Node]:
        found: dict[str, Node] = {}
        merged: dict[str, Node] = {}
        for key, value in composed.value:
            line = key.start_mark.line + 1
            if key.tag == _MERGE:
                merged |= self._merged(value)
                continue
            if not isinstance(key, yaml.ScalarNode):
                raise ConfigError(f"{self._name}:{line}: expected text as a key")
            if key.value in found:
                self.warnings.append(
                    f"{key.value}: set twice, in {self._name}:{found[key.value].line} and "
                    f"{self._name}:{line}; line {line} counts"
                )
            node = self.node(value)
            found[key.value] = Node(node.value, line, node.text)
        return merged | found

    def _merged(self, value: Any) -> dict[str, Node]:
        nodes = value.value if isinstance(value, yaml.SequenceNode) else [value]
        found: dict[str, Node] = {}
        for each in reversed(nodes):
            made = self.node(each)
            if isinstance(made.value, dict):
                found |= made.value
        return found


def _scalar(composed: Any) -> Scalar:
    text: str = composed.value
    match composed.tag:
        case tag if tag == _NULL:
            return None
        case tag if tag == _BOOL:
            return text.lower() in ("true", "yes", "on")
        case tag if tag in (_INT, _FLOAT):
            try:
                return int(text) if tag == _INT else float(text)
            except ValueError:
                return text  # YAML 1.1 octal or base 60, which no setting uses
    return text


def _as_java(value: Scalar, written: str) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case None:
            return ""
    return written
