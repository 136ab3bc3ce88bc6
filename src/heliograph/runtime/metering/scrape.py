"""Answers scrapes: collects a snapshot and writes it as text, at most once a second."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable

from prometheus_client.core import Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import CollectorRegistry

from heliograph.config.metrics_config import MetricsConfig
from heliograph.metrics.exposition import Exposed, Exposition
from heliograph.metrics.snapshot import Snapshot

log = logging.getLogger(__name__)

#: However many scrapers there are, the text is made at most once in this time.
_FRESH_SECONDS = 1.0
#: A scrape that takes longer is logged: Prometheus gives up after 10 s by default.
_SLOW_SECONDS = 5.0


class Scrape:
    """For several threads. `snapshot` collects the values."""

    def __init__(
        self,
        config: MetricsConfig,
        snapshot: Callable[[], Snapshot],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._exposition = Exposition(config)
        self._snapshot = snapshot
        self._clock = clock
        self._lock = threading.Lock()
        self._made: dict[str, tuple[float, Exposed]] = {}
        self._process = ProcessCollector(registry=CollectorRegistry())

    def __call__(self, accept: str) -> Exposed:
        """The text in the format that the Accept header asks for."""
        with self._lock:
            began = self._clock()
            made = self._made.get(accept)
            if made is None or began - made[0] >= _FRESH_SECONDS:
                snapshot = self._snapshot()
                exposed = self._exposition.expose(snapshot, accept, self._of_process())
                made = (self._clock(), exposed)
                # Scrapers send a few different headers; anyone can send any number.
                self._made = {accept: made} if len(self._made) > 8 else {**self._made, accept: made}
                self._warn_if_slow(made[0] - began)
        return made[1]

    def _of_process(self) -> Iterable[Metric]:
        return self._process.collect()

    def _warn_if_slow(self, seconds: float) -> None:
        if seconds > _SLOW_SECONDS:
            log.warning(
                "metrics: a scrape took %.1f s; set metrics.detail to topic or flow for fewer series",
                seconds,
            )
