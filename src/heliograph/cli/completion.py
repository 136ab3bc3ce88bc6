"""Completion in shells, by typer: its script calls `heliograph` with a variable that asks for words."""

from __future__ import annotations

# Typer uses both for --install-completion, which writes to the user's files; a command that prints is enough.
from typer.completion import (  # type: ignore[attr-defined]
    completion_init,
    get_completion_script,
)

from heliograph.cli.choices import Shell

COMPLETE = "_HELIOGRAPH_COMPLETE"


def answer_shells() -> None:
    """Registers the answers to shells' questions, before the command runs."""
    completion_init()


def completion_script(shell: Shell) -> str:
    script: str = get_completion_script(
        prog_name="heliograph", complete_var=COMPLETE, shell=shell.value
    )
    return script
