"""The terminal of scripts/run_picture.py, against rich's own live display."""

from __future__ import annotations

import io

from rich.console import Console
from rich.live import Live
from rich.text import Text

from scripts.run_picture import Screen, is_ok


def test_a_live_display_leaves_its_last_state_below_the_log() -> None:
    sent = io.StringIO()
    console = Console(file=sent, force_terminal=True, width=40)
    with Live(console=console, auto_refresh=False) as live:
        live.update(Text("first\nsecond"), refresh=True)
        console.print("a log line")
        live.update(Text("third\nfourth"), refresh=True)

    screen = Screen()
    screen.write(sent.getvalue().replace("\n", "\r\n"))

    assert screen.lines == ["a log line", "third", "fourth", ""]


def test_colours_stay_in_the_line() -> None:
    screen = Screen()
    screen.write("\x1b[?25l\x1b[32mok\x1b[0m\r\n")

    assert screen.lines == ["\x1b[32mok\x1b[0m", ""]


def test_a_row_of_the_table_is_recognised_with_its_colours() -> None:
    assert is_ok("│ home->cloud │ orders │ 3 │ \x1b[32mok   \x1b[0m │")
    assert not is_ok("│ home->cloud │ orders │ 3 │ \x1b[31mFAILED 0: too large\x1b[0m │")
