from __future__ import annotations

import pytest

from dashboards.pictures import legend, shown


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
