"""The page of a real mirror in a real browser: every address, live figures, actions."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from heliograph.cli.page import page_of
from heliograph.config.connectors.rest import read_rest_config
from heliograph.config.mirror_config import MirrorConfig
from heliograph.connect.dedicated_herder import DedicatedHerder
from heliograph.connect.logger_levels import LoggerLevels
from heliograph.embedded import Cluster
from heliograph.inspection.clusters import Clusters
from heliograph.inspection.mirror_status import ServiceState
from heliograph.inspection.status import observe_mirror
from heliograph.spark.session import LocalSpark
from heliograph.web.listener.server import RestServer, now_ms
from support.browser.chromium import LOOKS, Visitor, chromium
from support.clusters.grouping import commit
from support.clusters.writing import numbered, write
from support.flows.mirroring import Flow, new_alias
from support.waiting import PATIENCE_SECONDS, eventually

expect.set_options(timeout=PATIENCE_SECONDS * 1000)
#: The state of a flow that is copied again: its records may have been copied a moment ago.
COPIED = re.compile("quiet|copying")
_GROUP = '<img src=x onerror="alert(1)">'


@dataclass
class Served:
    flow: Flow
    topic: str
    base: str
    browser: Browser
    config: MirrorConfig

    @property
    def connector(self) -> str:
        return f"{self.flow.name}.MirrorSourceConnector"

    @property
    def flow_path(self) -> str:
        return f"/ui/flows/{self.flow.alias}-%3Eb"

    def visitor(self, look: str = "light") -> Visitor:
        return Visitor(self.browser, self.base, look)


@pytest.fixture(scope="module")
def served(
    spark: LocalSpark,
    source_cluster: Cluster,
    target_cluster: Cluster,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Served]:
    """One mirror with a group, its REST API on a free port, and a browser."""
    folder: Path = tmp_path_factory.mktemp("page")
    flow = Flow(new_alias("page"), source_cluster, target_cluster, spark, folder)
    topic = flow.create("orders", 3)
    write(flow.source, topic, numbered(range(30)))
    commit(flow.source, f"{flow.alias}-{_GROUP}", {(topic, 0): 5})
    settings = {
        "refresh_topics_interval_seconds": "1",
        "refresh_groups_interval_seconds": "1",
        "emit_checkpoints_interval_seconds": "1",
        "sync_group_offsets_enabled": "true",
        "sync_group_offsets_interval_seconds": "1",
        "groups": f"{flow.alias}-.*",
    }
    config = flow.config(**settings)
    with chromium() as browser, flow.running(**settings) as running:
        source = {"name": "x", "connector.class": "MirrorSourceConnector"} | {
            "source.cluster.alias": flow.alias,
            "target.cluster.alias": "b",
            "source.cluster.sasl.jaas.config": 'Login required password="planted-secret";',
        }
        configs = {f"{flow.name}.MirrorSourceConnector": source}
        herder = DedicatedHerder(
            running.mirror, running.progress, configs, worker_id="here:8083", writable=True
        )
        page = page_of(running.mirror, running.progress, herder, lambda: config, writable=True)
        rest = read_rest_config({"listeners": "http://localhost:0"}, {})
        server = RestServer(rest, herder, LoggerLevels(now_ms), lambda *_: None, page=page)
        server.start()
        page.start()
        try:
            running.wait_for_records(30)
            yield Served(flow, topic, f"http://localhost:{server.port}", browser, config)
        finally:
            server.stop()


def test_the_map_and_the_flow_follow_the_mirror_without_a_reload(served: Served) -> None:
    visitor = served.visitor()
    tab = visitor.visit("/ui")
    expect(tab.get_by_role("row", name=served.flow.name)).to_contain_text("quiet")
    expect(tab.get_by_role("heading", level=1)).to_have_text("The flow is quiet")
    tab.get_by_role("link", name=served.flow.name).first.click()
    tab.locator("#connection[data-state=live]").wait_for()
    row = tab.get_by_role("row", name=f"{served.topic}-0")
    expect(row).to_contain_text("quiet")

    write(served.flow.source, served.topic, numbered(range(30, 1030)))

    expect(row.locator("td").nth(5)).to_have_text("1,030")  # its position
    expect(tab.locator("main")).to_contain_text("1,030")
    assert visitor.complaints == []
    assert visitor.hosts == {served.base.removeprefix("http://")}
    visitor.close()


def test_groups_show_both_offsets_and_that_the_translation_is_exact(served: Served) -> None:
    visitor = served.visitor()
    tab = visitor.visit("/ui/groups")

    row = tab.get_by_role("row", name=f"{served.flow.alias}-{_GROUP}")
    expect(row).to_contain_text("synced")
    expect(row).to_contain_text("exact: continues at 5")
    assert tab.locator("main img").count() == 0  # its name is text, not HTML
    assert visitor.complaints == []
    visitor.close()


def test_topics_and_plan_come_from_a_dry_run(served: Served) -> None:
    visitor = served.visitor()
    tab = visitor.visit("/ui/topics")
    expect(tab.get_by_role("row", name=served.topic).first).to_contain_text(
        served.flow.remote(served.topic)
    )
    tab = visitor.visit("/ui/plan")
    expect(tab.locator("main")).to_contain_text("records are mirrored")
    assert visitor.complaints == []
    visitor.close()


def test_a_connector_is_paused_and_resumed_and_the_time_line_tells(served: Served) -> None:
    visitor = served.visitor()
    tab = visitor.visit("/ui/connectors")
    card = tab.get_by_role("region", name=served.connector)
    card.get_by_text("Configuration").click()
    expect(card).to_contain_text("[hidden]")
    assert "planted-secret" not in tab.content()

    tab.get_by_role("button", name=f"Pause {served.connector}").click()
    expect(tab.get_by_role("status").filter(has_text="is being paused")).to_be_visible()
    expect(card).to_contain_text("paused")
    tab = visitor.visit("/ui")
    expect(tab.get_by_role("row", name=served.flow.name)).to_contain_text("paused")
    eventually(lambda: _status(served), lambda state: state is ServiceState.PAUSED)

    tab = visitor.visit("/ui/connectors")
    tab.get_by_role("button", name=f"Resume {served.connector}").click()
    expect(card).to_contain_text("running")
    tab = visitor.visit("/ui/events?kind=connector")
    line = tab.get_by_role("listitem").filter(has_text=served.connector)
    expect(line.filter(has_text="stopping").first).to_be_visible()
    expect(line.filter(has_text="starting").first).to_be_visible()
    assert visitor.complaints == []
    visitor.close()
    kinds = {event["kind"] for event in _events(served)}
    assert {"leadership", "epoch", "connector"} <= kinds


def test_a_connector_is_restarted_stopped_and_copies_again(served: Served) -> None:
    visitor = served.visitor()
    tab = visitor.visit("/ui/connectors")
    card = tab.get_by_role("region", name=served.connector)
    tab.get_by_role("button", name=f"Restart {served.connector}").click()
    expect(tab.get_by_role("status").filter(has_text="is being restarted")).to_be_visible()
    expect(card).to_contain_text("running")

    tab.get_by_role("button", name=f"Stop {served.connector}").click()
    expect(card).to_contain_text("stopped")
    expect(tab.get_by_role("button", name=f"Pause {served.connector}")).to_have_count(0)
    tab = visitor.visit("/ui")
    expect(tab.get_by_role("row", name=served.flow.name)).to_contain_text("stopped")

    tab = visitor.visit("/ui/connectors")
    tab.get_by_role("button", name=f"Resume {served.connector}").click()
    expect(card).to_contain_text("running")
    tab = visitor.visit("/ui")
    expect(tab.get_by_role("row", name=served.flow.name)).to_contain_text(COPIED)
    assert visitor.complaints == []
    visitor.close()


def test_the_time_line_is_json_and_a_stream(served: Served) -> None:
    events = eventually(lambda: _events(served), lambda found: len(found) >= 3)

    asked = urllib.request.Request(f"{served.base}/events", headers={"accept": "text/event-stream"})
    with urllib.request.urlopen(asked, timeout=PATIENCE_SECONDS) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        first = next(line for line in stream if line.startswith(b"data: "))
    assert json.loads(first.removeprefix(b"data: ")) == events[0]


@pytest.mark.parametrize("look", LOOKS)
def test_every_page_is_for_keyboard_and_screen_reader_too(served: Served, look: str) -> None:
    visitor = served.visitor(look)
    paths = ["/ui", served.flow_path]
    paths += [f"/ui/{each}" for each in ("groups", "topics", "events", "connectors", "plan")]

    found = {path: (visitor.visit(path), visitor.audit())[1] for path in paths}

    assert found == {path: [] for path in paths}
    assert visitor.complaints == []
    visitor.close()


def _status(served: Served) -> ServiceState:
    """As `heliograph status` shows it."""
    with closing(Clusters(served.config, client_id="test")) as clusters:
        (flow,) = observe_mirror(served.config, clusters).flows
    return flow.service.state


def _events(served: Served) -> list[dict[str, object]]:
    with urllib.request.urlopen(f"{served.base}/events", timeout=PATIENCE_SECONDS) as answer:
        found: list[dict[str, object]] = json.load(answer)["events"]
    return found
