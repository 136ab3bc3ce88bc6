"""The page of a worker of `heliograph serve`: flows come from its connectors, which come and go."""

from __future__ import annotations

from urllib.parse import quote

import httpx

from heliograph.cli.page import page_of
from heliograph.config.connectors.rest import read_rest_config
from heliograph.connect.logger_levels import LoggerLevels
from heliograph.inspection.worker_connectors import read_worker_connectors
from heliograph.web.listener.server import RestServer, now_ms
from support.clusters.writing import numbered, write
from support.flows.mirroring import Flow
from support.rest.workers import await_records, connector, worker
from support.waiting import PATIENCE_SECONDS, eventually


def test_a_workers_page_shows_and_steers_a_connector_that_was_created_meanwhile(flow: Flow) -> None:
    topic = flow.create("orders")
    write(flow.source, topic, numbered(range(10)))
    with worker(flow) as running:
        page = page_of(
            running.mirror,
            running.progress,
            running.herder,
            lambda: read_worker_connectors(running.config, "page under test").mirror,
            writable=True,
        )
        rest = read_rest_config({"listeners": "http://localhost:0"}, {})
        levels = LoggerLevels(now_ms)
        server = RestServer(rest, running.herder, levels, levels.set, page=page)
        server.start()
        page.start()
        base = f"http://localhost:{server.port}"
        try:
            with httpx.Client(base_url=base, timeout=PATIENCE_SECONDS) as browser:
                assert "No flows yet" in browser.get("/ui").text
                running.create("copy", connector(flow, "Source"))
                await_records(flow, flow.remote(topic), 10)

                eventually(
                    lambda: browser.get("/ui").text, lambda text: "The flow is quiet" in text
                )
                shown = eventually(
                    lambda: browser.get("/ui/flows/copy").text, lambda text: f"{topic}-0" in text
                )
                assert f"{flow.alias} → b" in browser.get("/ui").text
                assert "quiet" in shown
                eventually(
                    lambda: browser.get("/ui/topics").text,
                    lambda text: flow.remote(topic) in text,
                )
                form = {"origin": base, "sec-fetch-site": "same-origin"}
                asked = browser.post(f"/ui/connectors/{quote('copy')}/pause", headers=form)
                assert asked.status_code == 303
                running.await_state("copy", "PAUSED")
                eventually(
                    lambda: browser.get("/ui").text, lambda text: "The flow is paused" in text
                )
        finally:
            server.stop()
