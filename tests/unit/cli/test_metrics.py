from __future__ import annotations

import socket

import pytest

from heliograph.cli.metrics import METRICS_AREA, _started
from heliograph.config.metrics_config import MetricsConfig
from heliograph.runtime.metering.scrape import Scrape
from heliograph.runtime.problems import Problems
from heliograph.web.endpoints.health import ServiceHealth
from support.scraping import scrape
from support.snapshots import SNAPSHOT

SCRAPE = Scrape(MetricsConfig(), lambda: SNAPSHOT)


def _health() -> ServiceHealth:
    return ServiceHealth(waits_for=None)


def test_a_taken_port_is_a_warning_and_a_problem_and_nothing_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    problems = Problems()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = taken.getsockname()[:2]
        assert _started(MetricsConfig(listener=address), SCRAPE, problems, _health) is None

    ((area, found),) = problems.areas().items()
    assert area == METRICS_AREA
    assert found[""].startswith(f"metrics.listener: http://127.0.0.1:{address[1]} cannot be opened")
    assert "restart the service" in found[""]
    assert [r.levelname for r in caplog.records] == ["WARNING"]
    assert problems.below("metrics") == {METRICS_AREA: found[""]}


def test_a_free_port_is_served() -> None:
    problems = Problems()
    server = _started(MetricsConfig(listener=("127.0.0.1", 0)), SCRAPE, problems, _health)
    assert server is not None
    try:
        assert scrape(f"http://127.0.0.1:{server.port}").value("heliograph_epochs_total") == 3
    finally:
        server.stop()
    assert problems.areas() == {}


def test_without_the_setting_there_is_no_listener() -> None:
    assert _started(MetricsConfig(), SCRAPE, Problems(), _health) is None
