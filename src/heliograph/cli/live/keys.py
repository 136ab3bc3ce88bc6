"""Reads single keys from the terminal while a view is shown."""

from __future__ import annotations

import os
import select
import sys
import termios
import threading
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_TICK_SECONDS = 0.2


@contextmanager
def reading_keys(press: Callable[[str], None]) -> Iterator[None]:
    """Calls `press` in a thread of its own. Without a terminal on standard input, it does nothing."""
    try:
        fd = sys.stdin.fileno()
        before = termios.tcgetattr(fd)
    except (AttributeError, OSError, ValueError, termios.error):
        yield
        return
    over = threading.Event()
    thread = threading.Thread(target=_read, args=(fd, press, over), name="keys", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        if _in_foreground(fd):
            with suppress(termios.error):  # the terminal was closed
                termios.tcsetattr(fd, termios.TCSADRAIN, before)


def _read(fd: int, press: Callable[[str], None], over: threading.Event) -> None:
    """Keys arrive one by one and are not echoed; Ctrl-C stays a signal."""
    while not over.is_set():
        try:
            if not _in_foreground(fd):  # a background job that touches its terminal is stopped
                over.wait(_TICK_SECONDS)
                continue
            if termios.tcgetattr(fd)[3] & termios.ICANON:  # also after the shell has set it back
                tty.setcbreak(fd, termios.TCSANOW)
            if not select.select([fd], [], [], _TICK_SECONDS)[0]:
                continue
            data = os.read(fd, 64)
        except (OSError, termios.error):
            return  # the terminal was closed
        if not data:
            return
        text = data.decode(errors="ignore")
        for key in [text] if text.startswith("\x1b[") else text:  # an arrow is no Esc
            press(key)


def _in_foreground(fd: int) -> bool:
    try:
        return os.tcgetpgrp(fd) == os.getpgrp()
    except OSError:
        return False
