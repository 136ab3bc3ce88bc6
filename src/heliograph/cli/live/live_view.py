"""Keeps the live view on the terminal: collects, draws, and follows keys and changes of size."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace

from rich.console import Console
from rich.control import Control
from rich.live import Live
from rich.logging import RichHandler

from heliograph.cli.live.collect import Collector
from heliograph.cli.live.draw import draw
from heliograph.cli.live.keys import reading_keys
from heliograph.cli.live.screen import Shown, View
from heliograph.cli.output.escaping import VisibleFormatter
from heliograph.runtime.driver import Mirror
from heliograph.runtime.progress import Progress

log = logging.getLogger(__name__)

_SECONDS = 0.5


class LiveView:
    """`run` shows it until `over` is set; `stop` is set if the reader quits."""

    def __init__(self, progress: Progress, stop: threading.Event, over: threading.Event) -> None:
        self._collector = Collector(progress, stop)
        self._stop, self._over = stop, over
        self._view = View()
        self._pressed = threading.Event()
        self._console = Console(stderr=True)
        self._width = self._console.width

    def follow(self, mirror: Mirror) -> None:
        self._collector.mirror = mirror

    def run(self) -> None:
        _route_logs(self._console)
        shown = Shown()
        with reading_keys(self._press), Live(console=self._console, auto_refresh=False) as live:
            while not self._over.is_set():
                if not self._view.held:
                    shown = self._collector.collect()
                self._show(live, shown)
                self._pressed.wait(_SECONDS)
                self._pressed.clear()
            self._view = replace(self._view, held=False, help=False, typing=False)
            self._show(live, self._collector.collect())

    def end(self) -> None:
        """Wakes it up, once `over` is set."""
        self._pressed.set()

    def _show(self, live: Live, shown: Shown) -> None:
        width, height = self._console.size
        if width != self._width:  # the terminal has wrapped the lines that are there
            self._console.control(Control.clear(), Control.home())
            self._width = width
        live.update(draw(shown, self._view, width, height), refresh=True)

    def _press(self, key: str) -> None:
        self._view = self._view.press(key)
        if self._view.quit and not self._stop.is_set():
            log.info("q: stopping")
            self._stop.set()
        self._pressed.set()


def _route_logs(console: Console) -> None:
    """Log lines scroll above the live view instead of through it."""
    root, handler = logging.getLogger(), RichHandler(console=console, show_path=False)
    handler.setFormatter(VisibleFormatter("%(message)s"))
    for each in (each for before in root.handlers for each in before.filters):
        handler.addFilter(each)
    files = [each for each in root.handlers if isinstance(each, logging.FileHandler)]
    root.handlers = [handler, *files]
