"""A writer's pace, with a clock of the test."""

from __future__ import annotations

from harness.pace import Pace


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_units_are_owed_as_time_passes_and_spent_when_written() -> None:
    clock = Clock()
    pace = Pace(10.0, clock)

    clock.now += 0.5
    assert pace.owed() == 5.0
    pace.spend(4)
    clock.now += 0.25
    assert pace.owed() == 3.5


def test_after_an_outage_one_second_of_load_is_owed() -> None:
    clock = Clock()
    pace = Pace(10.0, clock)

    clock.now += 60.0

    assert pace.owed() == 10.0
