"""The fenced blocks of a page, and whether a test runs them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_BLOCK = re.compile(r"(<!-- not run: [^>]+ -->\n)?^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """`language` is empty for output. `runs` is false below `<!-- not run: why -->`."""

    language: str
    text: str
    runs: bool


def blocks(page: Path) -> list[Block]:
    return [
        Block(match[2], match[3], runs=match[1] is None)
        for match in _BLOCK.finditer(page.read_text())
    ]
