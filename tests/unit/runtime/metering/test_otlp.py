"""Metrics by OTLP, read by a receiver with OpenTelemetry's official protobufs."""

from __future__ import annotations

import sys

import pytest

from heliograph.config.metrics_config import MetricsConfig, OtlpConfig
from heliograph.errors import ConfigError
from heliograph.runtime.metering.otlp import OTLP_AREA, OtlpExport
from heliograph.runtime.problems import Problems
from heliograph.security import Secret
from support.collector import Collector, attributes, collector
from support.snapshots import SNAPSHOT
from support.waiting import eventually


def export(
    found: Collector, problems: Problems | None = None, interval: float = 60.0
) -> OtlpExport:
    headers = (("authorization", Secret("Basic x")),)
    otlp = OtlpConfig(endpoint=found.url, headers=headers, interval_seconds=interval)
    config = MetricsConfig(otlp=otlp, labels=(("team", 'a"b\\c'),))
    return OtlpExport(config, lambda: SNAPSHOT, problems or Problems())


def test_counters_gauges_and_histograms_arrive_with_labels_units_and_the_service() -> None:
    with collector() as found:
        assert export(found).export() is None
        metrics = found.newest()
        path, headers, _ = found.requests[0]
        resource = found.resource()

    assert (path, headers["authorization"]) == ("/v1/metrics", "Basic x")
    assert resource["service.name"] == "heliograph"
    assert metrics.keys() >= {"heliograph_epochs", "heliograph_partition_lag_records"}
    assert all(name.startswith("heliograph_") for name in metrics)
    epochs = metrics["heliograph_epochs"].sum
    assert epochs.is_monotonic
    assert epochs.aggregation_temporality == 2  # cumulative
    assert [point.as_double for point in epochs.data_points] == [3]
    assert epochs.data_points[0].start_time_unix_nano < epochs.data_points[0].time_unix_nano
    lag = metrics["heliograph_partition_lag_seconds"]
    assert lag.unit == "s"
    assert {"flow", "topic", "partition", "team"} <= attributes(lag.gauge.data_points[0]).keys()
    assert attributes(lag.gauge.data_points[0])["team"] == 'a"b\\c'


def test_a_histogram_has_counts_between_its_bounds() -> None:
    with collector() as found:
        export(found).export()
        metrics = found.newest()

    histograms = [metric for metric in metrics.values() if metric.HasField("histogram")]
    assert histograms
    for metric in histograms:
        for point in metric.histogram.data_points:
            assert sum(point.bucket_counts) == point.count
            assert len(point.bucket_counts) == len(point.explicit_bounds) + 1
            assert "le" not in attributes(point)


def test_a_collector_that_refuses_is_one_problem_until_it_takes_them(
    caplog: pytest.LogCaptureFixture,
) -> None:
    problems = Problems()
    with collector() as found:
        found.status = 400
        running = export(found, problems, interval=0.2)
        running.start()
        try:
            seen = eventually(problems.areas, bool)
            eventually(lambda: len(found.requests), lambda number: number >= 3)
            found.status = 200
            eventually(problems.areas, lambda areas: not areas)
        finally:
            running.stop()

    assert seen[OTLP_AREA][""].startswith(f"{found.url}/v1/metrics does not take metrics: ")
    assert [r.levelname for r in caplog.records if r.levelname != "INFO"] == ["WARNING"]


def test_a_collector_that_is_not_there_has_its_cause() -> None:
    with collector() as found:
        pass

    assert "refused" in str(export(found, interval=1.0).export()).lower()


def test_without_the_extra_the_start_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.metric_exporter", None)

    with (
        collector() as found,
        pytest.raises(ConfigError, match=r"pip install 'heliograph\[otel\]'"),
    ):
        export(found)
