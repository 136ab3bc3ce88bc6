"""What every command line tool does: help, completion, lists, one sentence for what is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from unittest import mock

import pytest

from heliograph.cli.arguments import items
from heliograph.cli.commands import demo
from heliograph.cli.output.logs import LogOptions
from heliograph.errors import EnvironmentProblem
from support.commands import heliograph_here


@pytest.mark.parametrize("arguments", [("-h",), ("--help",), ("status", "-h"), ("run", "--help")])
def test_help_is_one_option_away(arguments: tuple[str, ...]) -> None:
    done = heliograph_here(*arguments)

    assert done.returncode == 0
    assert "Usage: heliograph" in done.stdout


def test_the_command_alone_prints_its_help() -> None:
    done = heliograph_here()

    assert "Usage: heliograph" in done.stdout + done.stderr
    assert "Mirror clusters as connect-mirror-maker.sh does" in done.stdout + done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_a_script_for_completion(shell: str) -> None:
    done = heliograph_here("completion", shell)

    assert done.returncode == 0
    assert f"_HELIOGRAPH_COMPLETE=complete_{shell}" in done.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("heliograph sta", ["status"]),
        ("heliograph status --wi", ["--wide"]),
        ("heliograph plan -o ", ["text", "json", "yaml"]),
    ],
)
def test_a_shell_gets_the_words_that_may_follow(words: str, expected: list[str]) -> None:
    """As the script of bash asks, in a process of its own."""
    asked = {
        "_HELIOGRAPH_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }
    done = subprocess.run(
        [sys.executable, "-m", "heliograph"],
        env=os.environ | asked,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.split() == expected


def test_items_of_a_list_are_separated_by_commas_or_given_one_by_one() -> None:
    assert items(["a,b", "c"]) == items(["a", " b , c"]) == ("a", "b", "c")
    assert items(None) == items(["", ","]) == ()


@pytest.mark.parametrize("nodes", ["0", "2", "4"])
def test_brokers_come_one_or_three_at_a_time(nodes: str) -> None:
    done = heliograph_here("brokers", "--nodes", nodes)

    assert done.returncode == 2
    assert f"--nodes: expected 1 or 3 brokers per cluster, found {nodes}" in done.stderr


def test_a_demo_without_its_client_is_one_sentence_before_anything_starts() -> None:
    with (
        mock.patch.object(demo, "find_spec", return_value=None),
        mock.patch.object(demo, "Cluster", side_effect=AssertionError("brokers were started")),
        pytest.raises(EnvironmentProblem, match=r"pip install 'heliograph\[demo\]'"),
    ):
        demo.demo(LogOptions(), once=True)
