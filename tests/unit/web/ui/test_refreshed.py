from __future__ import annotations

import threading

import pytest

from heliograph.errors import ClientError
from heliograph.web.ui.refreshed import Refreshed
from support.waiting import PATIENCE_SECONDS, eventually


def test_nothing_is_read_until_somebody_asks_and_then_once_at_a_time() -> None:
    reads, go = [], threading.Event()

    def read() -> int:
        reads.append(1)
        go.wait(PATIENCE_SECONDS)
        return len(reads)

    value = Refreshed("test", read, fresh_seconds=1_000)
    assert reads == []
    for _ in range(3):
        assert value.current().value is None
    go.set()
    eventually(value.current, lambda reading: reading.value == 1)
    assert len(reads) == 1


def test_the_first_reading_is_awaited() -> None:
    value = Refreshed("test", lambda: 7, fresh_seconds=1_000)

    assert value.current(wait=PATIENCE_SECONDS).value == 7


def test_a_failure_keeps_the_older_value_and_says_why() -> None:
    answers = iter([7])

    def read() -> int:
        try:
            return next(answers)
        except StopIteration:
            raise ClientError("b: no broker answers") from None

    value = Refreshed("test", read, fresh_seconds=0)
    value.current(wait=PATIENCE_SECONDS)

    found = eventually(value.current, lambda reading: reading.failure is not None)
    assert (found.value, found.failure) == (7, "b: no broker answers")


def test_after_a_change_it_is_read_again() -> None:
    numbers = iter(range(10))
    value = Refreshed("test", lambda: next(numbers), fresh_seconds=1_000)
    value.current(wait=PATIENCE_SECONDS)

    value.expire()

    eventually(value.current, lambda reading: reading.value == 1)


def test_the_stack_of_a_failure_that_lasts_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A page asks again and again."""

    def read() -> int:
        raise ValueError("of a topic without a name")

    value = Refreshed("topics", read, fresh_seconds=0)

    found = eventually(value.current, lambda reading: reading.number > 3)

    assert found.failure == "ValueError: see the log"
    assert [record.message for record in caplog.records] == ["page: topics cannot be read"]
