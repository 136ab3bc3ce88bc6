"""Logins, and answers for a herder's errors; all other answers are in conformance/golden.json."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from heliograph.connect.herder import ConnectorStatus, Forbidden, Rebalancing, RequestTimeout, State
from heliograph.errors import Unreachable
from support.rest.asking import HEARTBEAT, Asking
from support.rest.memory_herder import MemoryHerder


def basic(user: str, password: str) -> dict[str, str]:
    return {"authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


@pytest.fixture
def guarded(tmp_path: Path) -> Asking:
    users = tmp_path / "users.properties"
    users.write_text("alice = s3same\n")
    return Asking(rest_users_file=str(users))


def test_known_users_may_ask(guarded: Asking) -> None:
    assert guarded.ask("GET", "/connectors", headers=basic("alice", "s3same")).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        basic("alice", "s3sam"),
        basic("alice", ""),
        basic("bob", "s3same"),
        basic("", ""),
        {"authorization": "Basic %%%"},
        {"authorization": "Basic /////w=="},
        {"authorization": "Bearer s3same"},
    ],
)
@pytest.mark.parametrize("target", ["/", "/health", "/connectors", "/admin/loggers", "/nowhere"])
def test_others_are_told_nothing(guarded: Asking, headers: dict[str, str], target: str) -> None:
    answer = guarded.ask("GET", target, headers=headers)

    assert answer.status == 401
    assert answer.content == {"error_code": 401, "message": "User cannot access the resource."}


class Failing(MemoryHerder):
    def __init__(self, failure: Exception) -> None:
        super().__init__()
        self._failure = failure

    def delete(self, name: str) -> None:
        raise self._failure


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (Rebalancing("Cannot complete request momentarily"), 409),
        (Forbidden("the connectors are those of a file"), 403),
        (RequestTimeout("Request timed out"), 500),
        (Unreachable("none of the brokers answers"), 500),
    ],
)
def test_failures_of_a_herder_have_their_status(failure: Exception, status: int) -> None:
    answer = Asking(Failing(failure)).ask("DELETE", "/connectors/c")

    assert answer.status == status
    assert answer.content == {"error_code": status, "message": str(failure)}


def test_a_worker_that_starts_says_what_it_waits_for() -> None:
    herder = MemoryHerder()
    herder.waits_for = "it has not read its topics yet"

    answer = Asking(herder).ask("GET", "/health")

    assert answer.status == 503
    assert answer.content == {
        "status": "starting",
        "message": "Worker is still starting up. it has not read its topics yet",
    }


class Broken(MemoryHerder):
    def status(self, name: str) -> ConnectorStatus:
        failed = State("FAILED", "w:8083", trace="no broker answers")
        return ConnectorStatus(name, failed, {1: failed, 0: failed}, "source")


def test_trace_stands_where_something_failed() -> None:
    status = Asking(Broken()).content("GET", "/connectors/c/status")

    assert list(status["connector"]) == ["state", "worker_id", "version", "trace"]
    assert [task["id"] for task in status["tasks"]] == [0, 1]


def test_topics_can_be_kept_to_oneself() -> None:
    silent = Asking(topic_tracking_enable="false")
    fixed = Asking(topic_tracking_allow_reset="false")

    assert silent.content("GET", "/connectors/c/topics")["message"] == "Topic tracking is disabled."
    assert silent.ask("PUT", "/connectors/c/topics/reset").status == 403
    assert fixed.ask("GET", "/connectors/c/topics").status == 200
    assert fixed.content("PUT", "/connectors/c/topics/reset")["message"] == (
        "Topic tracking reset is disabled."
    )


def test_loggers_are_not_where_they_have_listeners_of_their_own() -> None:
    assert Asking(admin_listeners="http://localhost:0").ask("GET", "/admin/loggers").status == 404
    assert Asking().ask("GET", "/admin/loggers").status == 200


def test_exactly_once_may_be_required_where_the_worker_has_it() -> None:
    config = {
        **HEARTBEAT,
        "connector.class": "MirrorSourceConnector",
        "exactly.once.support": "required",
        "consumer.isolation.level": "read_committed",
    }
    asked = {"name": "c", "config": config}

    assert Asking().ask("POST", "/connectors", asked).status == 400
    assert (
        Asking(exactly_once_source_support="enabled").ask("POST", "/connectors", asked).status
        == 201
    )
