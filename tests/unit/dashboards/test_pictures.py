from __future__ import annotations

import math

import pytest

from dashboards.pictures import colour, legend, shown
from dashboards.queries import ours


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.25, "s", "250 ms"),
        (90, "s", "1.5 min"),
        (172800, "s", "2 d"),
        (0.5, "percentunit", "50 %"),
        (1234567, "Bps", "1.23 MB/s"),
        (42, "short", "42"),
    ],
)
def test_values_are_abbreviated_with_their_unit(value: float, unit: str, text: str) -> None:
    assert shown(value, unit) == text


def test_a_legend_has_the_labels_of_its_series() -> None:
    assert legend("{{topic}}-{{ partition }}", {"topic": "t", "partition": "0"}) == "t-0"
    assert legend("{{flow}}", {}) == "value"


def test_a_number_past_its_threshold_is_red() -> None:
    """As in the dashboard; the pictures drew all numbers green."""
    steps = ((-math.inf, "green"), (300.0, "red"))

    green, red = colour(0, steps), colour(300, steps)

    assert green != red
    assert [colour(value, steps) for value in (-1, 299.9, 9_000)] == [green, green, red]


def test_every_colour_of_our_thresholds_can_be_drawn() -> None:
    steps = {query.steps for dashboard in ours() for query in dashboard.queries}

    assert any(len(each) > 1 for each in steps)
    assert all(colour(begin, each).startswith("#") for each in steps for begin, _ in each)
