"""Rows of docs/sights.md: what is of one machine or one run is left out, and a table stays a table."""

from __future__ import annotations

from sights.report import _row
from sights.sight import Seen, Sight

SIGHT = Sight(
    name="stopped-target", title="a stopped target", page=("/ui", ""), metrics=(), status=()
)


def test_a_row_has_no_ports_names_or_pids_of_the_run() -> None:
    row = _row(
        Seen(
            sight=SIGHT,
            metrics=('heliograph_cluster_reachable{cluster="cloud"} 0.0',),
            status=(
                "NOT REACHED: cloud: 127.0.0.1:16226: cannot connect",
                "service at my-host, pid 4711: RUNNING",
            ),
        )
    )

    assert row == (
        '| **a stopped target** | `heliograph_cluster_reachable{cluster="cloud"} 0.0` | '
        "`NOT REACHED: cloud: broker:9092: cannot connect`<br>`service at host, pid …: RUNNING` | "
        "[picture](#a-stopped-target) |\n"
    )


def test_a_line_with_a_bar_does_not_end_its_cell() -> None:
    assert r"a\|b" in _row(Seen(sight=SIGHT, metrics=('x{client="a|b"} 1',), status=()))
