"""Log lines of requests, and of refused users."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from support.rest.listening import basic, connected, get, head, send, serving


@pytest.fixture
def users(tmp_path: Path) -> dict[str, str]:
    file = tmp_path / "users.properties"
    file.write_text("alice = s3same\n")
    return {"rest.users.file": str(file)}


def lines(caplog: pytest.LogCaptureFixture, logger: str) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == logger]


def test_every_request_is_a_line(users: dict[str, str], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with serving(users) as server:
        get(server.port, "/connectors?expand=status", Authorization=basic("alice", "s3same"))
        get(server.port, "/connectors/%0d%0aforged", Authorization=basic("alice", "s3same"))
        get(server.port, "/", source="127.0.0.2")
        get(server.port, "/", Host="attacker.example")

    first, second, third, fourth = lines(caplog, "heliograph.web.access")
    assert first.startswith('127.0.0.1 alice "GET /connectors?expand=status" 200, 2 bytes, ')
    assert first.endswith(" ms")
    assert second.startswith('127.0.0.1 alice "GET /connectors/%0d%0aforged" 404, ')
    assert third.startswith('127.0.0.2 - "GET /" 401, ')
    assert fourth.startswith('127.0.0.1 - "GET /" 421, ')


def test_the_lines_can_be_switched_off(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with serving({"rest.access.log": "false"}) as server:
        assert get(server.port) == 200

    assert lines(caplog, "heliograph.web.access") == []


def test_a_refused_login_is_logged_with_its_address_and_without_its_password(
    users: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(users) as server:
        get(server.port, Authorization=basic("alice", "wr0ng-word"))
        get(server.port, Authorization=basic("bob\r\nroot logged in", "wr0ng-word"))
        get(server.port, Authorization=basic("x" * 5000, "wr0ng-word"))
        get(server.port)

    first, second, third, fourth = lines(caplog, "heliograph.web.gate")
    assert first == "401 for user alice from 127.0.0.1: unknown user or wrong password"
    assert second.startswith(r"401 for user bob\r\nroot logged in from 127.0.0.1")
    assert len(third) < 200
    assert fourth == "401 for a request from 127.0.0.1: no password"
    assert "wr0ng-word" not in caplog.text
    assert "s3same" not in caplog.text


def test_plain_passwords_are_warned_of(
    users: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    with serving(users):
        pass

    assert "the passwords of alice are in plain text" in caplog.text
    assert "heliograph password NAME" in caplog.text
    assert "s3same" not in caplog.text


def test_connections_that_are_closed_for_others_are_told_of(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with serving({"rest.max.connections.per.ip": "1"}) as server:
        for _ in range(3):
            assert send(server.port, head("GET", "/", Connection="keep-alive"))[0] == 200
        with connected(server.port, 3):
            assert get(server.port) == 200

    told = lines(caplog, "heliograph.web.listener.connections")
    assert told
    assert "127.0.0.1 has 1 (rest.max.connections.per.ip)" in told[0]
