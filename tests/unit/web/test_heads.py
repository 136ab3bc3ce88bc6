"""Requests that a browser sends for a page of another site, and host names that resolve to localhost."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from heliograph.config.connectors.rest import Listener, read_rest_config
from heliograph.web.exchange import Refused
from heliograph.web.heads import Heads
from heliograph.web.listener.server import RestServer
from support.rest.asking import HEARTBEAT, Asking
from support.rest.listening import get, head, send, serving

LOOPBACK = Listener(scheme="http", host="localhost", port=8083)
EVERYWHERE = Listener(scheme="http", host="", port=8083)


def status(
    headers: dict[str, str], method: str = "GET", listener: Listener = LOOPBACK, **settings: str
) -> int:
    config = read_rest_config({n.replace("_", "."): v for n, v in settings.items()}, {})
    try:
        Heads(config, listener).check(method, headers)
    except Refused as e:
        return e.status
    return 200


@pytest.mark.parametrize(
    "host",
    [
        *(
            "localhost",
            "localhost:8083",
            "LOCALHOST:1",
            "localhost.",
            "127.0.0.1:8083",
            "127.1.2.3",
        ),
        *("[::1]:8083", "[::1]", "10.0.0.9:8083", "[fe80::1%25eth0]:8083"),
    ],
)
def test_localhost_and_addresses_are_answered_on_loopback(host: str) -> None:
    assert status({"host": host}) == 200


@pytest.mark.parametrize(
    "host",
    [
        *("attacker.example", "attacker.example:8083", "localhost.attacker.example", "", ":8083"),
        *("127.0.0.1.attacker.example", "user@localhost", "localhost:8083:1", "[localhost]x", "1"),
    ],
)
def test_other_names_are_not(host: str) -> None:
    assert status({"host": host}) == 421


def test_names_can_be_allowed() -> None:
    asked = {"host": "Mirror.example:8083"}

    assert status(asked, rest_allowed_hosts="other.example, mirror.example") == 200
    assert status(asked, rest_allowed_hosts="*") == 200
    assert status(asked, rest_advertised_host_name="mirror.example") == 200
    assert status(asked, rest_allowed_hosts="other.example") == 421


def test_a_worker_answers_to_its_own_names() -> None:
    """By them other workers send requests on to it."""
    named = Listener(scheme="http", host="mirror.example", port=8083)
    allowed = "proxy.example"

    assert status({"host": f"{os.uname().nodename}:8083"}) == 200
    assert status({"host": "mirror.example"}, listener=named, rest_allowed_hosts=allowed) == 200
    assert status({"host": "localhost"}, listener=named, rest_allowed_hosts=allowed) == 200


def test_other_listeners_check_names_if_there_are_some() -> None:
    asked = {"host": "attacker.example"}

    assert status(asked, listener=EVERYWHERE) == 200
    assert status(asked, listener=EVERYWHERE, rest_allowed_hosts="mirror.example") == 421


def test_the_real_listener_checks_names() -> None:
    with serving() as server:
        assert get(server.port, Host="attacker.example") == 421
        assert get(server.port, Host=f"localhost:{server.port}") == 200
        assert send(server.port, b"GET /connectors HTTP/1.0\r\n\r\n")[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, 200),
        ({"origin": "http://localhost:8083"}, 200),
        ({"origin": "http://attacker.example"}, 403),
        ({"origin": "http://localhost:9999"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://[broken"}, 403),
        ({"origin": "http://known.example"}, 200),
        ({"origin": "http://known.example.attacker.example"}, 403),
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "none"}, 200),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site", "origin": "http://localhost:3000"}, 403),
        ({"sec-fetch-site": "cross-site", "origin": "http://known.example"}, 200),
        # A console behind a proxy that names another host: the browser knows that it is the same.
        ({"sec-fetch-site": "same-origin", "origin": "https://console.example"}, 200),
    ],
)
def test_a_change_comes_from_no_page_or_from_a_known_one(
    method: str, headers: dict[str, str], expected: int
) -> None:
    asked = {"host": "localhost:8083", **headers}

    assert status(asked, method, access_control_allow_origin="http://known.example") == expected


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_what_changes_nothing_may_come_from_anywhere(method: str) -> None:
    assert status({"host": "localhost", "origin": "http://attacker.example"}, method) == 200


@pytest.fixture(scope="module")
def server() -> Iterator[RestServer]:
    """For many requests: to start one and stop it takes longer than to ask it."""
    with serving() as server:
        yield server


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
@pytest.mark.parametrize(
    "content_type", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]
)
def test_a_body_that_a_page_may_send_unasked_is_no_json(
    server: RestServer, method: str, content_type: str | None
) -> None:
    path = "/connectors" if method == "POST" else "/connectors/c/config"
    declared = {} if content_type is None else {"Content_Type": content_type}
    body = b'{"name": "c", "config": {}}'
    top = head(method, path, Content_Length=str(len(body)), **declared)

    assert send(server.port, top + body)[0] == 415


def test_requests_without_a_body_need_no_content_type() -> None:
    asking = Asking()
    asking.ask("POST", "/connectors", {"name": "c", "config": HEARTBEAT})

    assert asking.ask("PUT", "/connectors/c/pause").status == 202
    assert asking.ask("POST", "/connectors/c/restart").status in (202, 204)
