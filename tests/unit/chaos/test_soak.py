from __future__ import annotations

import pytest

from chaos.soak import Role, Sample, Trend, memory, trends


def _samples(*rss: float) -> list[Sample]:
    return [
        Sample(at=float(at), role=Role.DRIVER, rss_mb=each, threads=9, sockets=4, files=20)
        for at, each in enumerate(rss)
    ]


def _memory(*rss: float) -> Trend:
    return next(trend for trend in trends(_samples(*rss)) if trend.figure == "rss_mb")


def test_growth_is_that_of_the_last_third_over_the_second() -> None:
    trend = _memory(10, 10, 10, 100, 100, 100, 110, 110, 110, 110)

    assert trend.growth == pytest.approx(0.1)
    assert not trend.flat


def test_memory_that_grows_at_first_only_is_flat() -> None:
    assert _memory(10, 20, 30, 100, 100, 100, 101, 103, 104, 104).flat


def test_a_thread_or_two_more_are_no_growth() -> None:
    for last, flat in ((11.0, True), (12.5, False)):
        trend = Trend(role=Role.JVM, figure="threads", second=10.0, last=last)
        assert trend.flat is flat


def test_memory_is_told_minute_by_minute() -> None:
    assert memory(_samples(*range(130))) == {"driver": [0, 60, 120]}
