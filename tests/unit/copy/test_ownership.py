"""A partition's state belongs to one file: no other module assigns its fields."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from heliograph.copy.partition import Partition
from heliograph.copy.state.health import Health
from heliograph.copy.state.numbering import Numbering
from heliograph.copy.state.remote_log import RemoteLog
from heliograph.copy.state.stored_offset import StoredOffset
from support.repository import ROOT

_SOURCES = ROOT / "src" / "heliograph"
#: Each part has its own file; the partition alone calls its methods.
_OWNERS = {"partition.py", "health.py", "numbering.py", "remote_log.py", "stored_offset.py"}
_PARTS = {"health": Health, "numbers": Numbering, "remote": RemoteLog, "offset": StoredOffset}
#: What `self` of another class may be called, too, is looked for on names of partitions only.
_NAMES = {"copy", "partition"}


def _modules() -> list[Path]:
    rooms = ("copy", "spark", "runtime")
    found = [path for room in rooms for path in sorted((_SOURCES / room).rglob("*.py"))]
    return [path for path in found if path.name not in _OWNERS]


def _written(tree: ast.AST) -> Iterator[ast.Attribute]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, (ast.Store, ast.Del)):
            yield node


def _is_partition(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in _NAMES


@pytest.mark.parametrize("path", _modules(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_other_module_changes_a_partition(path: Path) -> None:
    tree = ast.parse(path.read_text())
    names = {field.name for field in fields(Partition)}
    wrong = [
        f"line {node.lineno}: {ast.unparse(node)} is assigned"
        for node in _written(tree)
        if (_is_partition(node.value) and node.attr in names)
        or (isinstance(node.value, ast.Attribute) and node.value.attr in _PARTS)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", _modules(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_other_module_changes_a_part_of_one(path: Path) -> None:
    """Reading is free; a method of a part that changes it is the partition's to call."""
    reads = {"shows_loss"}
    wrong = []
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        part = node.func.value
        if isinstance(part, ast.Attribute) and part.attr in _PARTS and _is_partition(part.value):
            methods = {name for name in vars(_PARTS[part.attr]) if not name.startswith("_")}
            if node.func.attr in methods - reads:
                wrong.append(f"line {node.lineno}: {ast.unparse(node.func)}")
    assert not wrong, "\n".join(wrong)


def test_the_search_finds_an_assignment() -> None:
    tree = ast.parse("copy.position = 1\ncopy.remote.floor += 2\nself.position = 3\n")
    found = [ast.unparse(node) for node in _written(tree)]
    assert found == ["copy.position", "copy.remote.floor", "self.position"]
