"""/metrics over local sockets: negotiation, authentication, a port of its own, bad input."""

from __future__ import annotations

import base64
import json
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from heliograph.config.connectors.rest import read_rest_config
from heliograph.config.metrics_config import MetricsConfig
from heliograph.connect.logger_levels import LoggerLevels
from heliograph.errors import ConfigError
from heliograph.metrics.exposition import Exposed, expose
from heliograph.web.endpoints.health import ServiceHealth
from heliograph.web.listener.metrics_server import MetricsServer
from heliograph.web.listener.server import HttpServer, RestServer
from support.rest.memory_herder import MemoryHerder
from support.scraping import OPENMETRICS, scrape, scrape_text
from support.snapshots import SNAPSHOT


def _text(accept: str) -> Exposed:
    return expose(SNAPSHOT, MetricsConfig(), accept)


def _health() -> ServiceHealth:
    return ServiceHealth(waits_for=None, groups={"a-mm2": "standby"})


@contextmanager
def _serving(server: HttpServer) -> Iterator[str]:
    server.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.stop()


def _rest(**settings: str) -> RestServer:
    levels = LoggerLevels(lambda: 0)
    config = read_rest_config({"listeners": "http://127.0.0.1:0", **settings}, {})
    return RestServer(config, MemoryHerder(), levels, levels.set, scrape=_text)


@pytest.fixture
def alone() -> Iterator[str]:
    with _serving(MetricsServer(("127.0.0.1", 0), _text, health=_health)) as url:
        yield url


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("", "text/plain; version=0.0.4"),
        ("text/plain", "text/plain; version=0.0.4"),
        ("text/html", "text/plain; version=0.0.4"),
        (OPENMETRICS, "application/openmetrics-text; version=1.0.0"),
    ],
)
def test_the_format_is_the_one_that_the_client_accepts(
    alone: str, accept: str, content_type: str
) -> None:
    text, found = scrape_text(alone, accept)

    assert found.startswith(content_type)
    assert text == _text(accept).text.decode()


def test_the_rest_api_serves_the_same() -> None:
    with _serving(_rest()) as url:
        assert scrape(url).value("heliograph_epochs_total") == 3


def test_on_the_rest_api_it_has_the_authentication_of_the_others(tmp_path: Path) -> None:
    users = tmp_path / "users"
    users.write_text("prometheus=secret\n")
    login = base64.b64encode(b"prometheus:secret").decode()
    with _serving(_rest(**{"rest.users.file": str(users)})) as url:
        with pytest.raises(urllib.error.HTTPError, match="401"):
            scrape_text(url)
        text, _ = scrape_text(url, headers={"Authorization": f"Basic {login}"})
    assert "heliograph_epochs_total" in text


def test_a_port_of_its_own_serves_nothing_else(alone: str) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404"):
        scrape_text(f"{alone}/connectors")


def test_a_taken_port_is_an_error_with_the_name_of_the_setting() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        server = MetricsServer(("127.0.0.1", taken.getsockname()[1]), _text, health=_health)
        with pytest.raises(ConfigError, match=r"metrics\.listener: http://127\.0\.0\.1.*in use"):
            server.start()


def test_a_scraper_that_does_not_read_delays_no_other(alone: str) -> None:
    port = int(alone.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as slow:
        slow.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\n")  # not even the end of its request
        assert scrape(alone).value("heliograph_restarts_total") == 1


def test_a_hundred_scrapers_are_answered(alone: str) -> None:
    found: list[float | None] = []

    def ask() -> None:
        found.append(scrape(alone).value("heliograph_epochs_total"))

    threads = [threading.Thread(target=ask) for _ in range(100)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == [3] * 100


def test_without_a_scrape_there_is_no_route() -> None:
    levels = LoggerLevels(lambda: 0)
    config = read_rest_config({"listeners": "http://127.0.0.1:0"}, {})
    with (
        _serving(RestServer(config, MemoryHerder(), levels, levels.set)) as url,
        pytest.raises(urllib.error.HTTPError, match="404"),
    ):
        scrape_text(url)


def test_health_tells_a_standby_from_a_service_that_runs(alone: str) -> None:
    with urllib.request.urlopen(f"{alone}/health") as answer:
        found = json.load(answer)

    assert found["status"] == "healthy"
    assert found["groups"] == {"a-mm2": "standby"}


def test_health_is_503_with_the_reason_until_the_service_is_ready() -> None:
    def starting() -> ServiceHealth:
        return ServiceHealth(waits_for="Spark has not started yet.")

    with (
        _serving(MetricsServer(("127.0.0.1", 0), _text, health=starting)) as url,
        pytest.raises(urllib.error.HTTPError) as refused,
    ):
        urllib.request.urlopen(f"{url}/health")

    assert refused.value.code == 503
    assert json.load(refused.value)["message"] == "Spark has not started yet."
    refused.value.close()
