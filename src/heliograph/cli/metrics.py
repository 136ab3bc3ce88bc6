"""Serves metrics for `heliograph run` and `serve`. Nothing that goes wrong here stops the mirror."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from heliograph.config.metrics_config import MetricsConfig
from heliograph.connect.herder import Herder
from heliograph.errors import ConfigError
from heliograph.runtime.driver import Mirror
from heliograph.runtime.metering.collect import SnapshotCollector
from heliograph.runtime.metering.otlp import OtlpExport
from heliograph.runtime.metering.scrape import Scrape
from heliograph.runtime.problems import Problems
from heliograph.runtime.progress import Progress
from heliograph.spark.jvm_figures import JvmWatch
from heliograph.web.endpoints.health import ServiceHealth
from heliograph.web.listener.metrics_server import MetricsServer

log = logging.getLogger(__name__)

#: Where `Problems` has those of the listener; status shows them with every flow.
METRICS_AREA = "metrics listener"


@contextmanager
def metrics(
    config: MetricsConfig, mirror: Mirror, progress: Progress, herder: Herder
) -> Iterator[Scrape]:
    """Gives what /metrics answers. Serves it at `metrics.listener` and sends it to a collector, if they are
    set, while the block runs. Raises ConfigError for labels in the environment that are wrong, and if a
    collector is set and OpenTelemetry is not installed."""
    config = config.with_environment(os.environ)
    watch = JvmWatch(lambda: mirror.spark.started)
    collector = SnapshotCollector(
        mirror, progress, herder.measured_connectors, lambda: watch.figures
    )
    scrape = Scrape(config, collector.collect)
    export = None
    if config.otlp is not None:
        export = OtlpExport(config, collector.collect, mirror.problems)
    watch.start()
    if export is not None:
        export.start()
    server = _started(config, scrape, mirror.problems, lambda: health_of(mirror, herder))
    try:
        yield scrape
    finally:
        watch.stop()
        if export is not None:
            export.stop()
        if server is not None:
            server.stop()


def health_of(mirror: Mirror, herder: Herder) -> ServiceHealth:
    waits_for = herder.ready()
    if waits_for is None and mirror.spark.started is None:
        waits_for = "Spark has not started yet."
    groups = {each.group: each.standing.value.lower() for each in mirror.worker.leaderships}
    return ServiceHealth(waits_for=waits_for, groups=groups)


def _started(
    config: MetricsConfig,
    scrape: Scrape,
    problems: Problems,
    health: Callable[[], ServiceHealth],
) -> MetricsServer | None:
    if config.listener is None:
        return None
    server = MetricsServer(config.listener, scrape, health=health)
    try:
        server.start()
    except ConfigError as e:
        sentence = (
            f"{e}; metrics are served by the REST API only: free the port and restart the service"
        )
        problems.update(METRICS_AREA, {"": sentence})
        return None
    return server
