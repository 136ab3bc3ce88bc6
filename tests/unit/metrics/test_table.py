from __future__ import annotations

import re

from prometheus_client.parser import text_string_to_metric_families

from heliograph.config.metrics_config import MetricsConfig, Names
from heliograph.config.options.checks import METRIC_LABELS
from heliograph.metrics.exposition import expose
from heliograph.metrics.table import TABLE, Kind
from support.snapshots import SNAPSHOT

_UNITS = {"", "seconds", "bytes", "records", "batches"}


def _exposed(names: frozenset[Names]) -> dict[str, set[str]]:
    """Names of series without the endings of histograms, each with its labels."""
    text = expose(SNAPSHOT, MetricsConfig(names=names)).text.decode()
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            name = family.name if family.type == "histogram" else sample.name
            found.setdefault(name, set()).update(set(sample.labels) - {"le"})
    return found


def test_names_are_unique_and_of_heliograph() -> None:
    names = [metric.name for metric in TABLE]

    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"heliograph_[a-z_]+", name)] == []


def test_counters_end_with_total_and_times_with_their_base_unit() -> None:
    for metric in TABLE:
        assert metric.unit in _UNITS
        assert metric.name.endswith("_total") == (metric.kind is Kind.COUNTER)
        if metric.unit in ("seconds", "bytes"):
            assert metric.name.removesuffix("_total").endswith(f"_{metric.unit}")


def test_every_declared_metric_is_exposed_and_no_other() -> None:
    found = _exposed(frozenset())

    assert found.keys() == {metric.name for metric in TABLE}
    assert found == {metric.name: set(metric.labels) for metric in TABLE}


def test_no_constant_label_can_hide_a_label_of_a_metric() -> None:
    used = {label for labels in _exposed(frozenset(Names)).values() for label in labels}

    assert used <= METRIC_LABELS
