"""The live view fits its terminal, whatever it has to show."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console
from rich.text import Text

from heliograph.cli.live.draw import draw
from heliograph.cli.live.screen import ClusterHealth, FlowRow, Shown, TopicRow, View

FROZEN = "cloud: no answer for 4 s"


def topic(name: str, *, flow: str = "home->cloud", trouble: str | None = None) -> TopicRow:
    return TopicRow(
        flow=flow,
        topic=name,
        partitions=12,
        records=1_234_567,
        records_per_second=4_000.0,
        bytes_per_second=2e6,
        lag=98_765,
        behind=75.0,
        behind_at_least=True,
        trouble=trouble,
    )


SHOWN = Shown(
    uptime=200.0,
    epoch=4,
    clusters=(
        ClusterHealth(alias="home", reached=True),
        ClusterHealth(alias="cloud", reached=True, silent_seconds=4.0),
    ),
    flows=(FlowRow(name="home->cloud", source="home", target="cloud", state=FROZEN, groups=3),),
    topics=(topic("orders"), topic("payments-of-all-customers-in-one-long-name", trouble=FROZEN)),
    problems=tuple(f"flow home->cloud: problem {n} with a cause: {'x' * 200}" for n in range(9)),
)


def lines(shown: Shown = SHOWN, view: View | None = None, *, width: int, height: int) -> list[str]:
    console = Console(
        file=io.StringIO(), width=width, height=height, force_terminal=True, no_color=True
    )
    with console.capture() as captured:
        console.print(draw(shown, view or View(), width, height))
    return Text.from_ansi(captured.get()).plain.splitlines()


@pytest.mark.parametrize("height", [12, 24, 50])
@pytest.mark.parametrize("width", [60, 80, 100, 160])
@pytest.mark.parametrize("view", [View(), View(help=True), View(typing=True, filter="o" * 200)])
def test_it_fits_the_terminal(width: int, height: int, view: View) -> None:
    many = replace(SHOWN, topics=tuple(topic(f"t{n}") for n in range(100)))

    for shown in (SHOWN, many, Shown()):
        drawn = lines(shown, view, width=width, height=height)
        assert max(map(len, drawn)) <= width
        assert len(drawn) <= height


def test_narrow_terminals_have_what_matters_and_wide_ones_more() -> None:
    narrow = "\n".join(lines(width=60, height=24))
    medium = "\n".join(lines(width=100, height=24))
    wide = "\n".join(lines(width=160, height=24))

    for name in ("topic", "records/s", "lag", "behind", "state"):
        assert name in narrow
    assert "partitions" not in narrow
    assert "partitions" in medium
    assert "MB/s" not in medium
    assert "MB/s" in wide
    assert ">75 s" in wide


def test_a_silent_cluster_is_named_and_its_topics_are_not_ok() -> None:
    drawn = lines(width=100, height=24)

    assert "home ok · cloud no answer for 4 s" in drawn
    assert "home->cloud  cloud: no answer for 4 s, 3 groups" in drawn
    (row,) = (line for line in drawn if line.startswith("payments"))
    assert FROZEN in row
    assert not row.endswith("ok")


def test_problems_stand_below_the_topics_and_the_rest_is_counted() -> None:
    drawn = lines(width=160, height=24)
    first = next(n for n, line in enumerate(drawn) if line.startswith("PROBLEM"))

    assert any("orders" in line for line in drawn[:first])
    assert drawn[first].startswith("PROBLEM flow home->cloud: problem 0 with a cause")
    assert "… 4 more problems: heliograph status" in drawn


def test_a_filter_that_no_topic_matches_says_so() -> None:
    drawn = lines(SHOWN, View(filter="zzz"), width=60, height=24)

    assert "no topic has zzz in its name" in drawn


def test_flows_are_told_apart_if_there_are_several() -> None:
    both = Shown(topics=(topic("t"), topic("t", flow="cloud->home")))

    for width in (60, 160):
        text = "\n".join(lines(both, width=width, height=24))
        assert "home->cloud" in text
        assert "cloud->home" in text


def test_the_first_second_already_has_a_state() -> None:
    starting = Shown(
        clusters=(ClusterHealth(alias="home"),),
        flows=(
            FlowRow(name="home->cloud", source="home", target="cloud", state="connecting to home"),
        ),
    )

    drawn = lines(starting, width=60, height=24)

    assert drawn[0].startswith("heliograph · up 0.0 s")
    assert "home connecting" in drawn
    assert "home->cloud  connecting to home" in drawn


def test_control_characters_of_names_are_shown_not_sent() -> None:
    evil = Shown(topics=(topic("\x1b[2Jx", trouble="\x07bell"),), problems=("\x1b]0;title\x07",))

    text = "\n".join(lines(evil, width=160, height=24))

    assert "\\x1b[2Jx" in text
    assert "\\x07bell" in text
    assert "\x07" not in text
