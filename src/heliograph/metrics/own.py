"""Heliograph's own metrics of a snapshot, under the names of `table.py`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from heliograph.metrics import table
from heliograph.metrics.detail import Row, sum_times
from heliograph.metrics.families import Families
from heliograph.metrics.snapshot import FlowFigures, FlowHealth, Snapshot

_CONNECTOR_STATES = ("RUNNING", "PAUSED", "STOPPED", "FAILED", "UNASSIGNED", "RESTARTING")
_SERVICE_STATES = ("starting", "running", "stopping")


def add_own(families: Families, snapshot: Snapshot, rows: Sequence[Row]) -> None:
    _service(families, snapshot)
    _flows(families, snapshot.flows)
    _topics(families, rows)
    _partitions(families, rows)


def _partitions(families: Families, rows: Sequence[Row]) -> None:
    states, position = families.of(table.PARTITION_STATE), families.of(table.POSITION)
    for row in rows:
        for state, count in row.states:
            states.add((row.flow, row.topic, row.partition, state), count)
    texts = position.texts((row.flow, row.topic, row.partition) for row in rows)
    position.add_column(texts, [row.position for row in rows])
    families.of(table.LAG_RECORDS).add_column(texts, [row.lag for row in rows])
    families.of(table.LAG_SECONDS).add_column(texts, [row.lag_seconds for row in rows])
    families.of(table.COPY_AGE).add_column(texts, [row.copy_age for row in rows])
    families.of(table.RECORDS).add_column(texts, [row.records for row in rows])
    families.of(table.BYTES).add_column(texts, [row.bytes for row in rows])


def _topics(families: Families, rows: Iterable[Row]) -> None:
    batches = families.of(table.BATCHES)
    sums = (
        (families.of(table.QUARANTINED), lambda row: row.quarantined),
        (families.of(table.SKIPPED), lambda row: row.skipped),
        (families.of(table.FOREIGN), lambda row: row.foreign),
        (families.of(table.FALLBACKS), lambda row: row.fallbacks),
        (families.of(table.RESUMES), lambda row: row.resumes),
        (families.of(table.RECOMPRESSED), lambda row: row.batches.recompressed),
    )
    latency = families.of(table.LATENCY)
    by_topic: dict[tuple[str, str | None], list[Row]] = {}
    for row in rows:
        by_topic.setdefault((row.flow, row.topic), []).append(row)
    for labels, its in by_topic.items():
        for result in ("passed", "repacked", "aborted", "control"):
            batches.add((*labels, result), sum(getattr(row.batches, result) for row in its))
        for family, value in sums:
            family.add(labels, sum(map(value, its)))
        latency.add_times(labels, sum_times(row.latencies for row in its))


def _flows(families: Families, flows: Iterable[FlowFigures]) -> None:
    for flow in flows:
        families.of(table.FLOW_STATE).add_states(
            (flow.name, flow.source, flow.target), flow.health, FlowHealth
        )
        for kind, (count, records) in flow.gaps.items():
            families.of(table.GAPS).add((flow.name, kind), count)
            families.of(table.GAP_RECORDS).add((flow.name, kind), records)
        _tasks(families, flow)
        _clients(families, flow)
        _groups(families, flow)


def _tasks(families: Families, flow: FlowFigures) -> None:
    for number, (_, age) in flow.tasks.items():
        families.of(table.REPORT_AGE).add((flow.name, str(number)), age)
    total, running = flow.total, [report for report, _ in flow.tasks.values()]
    if total is None:
        return
    labels = (flow.name,)
    families.of(table.THROTTLED).add(labels, total.throttled_seconds)
    families.of(table.FETCH_TIME).add_times(labels, total.source.requests)
    families.of(table.PRODUCE_TIME).add_times(labels, total.target.requests)
    families.of(table.OFFSET_COMMIT_TIME).add_times(labels, total.offset_commits)
    in_flight = families.of(table.IN_FLIGHT)
    in_flight.add((flow.name, "fetch"), sum(each.fetches for each in running))
    in_flight.add((flow.name, "produce"), sum(each.produces for each in running))
    families.of(table.BUFFERED).add(labels, sum(each.buffered_bytes for each in running))
    families.of(table.BUFFER_LIMIT).add(labels, sum(each.buffer_bytes for each in running))


def _clients(families: Families, flow: FlowFigures) -> None:
    for client in flow.clients:
        labels = (flow.name, client.cluster)
        families.of(table.RECEIVED).add(labels, client.received_bytes)
        families.of(table.SENT).add(labels, client.sent_bytes)
        families.of(table.CONNECTIONS).add(labels, client.connections)
        families.of(table.LOGIN_FAILURES).add(labels, client.login_failures)
        families.of(table.REACHABLE).add(labels, client.reachable)
        expiry = families.of(table.CERTIFICATE_EXPIRY)
        expiry.add((*labels, "broker"), client.broker_certificate_ends)
        expiry.add((*labels, "client"), client.client_certificate_ends)


def _groups(families: Families, flow: FlowFigures) -> None:
    groups = flow.groups
    if groups is None:
        return
    families.of(table.GROUPS).add((flow.name,), groups.followed)
    families.of(table.CHECKPOINTS).add((flow.name,), groups.checkpoints)
    families.of(table.INEXACT_GROUPS).add((flow.name,), len(groups.inexact))
    families.of(table.TRANSLATION_ERROR).add((flow.name,), max(groups.inexact.values(), default=0))
    for reason, count in groups.not_followed.items():
        families.of(table.GROUPS_NOT_FOLLOWED).add((flow.name, reason), count)
    for reason, count in groups.untranslated.items():
        families.of(table.UNTRANSLATED).add((flow.name, reason), count)
    for (result, reason), count in groups.offsets.items():
        families.of(table.GROUP_OFFSETS).add((flow.name, result, reason), count)


def _service(families: Families, snapshot: Snapshot) -> None:
    families.of(table.BUILD).add((snapshot.version,), 1)
    families.of(table.SERVICE_STATE).add_states((), snapshot.state, _SERVICE_STATES)
    for connector in snapshot.connectors:
        families.of(table.CONNECTOR_STATE).add_states(
            (connector.name,), connector.state, _CONNECTOR_STATES
        )
        for number, state in connector.tasks.items():
            families.of(table.TASK_STATE).add_states(
                (connector.name, str(number)), state, _CONNECTOR_STATES
            )
    for (flow, cause), count in snapshot.problems.items():
        families.of(table.PROBLEMS).add((flow, cause), count)
    for (flow, cause), count in snapshot.unexpected_failures.items():
        families.of(table.UNEXPECTED_FAILURES).add((flow, cause), count)
    for each in snapshot.leaderships:
        families.of(table.LEADER).add((each.group, each.state), each.leads)
    for name, count in snapshot.heartbeats.items():
        families.of(table.HEARTBEATS).add((name,), count)
    families.of(table.EPOCHS).add((), snapshot.epochs)
    families.of(table.EPOCH_PAUSES).add((), snapshot.pause_seconds)
    families.of(table.RESTARTS).add((), snapshot.restarts)
    _resources(families, snapshot)


def _resources(families: Families, snapshot: Snapshot) -> None:
    spark, memory = snapshot.spark, families.of(table.MEMORY)
    if spark.slots is not None:
        slots = families.of(table.SPARK_SLOTS)
        slots.add(("used",), spark.used)
        slots.add(("free",), max(spark.slots - spark.used, 0))
        slots.add(("lost",), spark.lost)
    memory.add(("driver",), snapshot.memory_bytes)
    # Flows of one task share its process.
    by_task = {
        number: report.memory_bytes
        for flow in snapshot.flows
        for number, (report, _) in flow.tasks.items()
    }
    memory.add(("tasks",), sum(by_task.values()))
    if snapshot.jvm is not None:
        for area, size in snapshot.jvm.memory.items():
            memory.add((f"jvm_{area}",), size)
