"""Rewords what pydantic says of options that cannot be read: typer shows its sentences as they are."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

_PREFIX = "Value error, "
_INPUT = "Input should be "
_EXPECTED = {
    "a valid integer": "a whole number",
    "a valid number": "a number",
    "a valid boolean": "true or false",
}


def reworded(message: str) -> str:
    message = message.removeprefix(_PREFIX)
    if not message.startswith(_INPUT):
        return message
    what, _, _ = message.removeprefix(_INPUT).partition(", unable to")
    return f"expected {_EXPECTED.get(what, what)}"


class Commands(TyperGroup):
    """All of our commands."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as e:
            e.message = reworded(e.message)
            raise
