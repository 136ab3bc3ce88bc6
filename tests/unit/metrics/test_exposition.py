from __future__ import annotations

import math
import subprocess
from dataclasses import replace

import pytest
from prometheus_client import core, exposition, openmetrics
from prometheus_client.openmetrics.exposition import generate_latest as openmetrics_text
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_plain
from prometheus_client.registry import Collector, CollectorRegistry

from dashboards.prometheus import installed
from heliograph.config.metrics_config import Detail, MetricsConfig, Names
from heliograph.metrics.exposition import Exposition, expose
from heliograph.metrics.windows import Spread
from support.scraping import OPENMETRICS
from support.snapshots import SNAPSHOT, partition

EVERYTHING = MetricsConfig(names=frozenset(Names), labels=(("namespace", "kafka"), ("pod", 'a"b')))
ODD = replace(
    SNAPSHOT,
    partitions=(
        *SNAPSHOT.partitions,
        replace(
            partition(2),
            records=10**12,
            lag_seconds=math.inf,
            age=Spread(),
            latency=Spread(123456789.125, 0.0, 1e-9, 1e22),
        ),
    ),
)


class _Again(Collector):
    def __init__(self, families: list[core.Metric]) -> None:
        self.families = families

    def collect(self) -> list[core.Metric]:
        return self.families


def _again(families: list[core.Metric]) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(_Again(families))
    return registry


@pytest.mark.parametrize("detail", Detail)
def test_the_text_is_what_prometheus_client_writes(detail: Detail) -> None:
    text, content_type = expose(ODD, replace(EVERYTHING, detail=detail))
    families = list(read_plain(text.decode()))

    assert len(families) > 60
    assert exposition.generate_latest(_again(families)) == text
    assert content_type == exposition.CONTENT_TYPE_PLAIN_0_0_4


@pytest.mark.parametrize("detail", Detail)
def test_openmetrics_is_what_prometheus_client_writes(detail: Detail) -> None:
    text, content_type = expose(ODD, replace(EVERYTHING, detail=detail), OPENMETRICS)
    families = list(read_openmetrics(text.decode()))

    assert openmetrics_text(_again(families)) == text
    assert content_type.startswith("application/openmetrics-text; version=1.0.0")
    assert openmetrics.exposition.CONTENT_TYPE_LATEST.startswith("application/openmetrics-text")


def test_constant_labels_are_on_every_series() -> None:
    text, _ = expose(SNAPSHOT, EVERYTHING, more=_of_a_process())
    samples = [s for family in read_plain(text.decode()) for s in family.samples]

    assert {s.labels["namespace"] for s in samples} == {"kafka"}
    assert {s.labels["pod"] for s in samples} == {'a"b'}
    assert "process_threads" in {s.name for s in samples}


def _of_a_process() -> list[core.Metric]:
    family = core.GaugeMetricFamily("process_threads", "Threads")
    family.add_metric([], 3)
    return [family]


@pytest.mark.skipif(
    installed("promtool") is None, reason="promtool is not installed: apt-get install prometheus"
)
@pytest.mark.parametrize("detail", Detail)
def test_promtool_finds_no_error(detail: Detail) -> None:
    """Its remarks on names are of MirrorMaker 2's; ours has none."""
    for names in (frozenset[Names](), frozenset(Names)):
        config = MetricsConfig(names=names, detail=detail)
        checked = subprocess.run(
            [installed("promtool") or "promtool", "check", "metrics"],
            input=expose(SNAPSHOT, config).text,
            capture_output=True,
            check=False,
        )
        remarks = checked.stderr.decode().splitlines()
        assert checked.returncode in (0, 3), remarks
        assert [r for r in remarks if r.startswith("heliograph_") or "error" in r.lower()] == []


def test_the_second_scrape_is_as_the_first_and_forgets_what_is_gone() -> None:
    exposition = Exposition(EVERYTHING)
    first = exposition.expose(ODD)
    fewer = exposition.expose(SNAPSHOT)

    assert exposition.expose(ODD) == first
    assert fewer == expose(SNAPSHOT, EVERYTHING)
    exposition.expose(replace(SNAPSHOT, partitions=()))
    assert not any(
        "orders" in text
        for its in exposition._texts.values()
        for text in its.values()
        if "group=" not in text
    )
