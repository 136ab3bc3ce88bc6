"""Writes what a command has found as JSON or YAML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import yaml

from heliograph.cli.choices import Output
from heliograph.cli.output.escaping import visible_json


def document(value: Any, output: Output, *, one_of_many: bool = False) -> str:
    """`one_of_many`: one line of JSON, or a document of YAML that others follow."""
    if output is not Output.YAML:
        return as_json(value, indent=None if one_of_many else 2)
    text = yaml.safe_dump(plain_values(value), sort_keys=False).rstrip()
    return f"---\n{text}" if one_of_many else text


def as_json(value: Any, *, indent: int | None = 2) -> str:
    """Dataclasses and named tuples become objects, with the names of their fields."""
    return visible_json(json.dumps(plain_values(value), indent=indent, ensure_ascii=False))


def plain_values(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain_values(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain_values(each) for name, each in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(key): plain_values(each) for key, each in value.items()}
    if isinstance(value, list | tuple | frozenset | set):
        return [plain_values(each) for each in value]
    return value
