from __future__ import annotations

from heliograph.runtime.events import Event, EventKind, EventLog, Severity
from heliograph.runtime.problems import Problems


def test_events_are_numbered_and_the_oldest_go_first() -> None:
    log = EventLog(now_ms=lambda: 7, most=2)

    for number in range(3):
        log.add(EventKind.EPOCH, "epoch 1", f"message {number}")

    assert [(event.number, event.message) for event in log.since()] == [
        (2, "message 1"),
        (3, "message 2"),
    ]
    assert [event.number for event in log.since(2)] == [3]
    assert log.newest == 3
    assert log.since()[0].at_ms == 7


def test_an_event_of_yesterday_keeps_its_time() -> None:
    log = EventLog(now_ms=lambda: 7)

    log.add(EventKind.GAP, "flow a->b", "records were deleted", Severity.ERROR, at_ms=3)

    assert log.since()[0].at_ms == 3


def test_frequent_events_replace_no_rare_ones() -> None:
    log = EventLog(now_ms=lambda: 7, most=2)
    log.add(EventKind.GAP, "flow a->b", "records were deleted", Severity.ERROR)

    for number in range(5):
        log.add(EventKind.EPOCH, "epoch 1", f"message {number}")

    assert [event.message for event in log.since()] == [
        "records were deleted",
        "message 3",
        "message 4",
    ]


def test_those_of_an_earlier_process_come_back_once_and_say_so() -> None:
    log = EventLog(now_ms=lambda: 7, first=1_000)
    log.add(EventKind.EPOCH, "epoch 1", "begun")
    yesterday = Event(
        number=5,
        at_ms=3,
        kind=EventKind.GAP,
        severity=Severity.ERROR,
        subject="flow a->b",
        message="records were deleted",
    )

    log.restore([yesterday])
    log.restore([yesterday])
    log.add(EventKind.GAP, "flow a->b", "records were deleted", Severity.ERROR, at_ms=3)

    assert [(e.number, e.at_ms, e.earlier) for e in log.since()] == [
        (1_001, 7, False),
        (1_002, 3, True),
    ]
    assert log.since(1_002) == ()


def test_a_problem_and_its_end_are_events_in_the_words_of_the_log() -> None:
    problems = Problems()

    for found in ({"orders": "orders: refused; grant CREATE"}, {}):
        problems.update("flow a->b: ACLs", found)

    assert [(event.kind, event.subject, event.message) for event in problems.events.since()] == [
        (EventKind.PROBLEM, "flow a->b: ACLs", "orders: refused; grant CREATE"),
        (EventKind.RESOLVED, "flow a->b: ACLs", "orders: refused; grant CREATE"),
    ]
