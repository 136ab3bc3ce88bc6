"""Sparklines and the map: what is drawn stays within its frame."""

from __future__ import annotations

import itertools
import re

import pytest

from heliograph.web.ui.views.map_layout import (
    BOX_HEIGHT,
    BOX_WIDTH,
    LABEL_HEIGHT,
    LABEL_WIDTH,
    lay_out,
)
from heliograph.web.ui.views.sparkline import outline, sparkline


def numbers(path: str) -> list[float]:
    return [float(each) for each in re.findall(r"-?\d+\.?\d*", path)]


def test_a_sparkline_grows_from_the_right_and_stays_in_its_frame() -> None:
    chart = sparkline([0, 50, 100], slots=60, width=100, height=20)

    points = numbers(chart.line)
    assert points[-2] == 100
    assert points[1] > points[3] > points[5] >= 0
    assert chart.words.endswith("now 100, at most 100 within 15 s")


def test_unknown_values_are_gaps_and_nothing_known_is_no_data() -> None:
    assert sparkline([1, None, 2, 3], slots=4).line.count("M") == 2
    assert sparkline([None, None], slots=4, what="lag").words == "lag: no data"
    assert sparkline([], slots=4).flat


def test_values_that_are_all_zero_are_a_line_at_the_bottom() -> None:
    chart = sparkline([0, 0, 0], slots=3, height=20)

    assert set(numbers(chart.line)[1::2]) == {18.5}


def test_the_chart_of_a_row_has_fewer_points_and_keeps_the_largest_values() -> None:
    path = outline((0, 0, 9, 0, None, None, 3, 3), width=72, height=18, step=2)

    assert path == "M65 17 67 1M72 12h1"
    assert outline((), width=72, height=18, step=2) == ""


def test_a_level_line_in_the_chart_of_a_row_has_two_points() -> None:
    assert outline((0,) * 60, width=60, height=18, step=1) == "M1 17 60 17"
    assert outline((0, 0, 0, 4, 4, 4), width=60, height=18, step=1) == "M55 17 57 17 58 1 60 1"


@pytest.mark.parametrize("tall", [False, True])
@pytest.mark.parametrize(
    "pairs",
    [
        [("a", "b")],
        [("a", "b"), ("b", "a")],
        [("a", "b"), ("b", "a"), ("a", "b")],
        [("a", "b"), ("a", "c"), ("b", "c")],
        list(itertools.permutations("abcd", 2)),
        [("hub", f"spoke-{number}") for number in range(8)],
        [("a", "a")],
    ],
)
def test_clusters_and_labels_are_within_the_map(pairs: list[tuple[str, str]], tall: bool) -> None:
    layout = lay_out(pairs, tall=tall)

    assert [arrow.number for arrow in layout.arrows] == list(range(len(pairs)))
    assert [box.name for box in layout.boxes] == list(dict.fromkeys(itertools.chain(*pairs)))
    for box in layout.boxes:
        assert 0 <= box.left <= layout.width - BOX_WIDTH
        assert 0 <= box.top <= layout.height - BOX_HEIGHT
    if len(layout.boxes) == 2 and len(pairs) <= 2:
        for arrow in layout.arrows:
            assert LABEL_HEIGHT / 2 <= arrow.y <= layout.height - LABEL_HEIGHT / 2
    boxes = [(box.x, box.y) for box in layout.boxes]
    assert len(set(boxes)) == len(boxes)


_SPOKES = [("hub", f"spoke-{number}") for number in range(8)]


@pytest.mark.parametrize(
    ("pairs", "tall"),
    [
        ([("a", "b"), ("b", "a")], False),
        ([("a", "b"), ("b", "a")], True),
        ([("a", "b"), ("b", "c"), ("c", "a")], False),
        (_SPOKES, False),
        ([(spoke, hub) for hub, spoke in _SPOKES], False),
        ([*_SPOKES, *((spoke, hub) for hub, spoke in _SPOKES)], False),
    ],
    ids=["two ways", "two ways, tall", "ring", "fan-out", "fan-in", "hub"],
)
def test_labels_do_not_overlap(pairs: list[tuple[str, str]], tall: bool) -> None:
    layout = lay_out(pairs, tall=tall)

    for one, other in itertools.combinations(layout.arrows, 2):
        apart = abs(one.y - other.y) >= LABEL_HEIGHT or abs(one.x - other.x) >= LABEL_WIDTH
        assert apart, (pairs[one.number], pairs[other.number])


def test_a_long_name_is_shortened() -> None:
    box = lay_out([("a-very-long-name-of-a-cluster", "b")], tall=False).boxes[0]

    assert box.shown == "a-very-long-nam…"
