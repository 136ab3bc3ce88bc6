"""The rate of a throttled flow, divided between tasks by need."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.copy.throttle import Throttle
from heliograph.plan.rate_shares import RateShares, divide

RATE = 200_000.0
STEP = 0.01


class Flow:
    """Tasks with a backlog or a trickle each, whose real token buckets read what they may; the driver hears
    of each once a second."""

    def __init__(self, own: Mapping[int, float], demand: Mapping[int, float]) -> None:
        self.shares = RateShares(own, RATE)
        self.demand = dict(demand)  # bytes per second
        self.throttles = {
            task: Throttle(RATE * share, 0.0, "flow a->b") for task, share in own.items()
        }
        self.read = dict.fromkeys(own, 0)
        self.waiting = dict.fromkeys(own, 0.0)
        self.now = 0.0

    def run(self, seconds: float) -> int:
        """Bytes read in this time."""
        before = sum(self.read.values())
        for _ in range(round(seconds / STEP)):
            self.now += STEP
            for task in self.read:
                self._read(task)
            if round(self.now / STEP) % 100 == 0:
                for task in self.read:
                    self._report(task)
        return sum(self.read.values()) - before

    def _read(self, task: int) -> None:
        self.waiting[task] += self.demand[task] * STEP
        throttle = self.throttles[task]
        if throttle.wait(self.read[task], self.now) == 0.0:
            size = min(self.waiting[task], throttle.round_bytes or 0)
            self.read[task] += int(size)
            self.waiting[task] -= int(size)

    def _report(self, task: int) -> None:
        share = self.shares.report(
            task,
            self.now,
            throttled_seconds=self.throttles[task].seconds,
            received_bytes=self.read[task] + round(self.now * 50),  # responses without records, too
        )
        if share is not None:
            self.throttles[task].set_rate(RATE * share)


QUARTERS = dict.fromkeys(range(4), 0.25)


def test_a_backlog_in_one_task_gets_nearly_the_whole_rate() -> None:
    """Half of the rate is divided by number: with four tasks it had 62.5 % at most, and 25 % of a rate that
    was divided before it began."""
    flow = Flow(QUARTERS, {0: 1e9, 1: 0, 2: 0, 3: 0})
    flow.run(5)

    assert flow.run(20) > 0.9 * 20 * RATE


def test_all_with_a_backlog_keep_their_own_shares() -> None:
    flow = Flow({0: 0.5, 1: 0.3, 2: 0.2}, dict.fromkeys(range(3), 1e9))
    flow.run(30)

    total = sum(flow.read.values())
    assert total > 0.97 * 30 * RATE
    assert [flow.read[task] / total for task in range(3)] == pytest.approx(
        [0.5, 0.3, 0.2], abs=0.02
    )


def test_a_task_that_becomes_busy_gets_its_own_share_back() -> None:
    flow = Flow(QUARTERS, {0: 1e9, 1: 0, 2: 0, 3: 0})
    flow.run(10)
    flow.demand[1] = 1e9
    flow.run(5)
    before = dict(flow.read)

    flow.run(20)

    assert flow.read[1] - before[1] > 0.4 * 20 * RATE


def test_a_trickle_is_not_delayed_by_what_it_lends() -> None:
    flow = Flow(QUARTERS, {0: 1e9, 1: 20_000, 2: 0, 3: 0})
    flow.run(10)
    before = flow.read[1]

    flow.run(20)

    assert flow.read[1] - before == pytest.approx(20 * 20_000, rel=0.05)


def test_the_share_of_a_task_that_has_ended_is_free() -> None:
    """As in a run with --once, whose tasks end one after the other."""
    flow = Flow({0: 0.5, 1: 0.5}, {0: 1e9, 1: 1e9})
    flow.run(5)
    flow.shares.release(1)
    del flow.read[1]
    flow.run(3)

    assert flow.run(10) > 0.95 * 10 * RATE


def test_a_report_that_comes_twice_changes_nothing() -> None:
    """A task reports each second, but a copy that waits for its target may have measured nothing new."""
    shares = RateShares({0: 0.5, 1: 0.5}, RATE)
    for second in range(5):
        for task, throttled in ((0, 0.9), (1, 0.0)):
            totals = {"throttled_seconds": second * throttled, "received_bytes": second * 10}
            last = shares.report(task, float(second), **totals)
    assert last is None

    assert shares.report(0, 5.0, throttled_seconds=4 * 0.9, received_bytes=40) is None
    assert shares.report(0, 6.0, throttled_seconds=6 * 0.9, received_bytes=60) is None


def test_without_a_busy_task_nothing_changes() -> None:
    shares = RateShares(QUARTERS, RATE)

    found = [
        shares.report(task, float(second), throttled_seconds=0.0, received_bytes=second * 10)
        for second in range(9)
        for task in range(4)
    ]

    assert set(found) == {None}


@given(
    weights=st.lists(st.integers(1, 9), min_size=1, max_size=5),
    phases=st.lists(
        st.lists(st.sampled_from([0.0, 1e3, 4e4, 1e9]), min_size=5, max_size=5),
        min_size=1,
        max_size=4,
    ),
)
def test_the_tasks_never_read_more_than_the_rate(
    weights: list[int], phases: list[list[float]]
) -> None:
    own = {task: weight / sum(weights) for task, weight in enumerate(weights)}
    flow = Flow(own, dict.fromkeys(own, 0.0))
    for phase in phases:
        flow.demand = {task: phase[task] for task in own}
        for _ in range(3):
            # A pause saves up a quarter of a second; each task may overdraw by a round.
            assert flow.run(1) <= RATE * (1 + 0.25 + 0.1) + 10
    assert sum(flow.read.values()) <= RATE * (flow.now + 0.25 + 0.1) + 10


@given(
    own=st.dictionaries(st.integers(0, 9), st.floats(0.01, 1), min_size=1, max_size=6),
    wants=st.lists(st.floats(0, 1), min_size=10, max_size=10),
)
def test_what_is_divided_is_the_whole_at_most(own: dict[int, float], wants: list[float]) -> None:
    own = {task: share / sum(own.values()) for task, share in own.items()}

    found = divide(own, dict(enumerate(wants)))

    assert found.keys() == own.keys()
    assert sum(found.values()) <= 1 + 1e-9
    assert all(found[task] <= wants[task] + 1e-9 for task in own)
    if sum(wants[task] for task in own) >= 1:
        assert sum(found.values()) == pytest.approx(1)
