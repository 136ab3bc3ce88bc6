"""Changes of state of partitions are a line of the log and an event each."""

from __future__ import annotations

import logging
import threading

import pytest

from heliograph.model import Gap, GapKind, PartitionState, Receipt, TopicPartition
from heliograph.runtime.events import EventKind, Severity
from heliograph.runtime.problems import Problems
from heliograph.runtime.state_watch import STATES_AREA, StateWatch
from support.rest.pages import Figures, receipt
from support.waiting import eventually


def test_partitions_that_are_retried_fail_and_recover_are_events() -> None:
    figures = Figures()
    retried = receipt("a->b", state=PartitionState.RETRYING, error="b-1:9092: no answer; retrying")
    failed = receipt("a->b", state=PartitionState.FAILED, error="not authorized; grant WRITE")
    for each in (receipt("a->b"), retried, retried, failed, receipt("a->b")):
        figures.tick(each)

    assert [(event.kind, event.severity, event.message) for event in figures.events.since()] == [
        (
            EventKind.PARTITION,
            Severity.WARNING,
            "retrying: orders-0: b-1:9092: no answer; retrying",
        ),
        (EventKind.PARTITION, Severity.ERROR, "failed: orders-0: not authorized; grant WRITE"),
        (EventKind.PARTITION, Severity.INFO, "orders-0: copied again"),
    ]


def test_a_thousand_partitions_that_are_retried_are_a_few_events() -> None:
    figures = Figures()

    figures.tick(
        *(
            receipt("a->b", number, state=PartitionState.RETRYING, error="no answer")
            for number in range(1_000)
        )
    )

    assert len(figures.events.since()) == 4
    assert "and 997 more like it" in figures.events.since()[-1].message


def test_each_gap_is_an_event_once_with_the_time_when_it_was_found() -> None:
    """Two may be found at once."""
    figures = Figures()
    orders = TopicPartition("orders", 0)
    figures.gaps = [
        ("a->b", orders, Gap(GapKind.TRUNCATED, first=4, end=5, resumed=5, at_ms=1_000)),
        ("a->b", orders, Gap(GapKind.OVERTAKEN, first=5, end=9, resumed=9, at_ms=1_000)),
    ]

    figures.tick()
    figures.tick()

    events = figures.events.since()
    assert [(e.kind, e.at_ms, e.subject) for e in events] == [
        (EventKind.GAP, 1_000, "flow a->b")
    ] * 2
    assert len({event.message for event in events}) == 2
    assert all(event.message.startswith("orders-0: ") for event in events)


def test_each_change_of_state_is_one_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    figures = Figures()
    retried = receipt("a->b", state=PartitionState.RETRYING, error="b-1:9092: no answer; retrying")

    with caplog.at_level(logging.INFO, "heliograph.runtime.state_watch"):
        for each in (receipt("a->b"), retried, retried, receipt("a->b"), receipt("a->b")):
            figures.tick(each)

    assert [(line.levelname, line.getMessage()) for line in caplog.records] == [
        ("WARNING", "flow a->b: retrying: orders-0: b-1:9092: no answer; retrying"),
        ("INFO", "flow a->b: orders-0: copied again"),
    ]


def test_a_look_that_fails_is_a_problem_until_one_works(caplog: pytest.LogCaptureFixture) -> None:
    """Its stack would be logged once a second."""
    problems, broken = Problems(), threading.Event()
    broken.set()

    def receipts() -> list[Receipt]:
        if broken.is_set():
            raise ValueError("of a topic without a name")
        return []

    watch = StateWatch(receipts, list, problems)
    watch.start()
    try:
        eventually(
            lambda: problems.unexpected_counts().get(STATES_AREA, 0), lambda count: count > 1
        )
        assert "ValueError: of a topic without a name" in problems.of_flow("a->b")[STATES_AREA]
        assert sum(record.exc_info is not None for record in caplog.records) == 1
        broken.clear()
        eventually(problems.sentences, lambda sentences: sentences == [])
    finally:
        watch.close()
