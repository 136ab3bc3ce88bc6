"""Progress lines with the time, and aligned tables."""

from __future__ import annotations

import time
from collections.abc import Sequence


def say(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)


def aligned(lines: Sequence[Sequence[str]], *, left: int) -> str:
    """Columns as wide as their widest cell; the first `left` columns to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if index < left else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
