"""The man page and the reference of commands are those of the commands."""

from __future__ import annotations

import pytest

from heliograph.cli.reference import commands, man_page, markdown
from support.repository import ROOT


@pytest.mark.parametrize(
    ("file", "text", "kind"),
    [("deploy/man/heliograph.1", man_page, "man"), ("docs/cli.md", markdown, "markdown")],
)
def test_the_committed_page_is_what_the_commands_give(file: str, text: object, kind: str) -> None:
    assert callable(text)
    assert (ROOT / file).read_text() == f"{text()}\n", (
        f"run: python -m heliograph.cli.reference {kind} > {file}"
    )


def test_every_command_has_a_summary_and_every_option_a_meaning() -> None:
    found = list(commands())

    assert {each.name for each in found} >= {"run", "serve", "plan", "status", "check", "init"}
    for each in found:
        assert each.summary
        assert each.usage.startswith(f"heliograph {each.name}")
        assert all(meaning for _, meaning in each.parameters), each.name


def test_no_line_of_the_man_page_is_taken_for_a_request() -> None:
    requests = {".TH", ".SH", ".SS", ".PP", ".TP", ".B"}
    for line in man_page().splitlines():
        assert not line.startswith("'")
        assert not line.startswith(".") or line.split()[0] in requests
