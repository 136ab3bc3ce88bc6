"""The page's answers: escaping, headers, logins, forms of other sites, thousands of rows."""

from __future__ import annotations

import asyncio
import hashlib
import http.client
import re
from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest

from heliograph.config.connectors.rest import read_rest_config
from heliograph.connect.herder import Forbidden, NotLeader
from heliograph.connect.logger_levels import LoggerLevels
from heliograph.model import PartitionState
from heliograph.runtime.events import EventKind
from heliograph.web.api import Api
from heliograph.web.app import new_app
from heliograph.web.exchange import Refused
from heliograph.web.listener.server import routes
from heliograph.web.passwords import hashed
from heliograph.web.ui.rendering import HEADERS
from support.rest.listening import basic
from support.rest.memory_herder import MemoryHerder
from support.rest.pages import OWN_FORM, Figures, receipt
from support.waiting import PATIENCE_SECONDS, eventually

HOSTILE = "<script>alert('x')</script>\"&"
PATHS = ["/ui", "/ui/groups", "/ui/topics", "/ui/events", "/ui/connectors", "/ui/plan"]


@pytest.fixture
def figures() -> Figures:
    figures = Figures()
    figures.add("a", "b", source_cluster_sasl_jaas_config="planted-secret")
    figures.tick(receipt("a->b", position=5, end=10))
    return figures


@pytest.mark.parametrize("path", [*PATHS, "/ui/flows/a-%3Eb"])
def test_every_page_is_whole_html_with_a_strict_policy(figures: Figures, path: str) -> None:
    answer = figures.ask(path)

    assert answer.status == 200
    assert answer.body().startswith(b"<!doctype html>")
    assert HEADERS.items() <= dict(answer.headers).items()
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(
        r"<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=", answer.body().decode()
    )


@pytest.mark.parametrize("path", PATHS)
def test_nothing_comes_from_another_host(figures: Figures, path: str) -> None:
    addresses = re.findall(r'(?:src|href|action|sse-connect)="([^"]+)"', figures.text(path))

    assert addresses
    assert [each for each in addresses if not re.match(r"/(?!/)|\?|#", each)] == []


def test_hostile_names_are_shown_as_text(figures: Figures) -> None:
    name = f"{HOSTILE}->b"
    figures.herder.put(
        HOSTILE,
        {
            "name": HOSTILE,
            "connector.class": "MirrorSourceConnector",
            "source.cluster.alias": HOSTILE,
        },
        initial_state=None,
        allow_replace=True,
    )
    error = f"{HOSTILE}: refused"
    figures.tick(
        receipt(HOSTILE, topic=HOSTILE, state=PartitionState.FAILED, error=error), receipt(name)
    )
    figures.problems.update(f"flow {HOSTILE}", {HOSTILE: HOSTILE})
    figures.events.add(EventKind.PROBLEM, HOSTILE, HOSTILE)

    flow = "/ui/flows/%3Cscript%3Ealert('x')%3C%2Fscript%3E%22&".replace("%2F", "%2f")
    pages = [figures.text(path) for path in PATHS]
    pages.append(figures.text("/ui/groups", q=HOSTILE))
    pages.append(figures.text("/ui/connectors", done="pause", connector=HOSTILE))
    pages.append(figures.text(flow.replace("%2f", "%252F")))

    assert all("alert('x')" not in page for page in pages)
    assert sum("&lt;script&gt;" in page for page in pages) >= 5


def test_secrets_are_hidden(figures: Figures) -> None:
    text = figures.text("/ui/connectors")

    assert "planted-secret" not in text
    assert "[hidden]" in text


def test_two_thousand_partitions_are_all_there_if_asked_for(figures: Figures) -> None:
    figures.tick(*(receipt("a->b", number, end=number) for number in range(2_000)))

    first = figures.text("/ui/flows/a-%3Eb")
    everything = figures.text("/ui/flows/a-%3Eb", all="true")
    filtered = figures.text("/ui/flows/a-%3Eb", q="orders-19")

    assert first.count('<th scope="row">') == 100
    assert "Show all 2,000 partitions" in first
    assert first.index(">orders-1999<") < first.index(">orders-1998<")  # the slowest first
    assert everything.count('<th scope="row">') == 2_000
    assert filtered.count('<th scope="row">') == 100
    assert "Show all 111 partitions" in filtered


def test_an_unknown_flow_is_not_found(figures: Figures) -> None:
    answer = figures.ask("/ui/flows/nowhere")

    assert answer.status == 404
    assert "no flow named" in answer.body().decode()


def test_clusters_that_do_not_answer_are_said_and_the_live_part_stays(figures: Figures) -> None:
    text = eventually(lambda: figures.text("/ui/flows/a-%3Eb"), lambda page: "b:9092" in page)

    assert "b: no broker of b:9092 answers" in text
    assert ">orders-0" in text


def test_static_files_have_their_types_and_nothing_else_is_served(figures: Figures) -> None:
    for name, kind in (("page.css", "text/css"), ("htmx.min.js", "text/javascript")):
        answer = figures.ask(f"/ui/static/{name}")
        assert str(answer.media_type).startswith(kind)
        assert answer.body()
    for name in ("..", "page.py", "..%2f..%2fpage.py", ".", "%2e%2e", "nothing.css"):
        with pytest.raises(Refused, match="404"):
            figures.ask(f"/ui/static/{name}")


def test_scripts_of_others_are_those_that_are_recorded(figures: Figures) -> None:
    recorded = figures.text("/ui/static/licences.txt")
    scripts = re.findall(r"^(\S+\.js): .*\nsha256 (\w+)$", recorded, re.MULTILINE)

    assert len(scripts) == 3
    for name, digest in scripts:
        assert hashlib.sha256(figures.ask(f"/ui/static/{name}").body()).hexdigest() == digest


# ── forms ────────────────────────────────────────────────────────────────────────────────────


def test_a_form_of_the_page_pauses_and_leads_back(figures: Figures) -> None:
    answer = figures.ask(f"/ui/connectors/{PATH}/pause", "POST", OWN_FORM)

    assert answer.status == 303
    assert answer.headers["location"].startswith("/ui/connectors?done=pause&connector=a-")
    assert figures.herder.status(CONNECTOR).connector.state == "PAUSED"
    said = figures.text("/ui/connectors", done="pause", connector=CONNECTOR)
    assert "is being paused" in said
    assert "/resume" in eventually(
        lambda: figures.text("/ui/connectors"), lambda text: "/resume" in text
    )


CONNECTOR = "a->b.MirrorSourceConnector"
PATH = "a-%3Eb.MirrorSourceConnector"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"sec-fetch-site": "cross-site", "origin": "http://worker:8083"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://worker:8083.evil.example"},
    ],
)
def test_a_form_of_another_site_changes_nothing(figures: Figures, headers: dict[str, str]) -> None:
    with pytest.raises(Refused, match="programs use the REST API") as refused:
        figures.ask(f"/ui/connectors/{PATH}/stop", "POST", headers)

    assert refused.value.status == 403
    assert figures.herder.status(CONNECTOR).connector.state == "RUNNING"


def test_a_link_cannot_stop_a_connector(figures: Figures) -> None:
    with pytest.raises(Refused, match="405"):
        figures.ask(f"/ui/connectors/{PATH}/stop", "GET", OWN_FORM)


class ReadOnly(MemoryHerder):
    def pause(self, name: str) -> None:
        raise Forbidden("set rest.writable=true")

    def stop(self, name: str) -> None:
        raise NotLeader("http://leader:8083/")


def test_without_the_right_to_write_there_are_no_buttons_and_a_form_is_refused() -> None:
    figures = Figures(ReadOnly(), writable=False)
    figures.add("a", "b")

    assert "<button aria-label" not in figures.text("/ui/connectors")
    assert "rest.writable=true" in figures.text("/ui/connectors")
    answer = figures.ask(f"/ui/connectors/{PATH}/pause", "POST", OWN_FORM)
    assert answer.status == 403
    assert 'role="alert"' in answer.body().decode()
    assert 'sse-connect="/ui/connectors"' in answer.body().decode()


def test_a_worker_that_does_not_lead_names_the_one_that_does() -> None:
    figures = Figures(ReadOnly())
    figures.add("a", "b")

    answer = figures.ask(f"/ui/connectors/{PATH}/stop", "POST", OWN_FORM)

    assert answer.status == 409
    assert "http://leader:8083/" in answer.body().decode()


# ── the listener ─────────────────────────────────────────────────────────────────────────────


def test_the_listeners_login_and_roles_are_the_pages(figures: Figures, tmp_path: Path) -> None:
    users = tmp_path / "users.properties"
    users.write_text(f"reader = {hashed('s3same')} read\n")
    login = {"authorization": basic("reader", "s3same")}
    with figures.listening(rest_users_file=str(users)) as port:
        pages = ("/ui", "/ui/static/page.css", "/events")
        unknown = [_status(port, "GET", path, {}) for path in pages]
        known = [_status(port, "GET", path, login) for path in pages]
        read = httpx.get(f"http://localhost:{port}/ui/connectors", headers=login).text
        form = OWN_FORM | login | {"host": f"localhost:{port}"}
        paused = _status(port, "POST", f"/ui/connectors/{PATH}/pause", form)

    assert (unknown, known, paused) == ([401] * 3, [200] * 3, 403)
    assert "Your role is read" in read
    assert "<button aria-label" not in read
    assert figures.herder.status(CONNECTOR).connector.state == "RUNNING"


def _status(port: int, method: str, path: str, headers: Mapping[str, str]) -> int:
    connection = http.client.HTTPConnection("localhost", port, timeout=PATIENCE_SECONDS)
    connection.request(method, path, headers=dict(headers))
    status = connection.getresponse().status
    connection.close()
    return status


def test_pages_are_for_browsers_and_the_root_stays_as_connects(figures: Figures) -> None:
    config = read_rest_config({}, {})
    levels = LoggerLevels(lambda: 0)
    api = Api(routes(figures.herder, config, levels, levels.set, page=figures.page), _no_tls)

    async def answers() -> list[httpx.Response]:
        transport = httpx.ASGITransport(new_app(api, config))
        async with httpx.AsyncClient(transport=transport, base_url="http://worker") as client:
            html = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
            return [
                await client.get("/ui", headers=html),
                await client.get("/ui/", headers=html),
                await client.get("/ui", headers={"accept": "application/json"}),
                await client.head("/ui", headers={"accept": "text/event-stream"}),
                await client.get("/", headers=html),
            ]

    page, slash, json, head, root = asyncio.run(answers())
    assert (page.status_code, slash.status_code) == (200, 200)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert json.status_code == 406
    assert head.status_code == 200
    assert set(root.json()) == {"version", "commit", "kafka_cluster_id"}


def _no_tls() -> None:
    raise AssertionError("nothing is forwarded by https here")
