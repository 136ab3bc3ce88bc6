"""What a browser is sent of a page that it shows already."""

from __future__ import annotations

import json
from functools import partial

from heliograph.model import PartitionState
from heliograph.web.ui.live import LivePart, View
from heliograph.web.ui.views.flow import flow_page
from heliograph.web.ui.views.flows import known_flows
from support.rest.pages import Figures, receipt


def events(sent: bytes | None) -> dict[str, str]:
    """Data by name of event."""
    found = {}
    for event in filter(None, (sent or b"").decode().split("\n\n")):
        head, *lines = event.split("\n")
        found[head.removeprefix("event: ")] = "\n".join(
            line.removeprefix("data: ") for line in lines
        )
    return found


def rows(sent: bytes | None) -> tuple[int, list[str] | None]:
    """How many rows were sent, and the names of all in their order if they were."""
    news = json.loads(events(sent)["rows"])
    return news["html"].count("<tr>"), news.get("names")


def shown(figures: Figures, *, everything: bool = False) -> View:
    snapshot = figures.publisher.snapshot
    found = known_flows(snapshot, ())
    if not found:
        return View(template="missing.html", title="No such flow", page="a->b", status=404)
    page = flow_page(found[0], snapshot, None, everything=everything)
    return View(template="flow.html", title="a->b", page=page, rows=page.rows)


def follow(figures: Figures, *, everything: bool = False) -> LivePart:
    return LivePart(partial(shown, figures, everything=everything))


def flow(*lags: int) -> Figures:
    figures = Figures()
    figures.tick(*(receipt("a->b", n, position=0, end=lag) for n, lag in enumerate(lags)))
    return figures


def test_the_first_answer_has_all_and_the_next_one_nothing() -> None:
    part = follow(flow(3, 2, 1))

    first = part.following()

    assert "<h1>a-&gt;b</h1>" in events(first)["view"]
    assert '<tr><th scope="row">' not in events(first)["view"]
    assert rows(first) == (3, ["orders-0", "orders-1", "orders-2"])
    assert part.following() is None


def test_only_a_row_that_has_changed_is_sent() -> None:
    figures = flow(*range(2_000, 0, -1))
    part = follow(figures, everything=True)
    assert rows(part.following())[0] == 2_000

    figures.tick(receipt("a->b", 7, position=0, end=1_993, records=1))

    assert rows(part.following()) == (1, None)


def test_names_are_sent_if_their_order_has_changed() -> None:
    figures = flow(3, 2, 1)
    part = follow(figures)
    part.following()

    figures.tick(receipt("a->b", 2, position=0, end=9))

    assert rows(part.following()) == (1, ["orders-2", "orders-0", "orders-1"])


def test_a_flow_that_comes_back_is_sent_whole() -> None:
    figures = flow(3, 2)
    part = follow(figures)
    part.following()

    figures.progress.forget("a->b")
    figures.tick()
    assert "no flow named" in events(part.following())["view"]
    figures.tick(*(receipt("a->b", n, position=0, end=lag) for n, lag in enumerate((3, 2))))

    assert rows(part.following()) == (2, ["orders-0", "orders-1"])


def test_a_page_without_such_a_table_is_sent_as_a_whole() -> None:
    part = LivePart(lambda: View(template="missing.html", title="No such flow", page="a->b"))

    assert set(events(part.following())) == {"view"}


def test_hostile_names_are_text_in_rows_too() -> None:
    hostile = "<script>alert('x')</script>"
    figures = Figures()
    failed = PartitionState.FAILED
    figures.tick(receipt("a->b", topic=hostile, state=failed, error=hostile))

    news = json.loads(events(follow(figures).following())["rows"])

    assert "<script" not in news["html"]
    assert news["names"] == [f"{hostile}-0"]
