"""A number with its noun, for sentences: 1 topic, 2,000 topics."""

from __future__ import annotations


def counted(number: int, one: str, many: str | None = None) -> str:
    """`many`: if it is not `one` with an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
