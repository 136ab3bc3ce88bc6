"""Keys from a pseudo terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import termios

from support.waiting import PATIENCE_SECONDS

PROGRAM = """
import threading
from heliograph.cli.live.keys import reading_keys
ended = threading.Event()
def press(key):
    print(repr(key), flush=True)
    if key == "q":
        ended.set()
with reading_keys(press):
    print("ready", flush=True)
    ended.wait()
"""


def test_keys_arrive_one_by_one_and_the_terminal_is_left_as_it_was() -> None:
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    process = subprocess.Popen(
        [sys.executable, "-c", _on_own_terminal(PROGRAM)],
        stdin=slave,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"ready\n"
        os.write(master, b"s")
        assert process.stdout.readline() == b"'s'\n"
        os.write(master, b"\x1b[A")
        assert process.stdout.readline() == b"'\\x1b[A'\n"
        os.write(master, b"q")
        assert process.stdout.readline() == b"'q'\n"
        assert process.wait(PATIENCE_SECONDS) == 0
        assert termios.tcgetattr(slave) == before
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        os.close(master)
        os.close(slave)


def _on_own_terminal(program: str) -> str:
    """A new session takes its standard input as terminal, as a login shell does."""
    return "import fcntl, termios\nfcntl.ioctl(0, termios.TIOCSCTTY, 0)\n" + program


def test_without_a_terminal_nothing_is_read() -> None:
    program = PROGRAM.replace("ended.wait()", "pass")
    run = subprocess.run(
        [sys.executable, "-c", program], input=b"q", stdout=subprocess.PIPE, check=True
    )

    assert run.stdout == b"ready\n"
