"""Shows live progress: a table on a terminal, log lines elsewhere."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.logging import RichHandler
from rich.table import Table
from rich.text import Text

from heliograph.cli.output.escaping import VisibleFormatter, visible
from heliograph.runtime.problems import summed_up
from heliograph.runtime.progress import Progress, TopicProgress

log = logging.getLogger(__name__)

_LIVE_SECONDS = 0.5
_PLAIN_SECONDS = 5.0
_WINDOW_SECONDS = 4.0
#: Rows of the table: the busiest topics; the others are summed up in one row.
_ROWS = 20


@contextmanager
def show_progress(progress: Progress) -> Iterator[None]:
    """Shows progress while its block runs."""
    stop = threading.Event()
    target = _table if sys.stderr.isatty() else _lines
    thread = threading.Thread(target=target, args=(progress, stop), name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


class _Rates:
    """Records and bytes per second over several samples: tasks report less often, once a second."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, dict[tuple[str, str], tuple[int, int]]]] = deque()

    def sample(self, topics: list[TopicProgress]) -> list[tuple[TopicProgress, float, float]]:
        now = time.monotonic()
        self._samples.append((now, {(t.flow, t.topic): (t.records, t.bytes) for t in topics}))
        while len(self._samples) > 2 and self._samples[1][0] < now - _WINDOW_SECONDS:
            self._samples.popleft()
        then, before = self._samples[0]
        seconds = max(now - then, 1e-6)
        rates = []
        for topic in topics:
            records, size = before.get((topic.flow, topic.topic), (0, 0))
            rates.append(
                (topic, (topic.records - records) / seconds, (topic.bytes - size) / seconds)
            )
        return rates


def _lines(progress: Progress, stop: threading.Event) -> None:
    rates = _Rates()
    while not stop.wait(_PLAIN_SECONDS):
        sampled = rates.sample(progress.topics())
        if not sampled:
            continue
        lags = [topic.lag for topic, _, _ in sampled]
        lag = "unknown" if None in lags else f"{sum(lag for lag in lags if lag is not None):,}"
        log.info(
            "%s records mirrored, %s records/s, %.2f MB/s, lag %s, %d topics",
            f"{sum(topic.records for topic, _, _ in sampled):,}",
            f"{sum(rate for _, rate, _ in sampled):,.0f}",
            sum(size for _, _, size in sampled) / 1e6,
            lag,
            len(sampled),
        )
        for line in _troubles(topic for topic, _, _ in sampled):
            log.warning("%s", line)


def _troubles(topics: Iterable[TopicProgress]) -> Iterator[str]:
    """One line for each problem, with the partitions that share it."""
    return summed_up(
        {
            f"{topic.topic}-{receipt.partition}": (
                f"{receipt.state} {topic.topic}-{receipt.partition}: {receipt.error}"
            )
            for topic in topics
            for receipt in topic.troubled
        }
    )


def _table(progress: Progress, stop: threading.Event) -> None:
    console = Console(stderr=True)
    _route_logs(console)
    rates = _Rates()
    with Live(console=console, refresh_per_second=4, transient=False) as live:
        while not stop.wait(_LIVE_SECONDS):
            live.update(_render(rates.sample(progress.topics()), progress.epoch))
        live.update(_render(rates.sample(progress.topics()), progress.epoch))


def _route_logs(console: Console) -> None:
    """Log lines scroll above the live table instead of through it."""
    root, handler = logging.getLogger(), RichHandler(console=console, show_path=False)
    handler.setFormatter(VisibleFormatter("%(message)s"))
    for each in (each for before in root.handlers for each in before.filters):
        handler.addFilter(each)
    root.handlers = [handler]


def _render(sampled: list[tuple[TopicProgress, float, float]], epoch: int) -> Table:
    table = Table(
        title=f"heliograph · epoch {epoch}" if epoch > 0 else "heliograph", title_justify="left"
    )
    table.add_column("flow")
    table.add_column("topic")
    for name in ("partitions", "records", "records/s", "MB/s", "lag"):
        table.add_column(name, justify="right")
    table.add_column("state")
    busiest = sorted(sampled, key=lambda item: (not item[0].troubled, -item[1], item[0].topic))
    for topic, rate, size in busiest[:_ROWS]:
        trouble = topic.troubled[0] if topic.troubled else None
        table.add_row(
            Text(visible(topic.flow)),
            Text(visible(topic.topic)),
            f"{topic.partitions:,}",
            f"{topic.records:,}",
            f"{rate:,.0f}",
            f"{size / 1e6:,.2f}",
            "?" if topic.lag is None else f"{topic.lag:,}",
            Text(visible(f"{trouble.state} {trouble.partition}: {trouble.error}"), style="red")
            if trouble
            else Text("ok", style="green"),
        )
    if len(busiest) > _ROWS:
        rest = busiest[_ROWS:]
        table.add_row(
            "",
            f"… {len(rest):,} more",
            "",
            f"{sum(t.records for t, _, _ in rest):,}",
            "",
            "",
            "",
            "",
        )
    return table
