"""Every query of every dashboard and every rule parses, and asks for what our code exposes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import promql_parser as promql
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from dashboards.alerts import RULES
from dashboards.asking import Answer
from dashboards.queries import Query, Variable, filled, ours, theirs
from heliograph.config.metrics_config import MetricsConfig, Names
from heliograph.metrics.exposition import expose
from heliograph.metrics.table import TABLE, Kind
from support.snapshots import SNAPSHOT

#: Of Prometheus itself, and of prometheus-client's figures of the process.
OTHERS = {
    "up": {"job", "instance"},
    "ALERTS": {"alertname", "alertstate"},
    "process_cpu_seconds_total": set[str](),
    "process_open_fds": set[str](),
}
#: That a scrape configuration adds.
ADDED = {
    "instance",
    "job",
    "namespace",
    "pod",
    "container",
    "strimzi_io_cluster",
    "strimzi_io_kind",
}


def exposed() -> dict[str, set[str]]:
    """The labels of each name, of our table and of all vocabularies."""
    found: dict[str, set[str]] = dict(OTHERS)
    for metric in TABLE:
        labels = set(metric.labels)
        parts = ("_bucket", "_count", "_sum") if metric.kind is Kind.HISTOGRAM else ("",)
        for part in parts:
            found[metric.name + part] = labels | ({"le"} if part == "_bucket" else set())
    text = expose(SNAPSHOT, MetricsConfig(names=frozenset(Names))).text.decode()
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


EXPOSED = exposed()


def selectors(expr: str) -> list[tuple[str, set[str]]]:
    """Name and matched labels of each selector."""
    found = []

    def visit(node: object) -> bool:
        if isinstance(node, promql.VectorSelector):
            found.append((node.name, {matcher.name for matcher in node.matchers.matchers}))
        elif isinstance(node, promql.MatrixSelector):
            its = node.vector_selector
            found.append((its.name, {matcher.name for matcher in its.matchers.matchers}))
        return True

    promql.walk(promql.parse(filled(expr, {"cluster": ".+", "flow": ".+"})), visit)
    return found


def asked() -> Iterator[tuple[str, str]]:
    for dashboard in ours():
        for variable in dashboard.variables:
            yield f"{dashboard.name}: {variable.name}", variable.expr
        for query in dashboard.queries:
            yield f"{dashboard.name}: {query.panel}", query.expr
    for group in yaml.safe_load(RULES.read_text())["groups"]:
        for rule in group["rules"]:
            yield rule["alert"], rule["expr"]


@pytest.mark.parametrize(("where", "expr"), list(asked()))
def test_our_dashboards_and_rules_ask_for_series_that_exist(where: str, expr: str) -> None:
    found = selectors(expr)
    assert found or "vector(" in expr, where
    for name, labels in found:
        assert name in EXPOSED, f"{where}: {name}"
        assert labels <= EXPOSED[name] | ADDED, f"{where}: {name}{sorted(labels)}"


def _theirs() -> Iterator[Query]:
    for dashboard in theirs():
        yield from dashboard.queries


@pytest.mark.parametrize("query", list(_theirs()), ids=lambda q: f"{q.dashboard}: {q.panel}")
def test_dashboards_of_mirror_maker_2_ask_for_names_that_are_exposed_or_have_a_reason(
    query: Query,
) -> None:
    names = {name for name, _ in selectors(query.expr)}
    reason = Answer(query=query, series=0, example="").reason
    assert names <= EXPOSED.keys() or reason, query.expr


def test_all_queries_of_both_flavours_and_of_the_workshop_are_there() -> None:
    counts = {dashboard.name: len(dashboard.queries) for dashboard in theirs()}
    assert counts == {"strimzi-jmx": 27, "strimzi-reporter": 27, "msk": 6}


def test_a_variable_takes_the_first_group_of_each_series_once() -> None:
    variable = Variable(name="flow", query="query_result(up)", regex='/flow="([^"]+)/')
    assert variable.expr == "up"
    assert variable.values(
        ['x{flow="b"} 1 2', 'x{flow="a"} 1 2', 'x{flow="b"} 0 2', "y{} 1 2"]
    ) == [
        "a",
        "b",
    ]


def test_variables_and_intervals_are_filled_in_as_grafana_does() -> None:
    values: Mapping[str, str] = {"flow": "a->b", "flows": "x"}
    assert filled('r(x{f="$flow"}[$__rate_interval]) $flows', values) == 'r(x{f="a->b"}[20s]) x'
