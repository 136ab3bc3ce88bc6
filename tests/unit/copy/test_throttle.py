from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.copy.throttle import Throttle, TokenBucket


def test_what_is_spent_is_waited_for() -> None:
    bucket = TokenBucket(rate=100.0, at=0.0)

    assert bucket.wait(0.0) == 0.0
    assert bucket.spent(50, 0.0).wait(0.0) == 0.5
    assert bucket.spent(50, 0.0).wait(0.3) == pytest.approx(0.2)
    assert bucket.spent(50, 0.0).wait(9.0) == 0.0


def test_a_pause_saves_up_a_quarter_of_a_second() -> None:
    bucket = TokenBucket(rate=100.0, at=0.0)

    assert bucket.spent(25, 60.0).wait(60.0) == 0.0
    assert bucket.spent(35, 60.0).wait(60.0) == pytest.approx(0.1)


def test_a_clock_that_stands_still_gives_nothing() -> None:
    bucket = TokenBucket(rate=100.0, at=10.0).spent(100, 10.0)

    assert bucket.refilled(9.0).level == bucket.level


@given(
    sizes=st.lists(st.integers(1, 300), min_size=1, max_size=50),
    delays=st.lists(st.floats(0, 0.5), min_size=50, max_size=50),
)
def test_no_more_is_spent_than_the_rate_allows(sizes: list[int], delays: list[float]) -> None:
    bucket, now, spent = TokenBucket(rate=1000.0, at=0.0), 0.0, 0
    for size, delay in zip(sizes, delays, strict=False):
        now += delay + bucket.wait(now + delay)
        assert spent <= 1000 * (now + 0.25) + 300
        spent += size
        bucket = bucket.spent(size, now)


def test_a_flow_that_is_held_back_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    throttle = Throttle(1000.0, 0.0, "flow a->b")

    assert not throttle.held_back(0.0)
    assert throttle.round_bytes == 100
    assert throttle.wait(500, 0.0) == 0.5
    assert throttle.wait(500, 0.4) == pytest.approx(0.1)
    assert throttle.held_back(1.0)
    assert not throttle.held_back(5.0)
    assert [r.message for r in caplog.records] == [
        "flow a->b: throttled: throttle.bytes.per.second limits the copy (1,000 bytes/s in this "
        "task; logged once per epoch)"
    ]


def test_a_rate_of_0_is_no_limit() -> None:
    throttle = Throttle(0.0, 0.0, "flow a->b")

    assert throttle.wait(10**12, 0.0) == 0.0
    assert throttle.round_bytes is None


def test_the_time_that_a_flow_waits_is_counted() -> None:
    throttle = Throttle(1000.0, 0.0, "flow a->b")
    throttle.wait(500, 0.0)
    throttle.wait(500, 0.4)
    assert throttle.seconds == pytest.approx(0.4)

    assert throttle.wait(500, 0.6) == 0.0
    assert throttle.seconds == pytest.approx(0.6)
    throttle.wait(500, 5.0)
    assert throttle.seconds == pytest.approx(0.6)
