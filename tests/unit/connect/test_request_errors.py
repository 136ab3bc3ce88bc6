"""How long a request waits for its worker."""

from __future__ import annotations

import pytest

from heliograph.connect.herder import Rebalancing, RequestTimeout
from heliograph.connect.request_errors import REQUEST_SECONDS, await_worker


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def never_said() -> str:
    raise AssertionError("asked for although the worker became ready")


def test_a_request_waits_until_its_worker_is_ready() -> None:
    clock = Clock()

    found = await_worker(
        lambda: "state" if clock.now > 1060 else None, never_said, clock, clock.sleep
    )

    assert found == "state"


def test_a_request_to_a_ready_worker_does_not_wait() -> None:
    clock = Clock()

    assert await_worker(lambda: "state", never_said, clock, clock.sleep) == "state"
    assert clock.now == 1000


def test_a_request_times_out_after_the_time_that_connect_waits_and_says_what_the_worker_does() -> (
    None
):
    clock = Clock()

    with pytest.raises(RequestTimeout) as caught:
        await_worker(lambda: None, lambda: "starting up: no broker", clock, clock.sleep)

    assert str(caught.value) == (
        "Request timed out. The worker is currently starting up: no broker"
    )
    assert clock.now == pytest.approx(1000 + REQUEST_SECONDS, abs=0.1)


def test_a_request_that_cannot_succeed_by_waiting_does_not_wait() -> None:
    def refused() -> None:
        raise Rebalancing("a Java worker runs this group")

    with pytest.raises(Rebalancing, match="a Java worker"):
        await_worker(refused, never_said)
