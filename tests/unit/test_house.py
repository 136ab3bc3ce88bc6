"""The house stays small: folders, files and functions of the package that a reader can take in."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import heliograph

PACKAGE = Path(heliograph.__file__).parent
FILES = [path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"]


def lengths(path: Path) -> Iterator[int]:
    """Of the functions of a file, in lines."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield node.end_lineno - node.lineno + 1


def test_a_folder_has_at_most_20_modules() -> None:
    folders = Counter(str(path.parent.relative_to(PACKAGE)) for path in FILES)

    assert {name: count for name, count in folders.items() if count > 20} == {}


def test_a_file_has_at_most_500_lines() -> None:
    files = {str(path): len(path.read_text().splitlines()) for path in FILES}

    assert {name: lines for name, lines in files.items() if lines > 500} == {}


def test_nine_functions_of_ten_have_at_most_20_lines() -> None:
    found = sorted(length for path in FILES for length in lengths(path))

    assert found[len(found) * 9 // 10] <= 20
