"""The application as HTTP: limits, other origins, headers, TLS."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from heliograph.config.connectors.rest import read_rest_config
from heliograph.connect.logger_levels import LoggerLevels
from heliograph.errors import ConfigError
from heliograph.web.app import new_app
from heliograph.web.listener.server import RestServer
from support.rest.asking import JSON_BODY, Asking
from support.rest.memory_herder import MemoryHerder
from support.waiting import PATIENCE_SECONDS


def ask(asking: Asking, method: str, target: str, **rest: object) -> httpx.Response:
    async def answer() -> httpx.Response:
        transport = httpx.ASGITransport(
            new_app(asking.api, asking.config), raise_app_exceptions=False
        )
        async with httpx.AsyncClient(transport=transport, base_url="http://worker:8083") as client:
            return await client.request(method, target, **rest)  # type: ignore[arg-type]

    return asyncio.run(answer())


def test_json_is_compact_and_utf_8() -> None:
    response = ask(Asking(), "PUT", "/connectors/größe/topics/reset")
    topics = ask(Asking(), "GET", "/connectors/gr%C3%B6%C3%9Fe/topics")

    assert response.status_code == 202
    assert topics.content == '{"größe":{"topics":[]}}'.encode()
    assert topics.headers["content-type"] == "application/json"


def test_body_that_is_too_large_is_refused_before_it_is_read() -> None:
    asking = Asking(rest_request_max_bytes="100")

    response = ask(asking, "POST", "/connectors", content=b"x" * 101)

    assert response.status_code == 413
    assert response.json() == {
        "error_code": 413,
        "message": "Request body: expected at most 100 bytes (rest.request.max.bytes)",
    }


def test_body_that_grows_too_large_is_refused() -> None:
    async def pieces() -> Iterator[bytes]:  # type: ignore[misc]
        for _ in range(20):
            yield b"x" * 10

    response = ask(Asking(rest_request_max_bytes="100"), "POST", "/connectors", content=pieces())

    assert response.status_code == 413


def test_queries_have_a_limit() -> None:
    response = ask(Asking(), "GET", "/connectors?" + "&".join(f"a{n}=1" for n in range(101)))

    assert response.status_code == 400


@pytest.mark.parametrize("number", ["9" * 5000, "-" + "1" * 41, "1e" + "9" * 50, "1e999"])
def test_numbers_have_a_limit(number: str) -> None:
    body = f'{{"offsets": [{{"partition": {{"a": {number}}}, "offset": null}}]}}'

    altered = ask(
        Asking(), "PATCH", "/connectors/c/offsets", content=body.encode(), headers=JSON_BODY
    )
    task = ask(Asking(), "GET", f"/connectors/c/tasks/{number}/status")

    assert (altered.status_code, task.status_code) == (400, 404)


class Mistaken(MemoryHerder):
    def connectors(self) -> list[str]:
        raise ZeroDivisionError("our mistake")


def test_a_mistake_of_ours_has_connects_shape_and_tells_nothing() -> None:
    response = ask(Asking(Mistaken()), "GET", "/connectors")

    assert response.status_code == 500
    assert response.json() == {
        "error_code": 500,
        "message": "ZeroDivisionError: see the worker's log",
    }


def test_any_origin_if_so_configured() -> None:
    asking = Asking(access_control_allow_origin="*")

    response = ask(asking, "GET", "/", headers={"origin": "http://anywhere.example"})

    assert response.headers["access-control-allow-origin"] == "http://anywhere.example"
    assert response.headers["vary"] == "Origin"


def test_no_origin_unless_configured() -> None:
    response = ask(Asking(), "GET", "/", headers={"origin": "http://anywhere.example"})

    assert "access-control-allow-origin" not in response.headers


def test_headers_as_configured() -> None:
    asking = Asking(
        response_http_headers_config='set X-Frame-Options: DENY, "add Cache-Control: no-store, private", '
        "addDate X-Epoch: 0"
    )

    headers = ask(asking, "GET", "/nowhere").headers

    assert headers["x-frame-options"] == "DENY"
    assert headers["cache-control"] == "no-store, private"
    assert headers["x-epoch"] == "Thu, 01 Jan 1970 00:00:00 GMT"


def test_401_says_how_to_log_in(tmp_path: object) -> None:
    from pathlib import Path

    users = Path(str(tmp_path)) / "users"
    users.write_text("a=b\n")

    response = ask(Asking(rest_users_file=str(users)), "GET", "/")

    assert response.status_code == 401
    assert response.headers["www-authenticate"] == 'Basic realm="connect"'


@contextmanager
def serving(settings: dict[str, str]) -> Iterator[RestServer]:
    levels = LoggerLevels(lambda: 0)
    server = RestServer(read_rest_config(settings, {}), MemoryHerder(), levels, levels.set)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def get(port: int, path: str) -> tuple[int, object]:
    connection = http.client.HTTPConnection("localhost", port, timeout=PATIENCE_SECONDS)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        content = response.read()
        return response.status, json.loads(content) if content else None
    finally:
        connection.close()


def test_admin_listeners_serve_loggers_and_nothing_else() -> None:
    both = {"listeners": "http://localhost:0", "admin.listeners": "http://localhost:0"}
    with serving(both) as server:
        main, admin = (listener.port for listener in server.listening)

        assert get(main, "/connectors")[0] == 200
        assert get(main, "/admin/loggers")[0] == 404
        assert get(admin, "/admin/loggers")[0] == 200
        assert get(admin, "/connectors")[0] == 404


def test_several_listeners_serve_the_same() -> None:
    with serving({"listeners": "http://127.0.0.1:0,http://localhost:0"}) as server:
        assert {get(each.port, "/connectors")[0] for each in server.listening} == {200}


def test_an_address_that_is_taken_is_said_to_be() -> None:
    with serving({"listeners": "http://localhost:0"}) as server:
        taken = f"http://localhost:{server.port}"
        with (
            pytest.raises(ConfigError, match=f"{taken} cannot be opened"),
            serving({"listeners": taken}),
        ):
            pass
