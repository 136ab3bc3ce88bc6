"""Sends metrics to a collector of OpenTelemetry by OTLP, in a thread of its own. Nothing that goes wrong here
stops the mirror.

Encoding, transport, retries and the variables OTEL_… are those of OpenTelemetry's own exporter; the values
are the families of /metrics with Heliograph's own names.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from heliograph import __version__
from heliograph.config.metrics_config import MetricsConfig, OtlpConfig
from heliograph.errors import ConfigError
from heliograph.metrics.exposition import Exposition
from heliograph.metrics.points import Points, Series
from heliograph.metrics.snapshot import Snapshot
from heliograph.runtime.problems import Problems

log = logging.getLogger(__name__)

#: Where `Problems` has a collector that does not take metrics; status shows it with every flow.
OTLP_AREA = "metrics export"
_MOST_SECONDS = 10.0
#: Shorter, and the exporter gives up before its first retry (after about a second), without the cause.
_LEAST_SECONDS = 2.0
_LAST_SECONDS = 2.0
_LONGEST_CAUSE = 500


class OtlpExport:
    """`snapshot` collects the values."""

    def __init__(
        self, config: MetricsConfig, snapshot: Callable[[], Snapshot], problems: Problems
    ) -> None:
        """Raises ConfigError if OpenTelemetry is not installed."""
        assert config.otlp is not None
        self._otlp = config.otlp
        self._snapshot = snapshot
        self._problems = problems
        # Only our own names: a collector has rules of its own for others.
        self._exposition = Exposition(replace(config, names=frozenset()))
        self._points = Points()
        self._sender = _Sender(config.otlp)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="metrics export", daemon=True)

    def start(self) -> None:
        log.info("metrics export: %s, every %g s", self._otlp.url, self._otlp.interval_seconds)
        self._thread.start()

    def stop(self) -> None:
        """With a last export, if the collector takes it at once."""
        self._over.set()
        self._thread.join(_LAST_SECONDS)
        self._sender.close()

    def export(self) -> str | None:
        """Once; why it failed, None if it did not."""
        return self._sender.send(self._points.series(self._exposition.families(self._snapshot())))

    def _run(self) -> None:
        over = False
        while not over:
            over = self._over.wait(self._otlp.interval_seconds)
            try:
                failure = self.export()
            except Exception as e:  # noqa: BLE001 - a problem
                self._problems.unexpected(OTLP_AREA, e, "metrics are not exported")
                continue
            sentence = f"{self._otlp.url} does not take metrics: {failure}; retrying"
            self._problems.update(OTLP_AREA, {} if failure is None else {"": sentence})


class _Sender:
    """OpenTelemetry's exporter, and its own words for what fails."""

    def __init__(self, config: OtlpConfig) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
            from opentelemetry.sdk.metrics import export
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.util.instrumentation import InstrumentationScope
        except ImportError as e:
            raise ConfigError(
                f"otel.exporter.otlp.endpoint: expected OpenTelemetry's exporter, found {e}; install it: "
                "pip install 'heliograph[otel]'"
            ) from e
        self._data: Any = export
        self._resource = Resource.create(
            {"service.name": "heliograph", "service.version": __version__}
        )
        self._scope = InstrumentationScope("heliograph", __version__)
        self._began = time.time_ns()
        self._said = _FirstWords(OTLPMetricExporter.__module__)
        self._exporter = OTLPMetricExporter(
            endpoint=config.url,
            headers=dict(config.headers) or None,
            timeout=max(_LEAST_SECONDS, min(_MOST_SECONDS, config.interval_seconds)),
        )

    def send(self, series: Iterable[Series]) -> str | None:
        data, now = self._data, time.time_ns()
        metrics = [self._metric(each, now) for each in series]
        scoped = data.ScopeMetrics(scope=self._scope, metrics=metrics, schema_url="")
        found = data.MetricsData(
            resource_metrics=[
                data.ResourceMetrics(resource=self._resource, scope_metrics=[scoped], schema_url="")
            ]
        )
        self._said.text = ""
        result = self._exporter.export(found)
        good = result is data.MetricExportResult.SUCCESS
        return None if good else self._said.text or "no cause was given"

    def close(self) -> None:
        self._exporter.shutdown()

    def _metric(self, series: Series, now: int) -> Any:
        data = self._data
        points: Any
        if series.buckets:
            points = data.Histogram(
                data_points=[
                    data.HistogramDataPoint(
                        attributes=each.attributes,
                        start_time_unix_nano=self._began,
                        time_unix_nano=now,
                        count=sum(each.counts),
                        sum=each.total,
                        bucket_counts=each.counts,
                        explicit_bounds=each.bounds,
                        min=None,
                        max=None,
                    )
                    for each in series.buckets
                ],
                aggregation_temporality=data.AggregationTemporality.CUMULATIVE,
            )
        else:
            numbers = [
                data.NumberDataPoint(
                    attributes=each.attributes,
                    start_time_unix_nano=self._began if series.counts else 0,
                    time_unix_nano=now,
                    value=float(each.value),  # not a bool
                )
                for each in series.points
            ]
            points = (
                data.Sum(
                    data_points=numbers,
                    aggregation_temporality=data.AggregationTemporality.CUMULATIVE,
                    is_monotonic=True,
                )
                if series.counts
                else data.Gauge(data_points=numbers)
            )
        return data.Metric(
            name=series.name, description=series.description, unit=series.unit, data=points
        )


class _FirstWords(logging.Filter):
    """The exporter logs why it fails, with every attempt, and returns only that it has. The first line is
    the cause of a problem, which is logged once; later ones say that the time was over."""

    def __init__(self, logger: str) -> None:
        super().__init__()
        self.text = ""
        found = logging.getLogger(logger)
        found.filters = [each for each in found.filters if not isinstance(each, _FirstWords)]
        found.addFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno >= logging.WARNING and not self.text:
            self.text = record.getMessage()[:_LONGEST_CAUSE]
        return False
