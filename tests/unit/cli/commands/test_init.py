from __future__ import annotations

import stat
from pathlib import Path
from unittest import mock

import pytest

from support.commands import Done, heliograph_here

ENDS = ("--source", "us=us1:9092", "--target", "eu=eu1:9092,eu2:9092")


def init(path: Path, *options: str, typed: str | None = None) -> Done:
    """`typed`: the lines that a user types on a terminal; None: there is no terminal."""
    answers = iter((typed or "").split("\n"))

    def ask(_: str, default: object = None, **__: object) -> object:
        return next(answers) or default

    def confirm(_: str, **__: object) -> bool:
        return next(answers) == "y"

    with (
        mock.patch("sys.stdin.isatty", return_value=typed is not None),
        mock.patch("typer.prompt", ask),
        mock.patch("typer.confirm", confirm),
    ):
        return heliograph_here("init", path, *options)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mm2.properties"


def test_options_are_enough(path: Path) -> None:
    done = init(path, *ENDS, "--topics", "orders", "--groups", "billing", "--both")

    assert (done.returncode, done.stderr) == (0, "")
    assert "flows: us->eu, eu->us" in done.stdout
    text = path.read_text()
    assert "eu.bootstrap.servers = eu1:9092,eu2:9092" in text
    assert "eu->us.topics = orders" in text
    assert "us->eu.groups = billing" in text


def test_a_cluster_has_a_name_that_topics_can_begin_with(path: Path) -> None:
    done = init(path, "--source", "my cluster=us1:9092", "--target", "eu=eu1:9092")

    assert done.returncode == 2
    assert "--source: expected a name of letters, digits" in done.stderr
    assert "found 'my cluster'" in done.stderr
    assert not path.exists()


def test_a_file_that_exists_is_overwritten_only_by_force(path: Path) -> None:
    path.write_text("mine")
    refused = init(path, *ENDS)
    assert refused.returncode == 2
    assert "exists already" in refused.stderr
    assert path.read_text() == "mine"

    assert init(path, *ENDS, "--force").returncode == 0
    assert "us->eu.enabled = true" in path.read_text()


def test_only_what_is_missing_is_asked_for(path: Path) -> None:
    lines = "SASL_SSL\nalice\nsecret\n\nPLAINTEXT"
    done = init(path, *ENDS, "--topics", "orders", "--groups", "g", "--one-way", typed=lines)

    assert done.returncode == 0, done.stderr
    assert 'username="alice" password="secret"' in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "secret" not in done.stdout + done.stderr


def test_questions_alone_are_enough_and_passwords_need_not_be_typed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("US_PASSWORD", raising=False)
    lines = "us=us1:9092\neu=eu1:9092\norders\n\ny\nSASL_PLAINTEXT\nalice\n\n"
    done = init(path, typed=lines)

    assert done.returncode == 0, done.stderr
    assert "flows: us->eu, eu->us" in done.stdout
    assert "set in the environment: US_PASSWORD" in done.stdout
    assert 'password="${env:US_PASSWORD}"' in path.read_text()


def test_a_wrong_answer_is_asked_for_again_and_the_others_are_kept(path: Path) -> None:
    lines = "us\nus=us1\nus=us1:9092\nmy eu=eu1:1\neu=eu1:1\norders\n\nn\nTLS\nssl\n\nPLAINTEXT"
    done = init(path, typed=lines)

    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[:4] == [
        "error: --source: expected NAME=HOST:PORT, found 'us'",
        "error: --source: expected host:port, found 'us1'",
        "error: --target: expected a name of letters, digits, '.', '_' and '-', since topics are named after "
        "it; found 'my eu'",
        "error: --security: expected one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL, found 'TLS'",
    ]
    assert "us.security.protocol = SSL" in path.read_text()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--source", "us=us1:9092"), "--target: expected NAME=HOST:PORT, found nothing"),
        ((*ENDS[:3], "eu1:9092"), "--target: expected NAME=HOST:PORT, found 'eu1:9092'"),
        ((*ENDS[:3], "us=eu1:9092"), "--target: expected another name than 'us'"),
        ((*ENDS[:3], "eu=eu1"), "--target: expected host:port, found 'eu1'"),
        ((*ENDS, "--security", "TLS"), "--security: expected one of PLAINTEXT, SSL"),
        ((*ENDS, "--security", "as=SSL"), "--security: expected us or eu, found 'as'"),
        ((*ENDS, "--security", "us=SASL_SSL"), "--user: expected us=NAME"),
    ],
)
def test_what_is_wrong_is_said(path: Path, options: tuple[str, ...], problem: str) -> None:
    done = init(path, *options)
    assert done.returncode == 2
    assert problem in done.stderr
    assert not path.exists()
