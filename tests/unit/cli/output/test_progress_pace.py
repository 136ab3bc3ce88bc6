"""How often a progress line is logged."""

from __future__ import annotations

from itertools import chain, repeat

from heliograph.cli.output.progress_pace import ProgressPace

_EVERY = 5


def told(*counts: int) -> list[int]:
    """The seconds at which a line is logged, if records are counted every 5 s."""
    pace = ProgressPace()
    return [
        number * _EVERY for number, records in enumerate(counts) if pace.due(number * 5.0, records)
    ]


def test_steady_progress_is_logged_soon_then_less_and_less_often_then_once_a_minute() -> None:
    assert told(*range(60)) == [0, 10, 30, 70, 130, 190, 250]


def test_without_movement_there_is_one_line_a_minute() -> None:
    assert told(*repeat(7, 40)) == [0, 60, 120, 180]


def test_records_that_move_after_a_rest_are_logged_at_once() -> None:
    assert told(*chain(repeat(7, 20), repeat(9, 20))) == [0, 60, 100, 160]
