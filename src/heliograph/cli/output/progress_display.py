"""Shows progress: the live view on a terminal, log lines elsewhere."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from heliograph.cli.live.live_view import LiveView
from heliograph.cli.output.progress_pace import ProgressPace
from heliograph.cli.output.rates import Rates
from heliograph.counted import counted
from heliograph.runtime.driver import Mirror
from heliograph.runtime.progress import Progress

log = logging.getLogger(__name__)

_PLAIN_SECONDS = 5.0


class ProgressDisplay:
    """`follow` tells it of the mirror, once there is one."""

    def __init__(self, progress: Progress, stop: threading.Event, *, plain: bool) -> None:
        self._progress = progress
        self._over = threading.Event()
        self._view = None
        if sys.stderr.isatty() and not plain:
            self._view = LiveView(progress, stop, self._over)
        target = self._lines if self._view is None else self._view.run
        self._thread = threading.Thread(target=target, name="progress", daemon=True)

    def follow(self, mirror: Mirror) -> None:
        if self._view is not None:
            self._view.follow(mirror)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._over.set()
        if self._view is not None:
            self._view.end()
        self._thread.join()

    def _lines(self) -> None:
        rates, pace = Rates(), ProgressPace()
        while not self._over.wait(_PLAIN_SECONDS):
            sampled = rates.sample(self._progress.topics())
            if not sampled:
                continue
            records = sum(topic.records for topic, _, _ in sampled)
            if not pace.due(time.monotonic(), records):
                continue
            lags = [topic.lag for topic, _, _ in sampled]
            lag = "unknown" if None in lags else f"{sum(lag for lag in lags if lag is not None):,}"
            log.info(
                "%s mirrored, %s records/s, %.2f MB/s, lag %s, %s",
                counted(records, "record"),
                f"{sum(rate for _, rate, _ in sampled):,.0f}",
                sum(size for _, _, size in sampled) / 1e6,
                lag,
                counted(len(sampled), "topic"),
            )


@contextmanager
def show_progress(
    progress: Progress, stop: threading.Event, *, plain: bool = False
) -> Iterator[ProgressDisplay]:
    """Shows progress while its block runs; `plain`: as log lines even on a terminal. Key q of the
    live view sets `stop`."""
    display = ProgressDisplay(progress, stop, plain=plain)
    display.start()
    try:
        yield display
    finally:
        display.end()
