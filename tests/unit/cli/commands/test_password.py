from __future__ import annotations

import io
from pathlib import Path

import pytest

from heliograph.cli.commands.password import password
from heliograph.config.security.rest_users import read_users
from heliograph.config.security.role import Role
from heliograph.errors import ConfigError
from heliograph.web.passwords import Passwords


def piped(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


@pytest.mark.parametrize("user", ["alice", "al ice", "a=b", "#x", "größe"])
def test_the_line_is_one_of_a_users_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    user: str,
) -> None:
    piped(monkeypatch, "s3same word\r\nanother line\n")

    assert password(user, Role.READ) == 0

    file = tmp_path / "users.properties"
    line = capsys.readouterr().out
    file.write_text(line)
    users = read_users(str(file))
    assert "s3same" not in line
    assert users[user].role is Role.READ
    assert users[user].hashed
    assert Passwords(users).right(user, "s3same word")


@pytest.mark.parametrize(("user", "text"), [("alice", "\n"), ("alice", ""), ("a:b", "x\n")])
def test_bad_input_is_an_error(monkeypatch: pytest.MonkeyPatch, user: str, text: str) -> None:
    piped(monkeypatch, text)

    with pytest.raises(ConfigError):
        password(user, Role.WRITE)


def test_at_a_terminal_it_is_asked_for_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    answers = iter(["one", "another"])
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("getpass.getpass", lambda _: next(answers))

    with pytest.raises(ConfigError, match="the two entries differ; try again"):
        password("alice", Role.WRITE)
