"""Compares what the two systems answer: series, labels and values, with independent counts beside them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from dashboards.prometheus import Prometheus, Series

#: Names that the dashboard of Strimzi's JMX flavour and Strimzi's alerts ask for.
_SOURCE = "kafka_connect_mirror_mirrorsourceconnector"
_CHECKPOINT = "kafka_connect_mirror_mirrorcheckpointconnector"
NAMES = (
    *(f"{_SOURCE}_{each}" for each in ("record_count", "record_rate", "byte_count", "byte_rate")),
    *(
        f"{_SOURCE}_{what}_ms{part}"
        for what in ("record_age", "replication_latency")
        for part in ("", "_avg", "_min", "_max")
    ),
    *(f"{_CHECKPOINT}_checkpoint_latency_ms{part}" for part in ("", "_avg", "_min", "_max")),
    "kafka_consumer_fetch_manager_records_lag",
    "kafka_consumer_fetch_manager_fetch_latency_avg",
    "kafka_consumer_incoming_byte_total",
    "kafka_producer_outgoing_byte_total",
    "kafka_producer_buffer_available_bytes",
    "kafka_connect_connector_task_offset_commit_avg_time_ms",
    "kafka_connect_connector_status",
    "kafka_connect_source_task_source_record_active_count",
    "kafka_connect_worker_connector_count",
    "kafka_connect_worker_task_count",
    "kafka_connect_worker_connector_failed_task_count",
    "kafka_connect_worker_rebalance_rebalancing",
    "kafka_connect_coordinator_assigned_connectors",
    "kafka_connect_coordinator_assigned_tasks",
    "jvm_memory_used_bytes",
    "jvm_threads_current",
    "jvm_gc_collection_seconds_sum",
)
#: Labels that Prometheus or this proof adds.
_ADDED = ("__name__", "instance", "job", "strimzi_io_cluster", "strimzi_io_kind", "namespace")
#: Why series of a name differ.
SERIES_REASONS = {
    "kafka_consumer_fetch_manager_fetch_latency_avg": (
        "more consumers there, for topics of Connect and of MirrorMaker 2; here only the one of records"
    ),
    "kafka_consumer_incoming_byte_total": (
        "more consumers there, for topics of Connect and of MirrorMaker 2; here only the one of records"
    ),
    "kafka_producer_outgoing_byte_total": (
        "more producers there, for topics of Connect and of MirrorMaker 2; here only the one of records"
    ),
    "kafka_producer_buffer_available_bytes": (
        "more producers there, for topics of Connect and of MirrorMaker 2; here only the one of records"
    ),
    "kafka_connect_source_task_source_record_active_count": "here only for tasks that copy records",
    "kafka_connect_connector_task_offset_commit_avg_time_ms": "here only for tasks that copy records",
    "kafka_connect_coordinator_assigned_connectors": "client id: connect-HOST:PORT there, with a URL here",
    "kafka_connect_coordinator_assigned_tasks": "client id: connect-HOST:PORT there, with a URL here",
    "jvm_gc_collection_seconds_sum": "other collectors: Spark's JVM chooses its own",
    "kafka_consumer_fetch_manager_records_lag": "MirrorMaker 2's other consumers read its own topics",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesRow:
    """The series of one name: how many, and those that only one system has."""

    name: str
    mm2: int
    heliograph: int
    only_mm2: tuple[str, ...]
    only_heliograph: tuple[str, ...]
    reason: str

    @property
    def good(self) -> bool:
        """Differences need a reason, and no name may be missing."""
        alike = not self.only_mm2 and not self.only_heliograph
        return self.mm2 > 0 and self.heliograph > 0 and (alike or bool(self.reason))

    def row(self) -> dict[str, object]:
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueRow:
    """One value of both systems, and what an independent client has measured of each. `tolerance`: relative;
    None: shown, not judged, for the reason given."""

    name: str
    mm2: float
    mm2_counted: float | None
    heliograph: float
    heliograph_counted: float | None
    tolerance: float | None
    reason: str = ""

    @property
    def good(self) -> bool:
        if self.tolerance is None:
            return True
        pairs = [(self.heliograph, self.mm2)]
        for value, counted in (
            (self.heliograph, self.heliograph_counted),
            (self.mm2, self.mm2_counted),
        ):
            if counted is not None:
                pairs.append((value, counted))
        return all(_near(value, wanted, self.tolerance) for value, wanted in pairs)

    def row(self) -> dict[str, object]:
        return {**asdict(self), "good": self.good}


def _near(value: float, wanted: float, tolerance: float) -> bool:
    return not math.isnan(value) and abs(value - wanted) <= tolerance * abs(wanted)


def compare_series(prometheus: Prometheus) -> list[SeriesRow]:
    rows = []
    for name in NAMES:
        found = {
            system: {
                _labels(each) for each in prometheus.now(f'{name}{{strimzi_io_cluster="{system}"}}')
            }
            for system in ("mm2", "heliograph")
        }
        rows.append(
            SeriesRow(
                name=name,
                mm2=len(found["mm2"]),
                heliograph=len(found["heliograph"]),
                only_mm2=tuple(sorted(found["mm2"] - found["heliograph"])),
                only_heliograph=tuple(sorted(found["heliograph"] - found["mm2"])),
                reason=SERIES_REASONS.get(name, ""),
            )
        )
    return rows


def _labels(series: Series) -> str:
    return ",".join(f"{k}={v}" for k, v in sorted(series.labels.items()) if k not in _ADDED)


def total(prometheus: Prometheus, system: str, expr: str) -> float:
    """One number of one system; NaN: there is none. `C` in the expression stands for its labels."""
    found = prometheus.now(expr.replace("C", f'strimzi_io_cluster="{system}"'))
    return found[0].value if found else math.nan


def mean(ages: Iterable[Sequence[float]]) -> float:
    every = [age for its in ages for age in its]
    return sum(every) / len(every) if every else math.nan


def mean_of_means(ages: Mapping[tuple[str, str], Sequence[float]]) -> float:
    """As avg() over the partitions' averages."""
    means = [sum(its) / len(its) for its in ages.values() if its]
    return sum(means) / len(means) if means else math.nan
