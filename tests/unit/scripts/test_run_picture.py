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
    assert is_ok("orders  3  \x1b[32mok   \x1b[0m")
    assert not is_ok("orders  3  \x1b[31mFAILED 0: too large\x1b[0m")
    assert not is_ok("home \x1b[32mok\x1b[0m · cloud \x1b[32mok\x1b[0m")


def test_a_view_begins_below_the_log_and_a_cleared_screen_has_nothing_else() -> None:
    screen = Screen()
    screen.write("a log line\r\n\x1b[1mheliograph\x1b[0m · up 3 s\r\nkeys")
    assert screen.view == ["\x1b[1mheliograph\x1b[0m · up 3 s", "keys"]

    screen.write("\x1b[2J\x1b[Hheliograph · up 4 s")
    assert screen.lines == screen.view == ["heliograph · up 4 s"]
