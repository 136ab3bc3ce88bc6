"""As Kafka's sampled statistics with the defaults: two samples of 30 s."""

from __future__ import annotations

import math

from heliograph.measured import Stopwatch
from heliograph.metrics.windows import Counted, Rates, Spread, Window


def test_the_first_rate_is_that_of_at_least_one_more_sample() -> None:
    window = Window()
    window.note(Counted(records=300, bytes=3000), at=100.0)

    assert window.rates(100.0) == Rates(10.0, 100.0)
    assert window.rates(110.0) == Rates(7.5, 75.0)


def test_after_both_samples_nothing_is_left() -> None:
    window = Window()
    window.note(Counted(records=300), at=100.0)
    window.note(Counted(records=400), at=140.0)

    assert window.rates(150.0).records == 400 / 50
    assert window.rates(165.0).records == 100 / (25 + 30)
    assert window.rates(200.0).records == 0.0


def test_a_counter_that_starts_again_is_no_negative_rate() -> None:
    window = Window()
    window.note(Counted(records=300), at=100.0)
    window.restart()
    window.note(Counted(records=30), at=101.0)

    assert window.rates(101.0).records == 330 / 31


def test_extremes_and_mean_are_of_the_window_and_the_last_value_stays() -> None:
    window, watch = Window(), Stopwatch()
    watch.note(2.0, 3)
    watch.note(4.0)
    window.note(Counted(records=4, latencies=watch.take()), at=100.0)
    assert window.latencies(100.0) == Spread(last=4.0, mean=2.5, least=2.0, most=4.0)

    watch.note(1.0)
    window.note(Counted(records=5, latencies=watch.take()), at=161.0)
    assert window.latencies(161.0) == Spread(1.0, 1.0, 1.0, 1.0)

    later = window.latencies(300.0)
    assert later.last == 1.0
    assert math.isnan(later.mean)
    assert math.isnan(later.least)


def test_before_the_first_record_the_last_value_is_0_as_in_kafka() -> None:
    spread = Window().ages(1.0)

    assert spread.last == 0.0
    assert math.isnan(spread.most)
