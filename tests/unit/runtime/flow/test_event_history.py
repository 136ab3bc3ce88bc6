"""Events of a flow in its state topic: bounded, and back after a restart."""

from __future__ import annotations

from heliograph.mm2.state_records import EVENT_SLOTS, LONGEST_MESSAGE, EventRecord
from heliograph.runtime.events import EventKind, EventLog, Severity
from heliograph.runtime.flow.event_history import EventHistory

FLOW = "a->b"


class Service:
    """One process with one flow, over a state topic that keeps the newest record of each key."""

    def __init__(self, topic: dict[bytes, EventRecord], now_ms: int = 1_000) -> None:
        self.topic = topic
        self.log = EventLog(now_ms=lambda: now_ms, first=now_ms)
        self.history = EventHistory(FLOW, self.log)

    def load(self) -> None:
        self.history.load(self.topic.values())

    def store(self) -> list[str]:
        records, seen = self.history.pending()
        self.topic.update({record.key(): record for record in records})
        self.history.stored(records, seen)
        return [record.message for record in records]

    def gap(self, message: str = "orders-0: records were deleted", at_ms: int = 500) -> None:
        self.log.add(EventKind.GAP, f"flow {FLOW}", message, Severity.ERROR, at_ms=at_ms)


def messages(log: EventLog) -> list[str]:
    return [event.message for event in log.since()]


def test_a_gap_of_yesterday_is_found_by_the_next_service() -> None:
    topic: dict[bytes, EventRecord] = {}
    yesterday = Service(topic)
    yesterday.load()
    yesterday.gap()
    yesterday.gap("orders-0: another gap", at_ms=700)
    assert yesterday.store() == ["orders-0: records were deleted", "orders-0: another gap"]
    assert yesterday.store() == []

    today = Service(topic, now_ms=90_000_000)
    today.load()
    today.gap("orders-0: another gap", at_ms=700)  # from the record of the newest gap

    assert messages(today.log) == ["orders-0: records were deleted", "orders-0: another gap"]
    assert all(event.earlier for event in today.log.since())
    assert today.store() == []


def test_a_gap_that_was_made_again_before_the_history_was_read_is_not_stored_twice() -> None:
    topic: dict[bytes, EventRecord] = {}
    yesterday = Service(topic)
    yesterday.load()
    yesterday.gap()
    yesterday.store()

    today = Service(topic, now_ms=90_000_000)
    today.gap()
    today.load()

    assert messages(today.log) == ["orders-0: records were deleted"]
    assert today.store() == []


def test_nothing_is_written_before_the_slots_are_known() -> None:
    service = Service({})
    service.gap()

    assert service.store() == []
    service.load()
    assert service.store() == ["orders-0: records were deleted"]


def test_what_could_not_be_written_is_written_later() -> None:
    service = Service({})
    service.load()
    service.gap()

    lost, _ = service.history.pending()

    assert service.store() == [record.message for record in lost]


def test_each_severity_has_its_own_slots_and_the_oldest_are_overwritten() -> None:
    topic: dict[bytes, EventRecord] = {}
    service = Service(topic)
    service.load()
    service.gap()
    for number in range(EVENT_SLOTS["info"] + 5):
        service.log.add(EventKind.EPOCH, f"epoch {number}", "begun")
        service.store()

    assert len(topic) == EVENT_SLOTS["info"] + 1
    again = Service(topic, now_ms=2_000)
    again.load()
    assert messages(again.log)[0] == "orders-0: records were deleted"
    assert "epoch 4" not in {event.subject for event in again.log.since()}
    again.log.add(EventKind.EPOCH, "epoch 1", "of the next service")
    again.store()
    assert len(topic) == EVENT_SLOTS["info"] + 1


def test_events_of_other_flows_are_not_stored_but_those_of_the_service_are() -> None:
    service = Service({})
    service.load()
    for subject in ("flow a->b: ACLs", "flow b->a", "flow a->b2: copy", "epoch 1", ""):
        service.log.add(EventKind.PROBLEM, subject, subject or "restarted", Severity.WARNING)

    assert service.store() == ["flow a->b: ACLs", "epoch 1", "restarted"]


def test_a_long_message_is_cut_and_is_not_stored_again() -> None:
    topic: dict[bytes, EventRecord] = {}
    for now_ms in (1_000, 2_000):
        service = Service(topic, now_ms)
        service.load()
        service.gap("x" * 3 * LONGEST_MESSAGE)
        service.store()

    (record,) = topic.values()
    assert len(record.message) == LONGEST_MESSAGE
