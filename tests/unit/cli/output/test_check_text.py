"""The lines of a check."""

from __future__ import annotations

from heliograph.cli.output.check_text import check_lines
from heliograph.inspection.check.report import FlowCheck, MirrorCheck, Outcome, RightCheck


def right(name: str, remedy: str) -> RightCheck:
    return RightCheck(
        cluster="cloud",
        client="admin",
        resource="Topic",
        names=(name,),
        operations=("CREATE",),
        purpose="as in MM2",
        outcome=Outcome.FAILED,
        detail=f"{name} could not be created",
        remedy=remedy,
    )


def test_what_fails_for_one_reason_is_told_each_time_and_its_remedy_once() -> None:
    rights = (right("a", "lower it"), right("b", "lower it"), right("c", "grant it"))
    lines = list(
        check_lines(MirrorCheck(logins=(), flows=(FlowCheck(name="us->eu", rights=rights),)))
    )

    assert sum("could not be created" in line for line in lines) == 3
    assert [line.split("remedy: ")[1] for line in lines if "remedy: " in line] == [
        "lower it",
        "grant it",
    ]
    assert lines[-1] == "failed: 3"
