from __future__ import annotations

import pytest

from heliograph.web.ui.publisher import PAGE_AREA, Publisher
from support.rest.pages import Figures, receipt
from support.waiting import eventually


def test_a_snapshot_does_not_change_with_later_receipts() -> None:
    figures = Figures()
    figures.tick(receipt("a->b", position=5, end=10))
    before = figures.publisher.snapshot

    figures.tick(receipt("a->b", position=10, end=10))

    assert before.flows["a->b"].lag == 5
    assert figures.publisher.snapshot.flows["a->b"].lag == 0
    assert figures.publisher.snapshot.version == before.version + 1


def test_rates_are_those_of_the_last_seconds() -> None:
    figures = Figures()
    for records in range(0, 2_000, 100):
        figures.tick(receipt("a->b", records=records), receipt("a->b", 1, records=0))

    flow = figures.publisher.snapshot.flows["a->b"]
    assert flow.rate == 100
    assert flow.byte_rate == 10_000
    assert [each.rate for each in flow.partitions] == [100, 0]
    assert flow.rates == (0, 100, 100, 100)  # one every five seconds


def test_lags_of_five_minutes_are_kept_and_an_unknown_one_is_a_gap() -> None:
    figures = Figures()
    figures.tick(receipt("a->b", end=-1), seconds=5)
    for lag in range(59):
        figures.tick(receipt("a->b", position=0, end=lag), seconds=5)

    (partition,) = figures.publisher.snapshot.flows["a->b"].partitions
    assert partition.lags == (None, *range(59))
    for lag in range(59, 100):
        figures.tick(receipt("a->b", position=0, end=lag), seconds=5)
    (partition,) = figures.publisher.snapshot.flows["a->b"].partitions
    assert partition.lags == tuple(range(40, 100))


def test_a_page_that_is_opened_after_a_while_wakes_the_publisher() -> None:
    figures = Figures()
    figures.publisher.start()
    try:
        eventually(lambda: figures.publisher.snapshot.version, lambda version: version >= 1)
        seen = figures.publisher.look().version
        eventually(lambda: figures.publisher.look().version, lambda version: version > seen)
    finally:
        figures.publisher.close()


def test_a_flow_that_is_gone_leaves_nothing_behind() -> None:
    figures = Figures()
    figures.tick(receipt("a->b"))

    figures.progress.forget("a->b")
    figures.tick()

    assert figures.publisher.snapshot.flows == {}


def test_a_snapshot_that_cannot_be_made_is_a_problem_that_the_page_shows(
    caplog: pytest.LogCaptureFixture,
) -> None:
    figures, broken = Figures(), [True]
    figures.tick(receipt("a->b", position=5, end=10))

    def unreachable() -> dict[str, tuple[str, ...]]:
        if broken:
            raise ValueError("of a worker that has ended")
        return {}

    publisher = Publisher(figures.progress, figures.problems, unreachable)
    publisher.start()
    try:
        shown = eventually(lambda: publisher.look().problems, lambda found: PAGE_AREA in found)
        assert "ValueError: of a worker that has ended" in shown[PAGE_AREA][""]
        counts = figures.problems.unexpected_counts
        eventually(lambda: counts()[PAGE_AREA], lambda count: count > 1)
        assert sum(record.exc_info is not None for record in caplog.records) == 1
        broken.clear()
        eventually(lambda: publisher.look().flows, lambda flows: "a->b" in flows)
        assert figures.problems.sentences() == []
    finally:
        publisher.close()
