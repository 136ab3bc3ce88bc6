"""Runs both systems on the same traffic, and compares them after more than a minute."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from confluent_kafka.admin import NewTopic

from dashboards.comparison.judge import (
    SeriesRow,
    ValueRow,
    compare_series,
    mean_of_means,
    total,
)
from dashboards.comparison.reading import Reader
from dashboards.comparison.workers import SOURCE, Side, System, running_side
from dashboards.prometheus import Prometheus, running_prometheus
from dashboards.traffic import Traffic
from harness.cluster_side import ClusterSide, LogEnds, running_clusters
from harness.results import commit, machine, write_json
from heliograph.embedded import Cluster

_OUT = Path(__file__).parents[1] / "results" / "mm2.json"
_TOPICS = {"orders": 3, "payments": 1}
_RATE = 200.0
#: Timestamps of records are this old, so that ages and latencies are what both must measure.
_AGE_SECONDS = 10.0
#: Kafka's rates and averages are over two samples of 30 s.
_WINDOW_SECONDS = 60.0
_STEADY_SECONDS = 90.0
_SETTLE_SECONDS = 60.0
_SOURCE = "kafka_connect_mirror_mirrorsourceconnector"
_LAG = 'sum(kafka_consumer_fetch_manager_records_lag{C,topic="%s",clientid=~".*replication-consumer\\""})'
_OF_DATA = f'topic=~"{SOURCE}[.](orders|payments)"'

Say = Callable[[str], None]


def compare(folder: Path, say: Say, out: Path = _OUT) -> int:
    source, targets = Cluster(SOURCE), {system: Cluster(f"west-{system}") for system in System}
    begun = commit()
    say(f"three clusters, MirrorMaker 2 and Heliograph as Connect workers; files in {folder}")
    with ExitStack() as stack:
        stack.enter_context(running_clusters(source, *targets.values()))
        side = ClusterSide(lambda: source.bootstrap_servers)
        side.create_topics(NewTopic(name, count, 1) for name, count in _TOPICS.items())
        # First: MirrorMaker 2 makes a task for groups when there are some.
        traffic = stack.enter_context(
            Traffic(source.bootstrap_servers, tuple(_TOPICS), _RATE, "billing", age=_AGE_SECONDS)
        )
        sides = [
            stack.enter_context(
                running_side(system, source, target, list(_TOPICS), folder / system)
            )
            for system, target in targets.items()
        ]
        jobs = [
            {"job_name": each.system.value, "static_configs": [{
                "targets": [f"127.0.0.1:{each.metrics}"],
                "labels": {"strimzi_io_cluster": each.system.value, "strimzi_io_kind": "KafkaMirrorMaker2"},
            }]}
            for each in sides
        ]  # fmt: skip
        prometheus = stack.enter_context(
            running_prometheus(folder / "prometheus", jobs, scrape="5s")
        )
        remote = [f"{SOURCE}.{topic}" for topic in _TOPICS]
        readers = [stack.enter_context(Reader(each.bootstrap, remote)) for each in sides]
        say(f"{_RATE:.0f} records a second, for {_STEADY_SECONDS:.0f} s")
        time.sleep(_STEADY_SECONDS)
        series = compare_series(prometheus)
        values = _steady(prometheus, readers)
        traffic.pause()
        values += _counts(prometheus, side, sides, say)
    return _report(series, values, out, begun, say)


def _steady(prometheus: Prometheus, readers: Sequence[Reader]) -> list[ValueRow]:
    """Rates, ages and latencies while records flow; readers see both systems in the same minute."""
    ages = [each.since(_WINDOW_SECONDS) for each in readers]
    rates = [sum(map(len, its.values())) / _WINDOW_SECONDS for its in ages]
    means = [mean_of_means(its) for its in ages]
    slower = "its reader's clock runs on until the record has arrived there"
    return [
        _row(prometheus, f"sum({_SOURCE}_record_rate{{C,{_OF_DATA}}})", 0.1, rates),
        _row(prometheus, f"avg({_SOURCE}_replication_latency_ms_avg{{C,{_OF_DATA}}})", 0.1, means),
        _row(prometheus, f"avg({_SOURCE}_record_age_ms_avg{{C,{_OF_DATA}}})", 0.1),
        _row(prometheus, f"min({_SOURCE}_replication_latency_ms_min{{C,{_OF_DATA}}})", 0.1),
        _row(prometheus, f"max({_SOURCE}_replication_latency_ms_max{{C,{_OF_DATA}}})", None, reason=(
            "the slowest record of each system; " + slower)),
        _row(prometheus, f"sum({_SOURCE}_byte_rate{{C,{_OF_DATA}}})", None, reason=(
            "there: values alone, uncompressed; here: whole batches as they are sent, lz4 in this run")),
    ]  # fmt: skip


def _counts(
    prometheus: Prometheus, source: ClusterSide, sides: Sequence[Side], say: Say
) -> list[ValueRow]:
    """Without traffic: counts are the log ends, and the lag is 0."""
    ends = {topic: LogEnds(source, topic).total() for topic in _TOPICS}
    say(f"written: {ends}")
    deadline = time.monotonic() + _SETTLE_SECONDS
    while True:
        rows = []
        for topic in _TOPICS:
            there = [float(LogEnds(each.target, f"{SOURCE}.{topic}").total()) for each in sides]
            count = f'sum({_SOURCE}_record_count{{C,topic="{SOURCE}.{topic}"}})'
            rows.append(_row(prometheus, count, 0.0, there))
            behind = [ends[topic] - each for each in there]
            rows.append(_row(prometheus, _LAG % topic, 0.0, behind))
        if all(row.good for row in rows) or time.monotonic() > deadline:
            return rows
        time.sleep(2)


def _row(
    prometheus: Prometheus,
    expr: str,
    tolerance: float | None,
    counted: Sequence[float] = (),
    reason: str = "",
) -> ValueRow:
    mm2, ours = (total(prometheus, system, expr) for system in System)
    return ValueRow(
        name=expr.replace("C,", ""),
        mm2=mm2,
        heliograph=ours,
        mm2_counted=counted[0] if counted else None,
        heliograph_counted=counted[1] if counted else None,
        tolerance=tolerance,
        reason=reason,
    )


def _report(
    series: Sequence[SeriesRow], values: Sequence[ValueRow], out: Path, begun: str, say: Say
) -> int:
    for one in series:
        say(f"{'ok  ' if one.good else 'BAD '} {one.name}: {one.mm2} series, {one.heliograph} here")
        if not one.good:
            say(f"     only MM2: {one.only_mm2}; only here: {one.only_heliograph}")
    for each in values:
        say(
            f"{'ok  ' if each.good else 'BAD '} {each.name}: MM2 {each.mm2:.6g} ({each.mm2_counted}), "
            f"here {each.heliograph:.6g} ({each.heliograph_counted})"
        )
    write_json(
        out,
        {
            "commit": begun,
            "machine": machine(),
            "series": [{**each.row(), "good": each.good} for each in series],
            "values": [each.row() for each in values],
        },
    )
    return int(not all(each.good for each in series) or not all(each.good for each in values))
