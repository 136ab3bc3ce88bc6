from __future__ import annotations

from chaos.report import markdown, side_by_side
from chaos.results import Row


def _row(fault: str, system: str, doubled: int, mode: str = "default") -> Row:
    return {
        "fault": fault,
        "mode": mode,
        "system": system,
        "strikes": 20,
        "lost": 0,
        "doubled": doubled,
        "longest_pause_s": 1.5,
        "exits": 0,
    }


def test_a_rivals_figures_stand_beside_ours() -> None:
    rows = [_row("cut", "heliograph", 0), _row("cut", "mm2", 1234), _row("reset", "heliograph", 0)]

    cut, reset = side_by_side(rows).splitlines()[2:]

    assert cut == "| cut | default | 20 | 20 | 0 | 0 | 0 | 1,234 | 1.5 | 1.5 | 0 | 0 |"
    assert reset == "| reset | default | 20 |  | 0 |  | 0 |  | 1.5 |  | 0 |  |"


def test_one_system_alone_is_compared_with_nobody() -> None:
    rows = [_row("cut", "heliograph", 0)]

    assert side_by_side(rows) == ""
    assert markdown(rows).startswith("| fault | mode | system |")
