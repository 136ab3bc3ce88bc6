from __future__ import annotations

import pytest
from typer.testing import CliRunner

from heliograph.cli.main import app
from heliograph.cli.usage_errors import reworded


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["plan", "mm2.properties", "-o", "nonsense"], "'nonsense' is not one of 'text'"),
        (["dump", "nonsense"], "'nonsense' is not one of 'checkpoints'"),
        (["brokers", "--nodes", "x"], "expected a whole number"),
        (["top", "--interval", "x"], "expected a number"),
    ],
)
def test_a_wrong_value_is_said_in_plain_words(arguments: list[str], words: str) -> None:
    done = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})

    assert done.exit_code == 2
    assert words in done.output
    assert "Value error" not in done.output
    assert "Input should" not in done.output


def test_other_sentences_stay() -> None:
    assert reworded("x does not exist") == "x does not exist"
    assert reworded("Input should be less than 9") == "expected less than 9"
