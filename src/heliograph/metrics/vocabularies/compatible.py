"""MirrorMaker 2's metrics in the vocabularies that `metrics.names` chooses.

    strimzi-jmx        Strimzi's rules for the JMX exporter: kafka_connect_worker_connector_count
    strimzi-reporter   Strimzi's metrics reporter: kafka_connect_connect_worker_metrics_connector_count
    msk                the rules of the MSK workshop: kafka_connect_mirror_source_connector_record_count

The JMX exporter puts values in quotes that JMX quotes (`quoted`); the reporter does not. Where two
vocabularies have a series of the same name, it is given once, with the labels of both, so that no sum counts
it twice.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from heliograph.config.client_ids import ClientRole, client_id
from heliograph.config.metrics_config import Names
from heliograph.metrics.detail import Row
from heliograph.metrics.families import Families
from heliograph.metrics.snapshot import FlowFigures, Snapshot
from heliograph.metrics.table import Kind, Metric
from heliograph.metrics.vocabularies.mirror import add_checkpoints, add_mirror

#: `Sanitizer.MBEAN_PATTERN`
_UNQUOTED = re.compile(r"[\w\-%. \t]*", re.ASCII)
_ESCAPED = re.compile(r'[\\"*?]')

JMX, REPORTER, MSK = Names.STRIMZI_JMX, Names.STRIMZI_REPORTER, Names.MSK


def quoted(value: str) -> str:
    """As `Sanitizer.jmxSanitize` and `ObjectName.quote`: what is more than a plain name stands in quotes."""
    if _UNQUOTED.fullmatch(value):
        return value
    escaped = _ESCAPED.sub(lambda found: f"\\{found[0]}", value).replace("\n", "\\n")
    return f'"{escaped}"'


def add_compatible(
    families: Families, snapshot: Snapshot, rows: Sequence[Row], names: Collection[Names]
) -> None:
    flows = {flow.name: flow for flow in snapshot.flows}
    add_mirror(families, rows, flows, names)
    add_checkpoints(families, snapshot.flows, names, quoted)
    writer = _Writer(families, names)
    _lag(writer, rows, flows)
    for flow in snapshot.flows:
        _tasks(writer, flow)
    _workers(writer, snapshot)
    _connectors(writer, snapshot)
    _jvm(families, snapshot)


class _Writer:
    """Adds one value under the names of every chosen vocabulary that has it."""

    def __init__(self, families: Families, names: Collection[Names]) -> None:
        self._families = families
        self._names = names

    def client(
        self,
        jmx: str,
        reporter: str,
        help: str,
        client: str,
        value: float | None,
        *,
        more: Sequence[tuple[str, str | None]] = (),
        kind: Kind = Kind.GAUGE,
        msk: bool = False,
    ) -> None:
        """A metric of one client. `msk`: the workshop has it under the exporter's name, too."""
        exported = [("clientid", JMX in self._names), ("clientId", msk and MSK in self._names)]
        labels = tuple(name for name, chosen in exported if chosen)
        more_names, more_values = [name for name, _ in more], [value for _, value in more]
        if labels:
            metric = Metric(jmx, kind, "", help, (*labels, *more_names))
            values = (*([quoted(client)] * len(labels)), *more_values)
            self._families.of(metric).add(values, value)
        if REPORTER in self._names:
            metric = Metric(reporter, Kind.GAUGE, "", help, ("client_id", *more_names))
            self._families.of(metric).add((client, *more_values), value)

    def connector(
        self,
        jmx: str,
        reporter: str,
        help: str,
        labels: Sequence[tuple[str, str]],
        value: float | None,
        *,
        msk: bool = False,
    ) -> None:
        """A metric of the worker, a connector or a task."""
        names = tuple(name for name, _ in labels)
        if JMX in self._names or (msk and MSK in self._names):
            metric = Metric(jmx, Kind.GAUGE, "", help, names)
            self._families.of(metric).add(tuple(quoted(each) for _, each in labels), value)
        if REPORTER in self._names:
            metric = Metric(reporter, Kind.GAUGE, "", help, names)
            self._families.of(metric).add(tuple(each for _, each in labels), value)


def _consumer(flow: FlowFigures, task: int) -> str:
    role = ClientRole.REPLICATION_CONSUMER
    return client_id(flow.source, flow.target, flow.connector, task=task, role=role)


def _lag(writer: _Writer, rows: Sequence[Row], flows: dict[str, FlowFigures]) -> None:
    clients: dict[tuple[str, int], str] = {}
    for row in rows:
        key = (row.flow, row.task)
        if key not in clients:
            clients[key] = _consumer(flows[row.flow], row.task)
        writer.client(
            "kafka_consumer_fetch_manager_records_lag",
            "kafka_consumer_consumer_fetch_manager_metrics_records_lag",
            "Records of the source partition that are not on the target yet",
            clients[key],
            row.lag,
            more=(("topic", row.topic), ("partition", row.partition)),
            msk=True,
        )


def _tasks(writer: _Writer, flow: FlowFigures) -> None:
    for number, (report, _) in flow.tasks.items():
        consumer = _consumer(flow, number)
        producer = f"connector-producer-{flow.connector}-{number}"
        task = (("connector", flow.connector), ("task", str(number)))
        writer.client(
            "kafka_consumer_incoming_byte_total",
            "kafka_consumer_consumer_metrics_incoming_byte",
            "Bytes received from the source",
            consumer,
            report.source.received_bytes,
            kind=Kind.COUNTER,
            msk=True,
        )
        writer.client(
            "kafka_producer_outgoing_byte_total",
            "kafka_producer_producer_metrics_outgoing_byte",
            "Bytes sent to the target",
            producer,
            report.target.sent_bytes,
            kind=Kind.COUNTER,
        )
        writer.client(
            "kafka_producer_buffer_available_bytes",
            "kafka_producer_producer_metrics_buffer_available_bytes",
            "Memory for records that is not in use",
            producer,
            max(report.buffer_bytes - report.buffered_bytes, 0),
        )
        writer.client(
            "kafka_consumer_fetch_manager_fetch_latency_avg",
            "kafka_consumer_consumer_fetch_manager_metrics_fetch_latency_avg",
            "Mean duration of a fetch request since the epoch began, in milliseconds",
            consumer,
            _mean_ms(report.source.requests.total, report.source.requests.count),
            msk=True,
        )
        writer.connector(
            "kafka_connect_connector_task_offset_commit_avg_time_ms",
            "kafka_connect_connector_task_metrics_offset_commit_avg_time_ms",
            "Mean time to store offsets since the epoch began, in milliseconds",
            task,
            _mean_ms(report.offset_commits.total, report.offset_commits.count),
        )
        writer.connector(
            "kafka_connect_source_task_source_record_active_count",
            "kafka_connect_source_task_metrics_source_record_active_count",
            "Records fetched and not acknowledged by the target yet",
            task,
            report.active_records,
            msk=True,
        )


def _mean_ms(seconds: float, count: int) -> float:
    return seconds / count * 1000 if count else float("nan")


def _workers(writer: _Writer, snapshot: Snapshot) -> None:
    assigned = {
        each.name: len(each.tasks)
        for each in snapshot.connectors
        if each.state not in ("UNASSIGNED", "STOPPED")
    }
    for name, value, help in (
        ("connector_count", len(assigned), "Connectors of this worker"),
        ("task_count", sum(assigned.values()), "Tasks of this worker"),
    ):
        writer.connector(
            f"kafka_connect_worker_{name}",
            f"kafka_connect_connect_worker_metrics_{name}",
            help,
            (),
            value,
        )
    writer.connector(
        "kafka_connect_worker_rebalance_rebalancing",
        "kafka_connect_connect_worker_rebalance_metrics_rebalancing",
        "Whether this worker is joining its group",
        (),
        any(each.state == "joining" for each in snapshot.leaderships),
    )
    for each in snapshot.leaderships:
        own = [assigned[name] for name in each.connectors if name in assigned]
        for name, value in (("connectors", len(own)), ("tasks", sum(own))):
            writer.client(
                f"kafka_connect_coordinator_assigned_{name}",
                f"kafka_connect_connect_coordinator_metrics_assigned_{name}",
                f"Assigned {name} of this member of the workers' group",
                each.client,
                value if each.leads else 0,
            )


def _connectors(writer: _Writer, snapshot: Snapshot) -> None:
    for connector in snapshot.connectors:
        states = list(connector.tasks.values())
        writer.connector(
            "kafka_connect_worker_connector_failed_task_count",
            "kafka_connect_connect_worker_metrics_connector_failed_task_count",
            "Failed tasks of a connector",
            (("connector", connector.name),),
            states.count("FAILED"),
        )
        for number, state in connector.tasks.items():
            writer.connector(
                "kafka_connect_connector_status",
                "kafka_connect_connector_task_metrics_status",
                "1, with the status of a task as a label",
                (
                    ("connector", connector.name),
                    ("task", str(number)),
                    ("status", state.lower()),
                ),
                1,
            )


def _jvm(families: Families, snapshot: Snapshot) -> None:
    """Of Spark's JVM; records do not pass through it."""
    jvm = snapshot.jvm
    if jvm is None:
        return
    memory = Metric("jvm_memory_used_bytes", Kind.GAUGE, "", "Memory in use", ("area",))
    for area, size in jvm.memory.items():
        families.of(memory).add((area,), size)
    threads = Metric("jvm_threads_current", Kind.GAUGE, "", "Threads")
    families.of(threads).add((), jvm.threads)
    collections = Metric(
        "jvm_gc_collection_seconds", Kind.SUMMARY, "seconds", "Garbage collections", ("gc",)
    )
    for collector, (count, seconds) in jvm.collections.items():
        families.of(collections).add_summary((collector,), count, seconds)
