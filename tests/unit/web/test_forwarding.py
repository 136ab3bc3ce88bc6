"""Requests for the leading worker that arrive at another worker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from heliograph.config.connectors.rest import read_rest_config
from heliograph.connect.logger_levels import LoggerLevels
from heliograph.web.listener.server import RestServer
from support.rest.asking import HEARTBEAT, Asking
from support.rest.memory_herder import Follower, MemoryHerder


@contextmanager
def serving(herder: MemoryHerder) -> Iterator[str]:
    levels = LoggerLevels(lambda: 0)
    config = read_rest_config({"listeners": "http://localhost:0"}, {})
    server = RestServer(config, herder, levels, levels.set)
    server.start()
    try:
        yield f"http://localhost:{server.port}/"
    finally:
        server.stop()


@pytest.fixture
def leader() -> MemoryHerder:
    return MemoryHerder()


@pytest.fixture
def follower(leader: MemoryHerder) -> Iterator[Asking]:
    with serving(leader) as url:
        yield Asking(Follower(url))


def test_the_leader_does_it_and_its_answer_comes_back(
    follower: Asking, leader: MemoryHerder
) -> None:
    answer = follower.ask("POST", "/connectors", {"name": "a b", "config": HEARTBEAT})

    assert answer.status == 201
    assert answer.headers == {"location": "http://worker:8083/connectors/a%20b"}
    assert leader.connectors() == ["a b"]


def test_what_the_leader_refuses_is_refused(follower: Asking) -> None:
    answer = follower.ask("DELETE", "/connectors/c")

    assert answer.status == 404
    assert answer.content == {"error_code": 404, "message": "Connector c not found"}


def test_an_answer_without_a_body_has_none(follower: Asking, leader: MemoryHerder) -> None:
    leader.put("c", HEARTBEAT, initial_state=None, allow_replace=True)

    answer = follower.ask("DELETE", "/connectors/c")

    assert (answer.status, answer.content, answer.media_type) == (204, None, None)


def test_a_request_goes_on_twice_at_most(leader: MemoryHerder) -> None:
    with serving(leader) as end, serving(Follower(end)) as middle:
        answer = Asking(Follower(middle)).ask("DELETE", "/connectors/c")
        assert answer.status == 404

        with serving(Follower(middle)) as far:
            answer = Asking(Follower(far)).ask("DELETE", "/connectors/c")

    assert answer.status == 409
    assert answer.content == {
        "error_code": 409,
        "message": "Cannot complete request because of a conflicting operation (e.g. worker rebalance)",
    }


def test_a_request_that_may_not_go_on_does_not(follower: Asking) -> None:
    assert follower.ask("DELETE", "/connectors/c?forward=false").status == 409


def test_nobody_leads() -> None:
    answer = Asking(Follower("")).ask("DELETE", "/connectors/c")

    assert answer.status == 409
    assert "no known leader URL" in answer.body().decode()


def test_a_leader_that_is_gone_is_said_to_be() -> None:
    answer = Asking(Follower("http://localhost:1/")).ask("DELETE", "/connectors/c")

    assert answer.status == 500
    assert "IO Error trying to forward REST request" in answer.body().decode()
