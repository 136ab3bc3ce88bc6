"""Every state of a flow and thousands of partitions in a real browser, from figures that the test sets."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from heliograph.connect.herder import ConnectorStatus, State
from heliograph.model import PartitionState
from support.browser.chromium import LOOKS, Visitor, chromium
from support.rest.memory_herder import MemoryHerder
from support.rest.pages import Figures, receipt
from support.waiting import PATIENCE_SECONDS

expect.set_options(timeout=PATIENCE_SECONDS * 1000)
HOSTILE = "<script>alert('x')</script>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


class Standby(MemoryHerder):
    """A connector to the cluster `else` is run by another service, one to `wrong` has failed."""

    def status(self, name: str) -> ConnectorStatus:
        found = super().status(name)
        if "->else" in name:
            state = State("UNASSIGNED", "", "STANDBY: another Heliograph runs it (host-2, pid 7)")
            return found._replace(connector=state, tasks={})
        if "->wrong" in name:
            return found._replace(connector=State("FAILED", "", "wrong: wrong password for mirror"))
        return found


def states() -> Figures:
    """One flow in each state."""
    figures = Figures(Standby())
    for target in (
        "good",
        "quiet",
        "slow",
        "retried",
        "failed",
        "empty",
        "paused",
        "else",
        "wrong",
        "gone",
    ):
        name = figures.add("home", target)
        if target == "paused":
            figures.herder.pause(name)
    for second in range(12):
        figures.tick(
            receipt("home->good", position=90 + second, end=110, records=second * 10),
            receipt("home->quiet"),
            receipt("home->slow", position=3, end=10),
            receipt("home->retried", state=PartitionState.RETRYING, error="b-1:9092: no answer"),
            receipt("home->failed", topic=HOSTILE, state=PartitionState.FAILED, error=HOSTILE),
        )
    figures.problems.update("flow home->empty", {"": "home: no broker answers; check the address"})
    figures.unreachable["home->gone"] = ("gone",)
    figures.tick()
    return figures


@pytest.mark.parametrize("look", LOOKS)
def test_each_state_has_its_word_and_its_cause(browser: Browser, look: str) -> None:
    figures = states()
    with figures.listening() as port:
        visitor = Visitor(browser, f"http://localhost:{port}", look)
        tab = visitor.visit("/ui")
        for flow, label in (
            ("good", "copying"),
            ("quiet", "quiet"),
            ("slow", "stalled"),
            ("retried", "retrying"),
            ("failed", "failed"),
            ("empty", "waiting"),
            ("paused", "paused"),
            ("else", "standby"),
            ("wrong", "failed"),
            ("gone", "unreachable"),
        ):
            expect(tab.get_by_role("row", name=f"home->{flow}")).to_contain_text(label)
        expect(tab.get_by_label("Needs attention")).to_contain_text("check the address")
        expect(tab.get_by_label("Needs attention")).to_contain_text("wrong password")
        assert visitor.audit() == []
        tab = visitor.visit("/ui/flows/home-%3Efailed")
        expect(tab.get_by_role("row", name=HOSTILE)).to_contain_text("failed")
        assert visitor.audit() == []
        visitor.visit("/ui/connectors")
        assert visitor.audit() == []
        visitor.visit("/ui/events")
        assert visitor.audit() == []
        assert visitor.complaints == []
        visitor.close()


def test_two_thousand_partitions_are_shown_and_stay_live(browser: Browser) -> None:
    figures = Figures()
    figures.add("a", "b")
    figures.tick(*(receipt("a->b", number, end=number) for number in range(2_000)))
    with figures.listening() as port:
        visitor = Visitor(browser, f"http://localhost:{port}")
        tab = visitor.visit("/ui/flows/a-%3Eb")
        expect(tab.locator("tbody tr")).to_have_count(100)
        tab.get_by_role("link", name="Show all 2,000 partitions").click()
        expect(tab.locator("tbody tr")).to_have_count(2_000)
        figures.tick(receipt("a->b", 7, position=0, end=5_000_000))
        expect(tab.locator("tbody tr").first).to_contain_text("5,000,000")
        assert visitor.complaints == []
        visitor.close()


def test_rows_move_come_and_go_without_a_reload(browser: Browser) -> None:
    figures = Figures()
    figures.add("a", "b")
    lags = {number: 10_000 - number for number in range(600)}
    figures.tick(*(receipt("a->b", n, position=0, end=lag) for n, lag in lags.items()))
    with figures.listening() as port:
        visitor = Visitor(browser, f"http://localhost:{port}")
        tab = visitor.visit("/ui/flows/a-%3Eb?all=true")
        rows = tab.locator("#rows tbody tr th")
        kept = rows.nth(300).element_handle()
        assert visitor.audit() == []

        lags |= {0: 1, 555: 20_000, 600: 15_000}
        figures.tick(*(receipt("a->b", n, position=0, end=lags[n]) for n in (0, 555, 600)))
        expected = sorted(lags, key=lambda n: (-lags[n], n))
        expect(rows).to_have_text([f"orders-{n}" for n in expected])
        assert kept is not None
        assert kept.evaluate(
            "row => row.isConnected"
        )  # rows that have not changed are not replaced

        figures.progress.forget("a->b")
        figures.tick(*(receipt("a->b", n, position=0, end=lags[n]) for n in range(40)))
        expect(rows).to_have_text([f"orders-{n}" for n in (*range(1, 40), 0)])
        assert visitor.audit() == []
        assert visitor.complaints == []
        visitor.close()


def test_what_is_typed_opened_and_focused_survives_an_update(browser: Browser) -> None:
    figures = Figures()
    figures.add("a", "b")
    figures.tick(receipt("a->b"))
    with figures.listening() as port:
        visitor = Visitor(browser, f"http://localhost:{port}")
        tab = visitor.visit("/ui/flows/a-%3Eb")
        tab.keyboard.press("/")
        tab.keyboard.type("orders-0")
        figures.tick(receipt("a->b", position=0, end=777))
        expect(tab.locator("#rows")).to_contain_text("777")
        expect(tab.get_by_role("searchbox")).to_have_value("orders-0")
        expect(tab.get_by_role("searchbox")).to_be_focused()
        tab.keyboard.press("Enter")
        expect(tab).to_have_url(f"http://localhost:{port}/ui/flows/a-%3Eb?q=orders-0")

        tab = visitor.visit("/ui/connectors")
        tab.get_by_text("Configuration").click()
        figures.herder.pause("a->b.MirrorSourceConnector")
        expect(tab.locator("section")).to_contain_text("paused")
        expect(tab.get_by_role("table")).to_be_visible()
        assert visitor.complaints == []
        visitor.close()


def test_keyboard_alone_reaches_content_and_navigation(browser: Browser) -> None:
    figures = states()
    with figures.listening() as port:
        visitor = Visitor(browser, f"http://localhost:{port}")
        tab = visitor.visit("/ui")
        tab.keyboard.press("Tab")
        expect(tab.get_by_role("link", name="Skip to content")).to_be_focused()
        for _ in range(3):
            tab.keyboard.press("Tab")
        expect(tab.get_by_role("link", name="Groups")).to_be_focused()
        tab.keyboard.press("Enter")
        expect(tab.get_by_role("heading", level=1)).to_have_text("Consumer groups")
        visitor.close()


def test_a_page_whose_service_is_gone_says_so_and_comes_back(browser: Browser) -> None:
    figures = states()
    with figures.listening() as port:
        visitor = Visitor(browser, f"http://localhost:{port}")
        tab = visitor.visit("/ui")
    expect(tab.locator("#connection")).to_have_text("Connection lost, retrying")
    again = states()
    with again.listening(listeners=f"http://localhost:{port}"):
        expect(tab.locator("#connection")).to_have_text("Live")
        visitor.close()
