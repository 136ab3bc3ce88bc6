from __future__ import annotations

import json

from chaos.report import markdown, side_by_side
from chaos.results import Row
from support.repository import ROOT


def _row(
    fault: str, system: str, doubled: int, mode: str = "default", *, behind: int | None = None
) -> Row:
    return {
        "fault": fault,
        "mode": mode,
        "system": system,
        "strikes": 20,
        "records": 5000,
        "lost": behind or 0,
        "doubled": doubled,
        "longest_pause_s": 1.5,
        "exits": 0,
        "caught_up": behind is None,
    }


def test_a_rivals_figures_stand_beside_ours_and_one_mode_beside_the_other() -> None:
    rows = [
        _row("cut", "heliograph", 0),
        _row("cut", "mm2", 1234),
        _row("cut", "heliograph", 0, "exactly-once"),
        _row("cut", "mm2", 0, "exactly-once"),
        _row("reset", "heliograph", 0),
    ]

    cut, reset = side_by_side(rows).splitlines()[2:]

    ours, theirs = (
        "20 | 5,000 | 0 / 0 | 0 / 0 | 2 s / 2 s",
        "20 | 5,000 | 0 / 0 | 1,234 / 0 | 2 s / 2 s",
    )
    assert cut == f"| cut | {ours} | {theirs} |"
    assert reset == "| reset | 20 | 5,000 | 0 | 0 | 2 s |  |  |  |  |  |"


def test_what_a_mirror_that_stopped_has_not_copied_is_told_as_that() -> None:
    rows = [_row("cut", "heliograph", 0), _row("cut", "mm2", 0, behind=1234)]

    assert "| stuck, 1,234 behind |" in side_by_side(rows)


def test_one_system_alone_is_compared_with_nobody() -> None:
    rows = [_row("cut", "heliograph", 0)]

    assert side_by_side(rows) == ""
    assert markdown(rows).startswith("| fault | mode | system |")


def test_the_table_in_the_documentation_is_that_of_the_results() -> None:
    rows = json.loads((ROOT / "chaos/results/latest.json").read_text())["rows"]

    assert side_by_side(rows) in (ROOT / "docs/faults.md").read_text()
