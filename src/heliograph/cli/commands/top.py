"""`heliograph top`: the live view of a mirror that runs anywhere, observed on its clusters. Read-only."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.control import Control
from rich.live import Live

from heliograph.cli.cluster_options import log_warnings_to_stderr
from heliograph.cli.commands.status import load_observed, the_config_file
from heliograph.cli.live.draw import draw
from heliograph.cli.live.keys import reading_keys
from heliograph.cli.live.observed import ObservedRates, shown_status
from heliograph.cli.live.screen import Shown, View
from heliograph.config.formats.load import LoadOptions
from heliograph.config.mirror_config import MirrorConfig
from heliograph.errors import ConfigError, HeliographError
from heliograph.inspection.clusters import Clusters
from heliograph.inspection.status import observe_mirror

_CLIENT_ID = "heliograph-top"
_DRAW_SECONDS = 0.5
_CLOSE_SECONDS = 2.0


def top(path: Path | None, options: LoadOptions, *, interval: float) -> int:
    """Runs until q or Ctrl-C. Raises ConfigError without a terminal."""
    if not sys.stdout.isatty():
        raise ConfigError(
            "top: expected a terminal, found none on standard output; heliograph status --watch writes to a "
            "pipe or a file"
        )
    log_warnings_to_stderr()
    config, idle = load_observed(the_config_file(path, "top"), options, _CLIENT_ID)
    logging.disable(
        logging.CRITICAL
    )  # problems are on the screen, which log lines would tear apart
    observer = _Observer(config, idle, interval)
    observer.start()
    try:
        _show(observer)
    except KeyboardInterrupt:
        pass  # as q
    finally:
        observer.close()
    return 0


class _Observer:
    """Observes both clusters again and again, in a thread of its own, so that keys are answered meanwhile."""

    def __init__(self, config: MirrorConfig, idle: Mapping[str, str], interval: float) -> None:
        self.shown = Shown(
            title="heliograph top", uptime=None, problems=("reading both clusters …",)
        )
        self.failure: Exception | None = None
        self._config = config
        self._idle = idle
        self._interval = interval
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="top", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._over.set()
        self._thread.join(_CLOSE_SECONDS)

    def _run(self) -> None:
        rates = ObservedRates()
        with closing(Clusters(self._config, client_id=_CLIENT_ID)) as clusters:
            while not self._over.is_set():
                began = time.monotonic()
                try:
                    clusters.forget_errors()
                    found = replace(observe_mirror(self._config, clusters), idle=self._idle)
                    self.shown = shown_status(found, rates.sample(found))
                except HeliographError as e:
                    self.shown = replace(self.shown, problems=(str(e),))
                except Exception as e:  # noqa: BLE001 - raised again by the thread that draws
                    self.failure = e
                    return
                self._over.wait(max(began + self._interval - time.monotonic(), 0.1))


def _show(observer: _Observer) -> None:
    console, pressed, view = Console(), threading.Event(), View(watches=True)

    def press(key: str) -> None:
        nonlocal view
        view = view.press(key)
        pressed.set()

    width, shown = console.width, observer.shown
    with reading_keys(press), Live(console=console, auto_refresh=False, screen=True) as live:
        while not view.quit:
            if observer.failure is not None:
                raise observer.failure
            if not view.held:
                shown = observer.shown
            if console.width != width:  # the terminal has wrapped the lines that are there
                console.control(Control.clear(), Control.home())
                width = console.width
            live.update(draw(shown, view, *console.size), refresh=True)
            pressed.wait(_DRAW_SECONDS)
            pressed.clear()
