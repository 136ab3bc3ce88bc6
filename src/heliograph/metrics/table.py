"""Every metric with a name of Heliograph's own: type, unit, help and labels, declared once.

The families are made by it (`own.py`), and docs/metrics.md lists it (`page.py`). Units are base units. The
labels `topic` and `partition` are left out where `metrics.detail` asks for less.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    GAUGE = "gauge"
    COUNTER = "counter"
    HISTOGRAM = "histogram"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class Metric:
    """`name` as Prometheus stores it: that of a counter ends with _total."""

    name: str
    kind: Kind
    unit: str
    help: str
    labels: tuple[str, ...] = ()


_PARTITION = ("flow", "topic", "partition")
_TOPIC = ("flow", "topic")
_FLOW = ("flow",)
_CLIENT = ("flow", "cluster")


def _gauge(name: str, unit: str, help: str, *labels: str) -> Metric:
    return Metric(f"heliograph_{name}", Kind.GAUGE, unit, help, labels)


def _counter(name: str, unit: str, help: str, *labels: str) -> Metric:
    return Metric(f"heliograph_{name}_total", Kind.COUNTER, unit, help, labels)


def _histogram(name: str, help: str, *labels: str) -> Metric:
    return Metric(f"heliograph_{name}", Kind.HISTOGRAM, "seconds", help, labels)


# ── partitions ───────────────────────────────────────────────────────────────────────────────

PARTITION_STATE = _gauge(
    "partition_state", "", "Partitions in this state; there is no series of a state that none is in",
    *_PARTITION, "state",
)  # fmt: skip
LAG_RECORDS = _gauge(
    "partition_lag_records", "records",
    "Records between the position and the end of the source partition; none before the first fetch",
    *_PARTITION,
)  # fmt: skip
LAG_SECONDS = _gauge(
    "partition_lag_seconds", "seconds",
    "How long the next record to copy has waited, at most; 0 if everything is copied", *_PARTITION,
)  # fmt: skip
POSITION = _gauge(
    "partition_position", "",
    "Source offset before which everything is on the target; only with metrics.detail=partition", *_PARTITION,
)  # fmt: skip
COPY_AGE = _gauge(
    "partition_last_copy_age_seconds", "seconds",
    "Time since the target last acknowledged records of it; none before the first", *_PARTITION,
)  # fmt: skip
RECORDS = _counter(
    "partition_records", "records", "Records that the target has acknowledged", *_PARTITION
)
BYTES = _counter(
    "partition_bytes", "bytes",
    "Bytes of the batches that the target has acknowledged, with keys and headers, compressed as sent",
    *_PARTITION,
)  # fmt: skip

# ── topics ───────────────────────────────────────────────────────────────────────────────────

LATENCY = _histogram(
    "replication_latency_seconds",
    "Time from the newest timestamp of a batch to its acknowledgement by the target, counted for each of its "
    "records",
    *_TOPIC,
)
BATCHES = _counter(
    "batches", "batches",
    "Batches of the source by result: passed (copied as they are), repacked (copied in new batches), aborted "
    "and control (dropped)",
    *_TOPIC, "result",
)  # fmt: skip
RECOMPRESSED = _counter(
    "recompressed_batches", "batches", "Repacked batches that had to be compressed again", *_TOPIC
)
QUARANTINED = _counter(
    "quarantined_records",
    "records",
    "Records not mirrored because the target rejects them",
    *_TOPIC,
)
SKIPPED = _counter(
    "skipped_records",
    "records",
    "Records left out because they could not be transformed (on.error = skip)",
    *_TOPIC,
)
FOREIGN = _counter(
    "foreign_records", "records", "Records of other programs found on remote partitions", *_TOPIC
)
FALLBACKS = _counter(
    "fallbacks",
    "",
    "How often a partition resumed at least once, so that duplicates are possible",
    *_TOPIC,
)
RESUMES = _counter(
    "resumes", "",
    "How often it was determined how much of a partition is on the target, at the start of an epoch or after "
    "an error",
    *_TOPIC,
)  # fmt: skip

# ── flows ────────────────────────────────────────────────────────────────────────────────────

FLOW_STATE = _gauge(
    "flow_state",
    "",
    "1 for the state of the flow, 0 for the others",
    "flow",
    "source",
    "target",
    "state",
)
GAPS = _counter("gaps", "", "Gaps found between source and remote log, by kind", "flow", "kind")
GAP_RECORDS = _counter(
    "gap_records",
    "records",
    "Source offsets in gaps whose records are never mirrored, by kind",
    "flow",
    "kind",
)
THROTTLED = _counter(
    "throttled_seconds",
    "seconds",
    "Time for which throttle.bytes.per.second has delayed fetches",
    *_FLOW,
)
FETCH_TIME = _histogram(
    "fetch_request_seconds",
    "Fetch requests until their answer, with the broker's wait for records",
    *_FLOW,
)
PRODUCE_TIME = _histogram("produce_request_seconds", "Produce requests until their answer", *_FLOW)
OFFSET_COMMIT_TIME = _histogram(
    "offset_commit_seconds",
    "Time to store offsets or, with exactly once, to commit a transaction",
    *_FLOW,
)
IN_FLIGHT = _gauge(
    "requests_in_flight",
    "",
    "Requests of tasks without an answer yet: fetch or produce",
    "flow",
    "kind",
)
BUFFERED = _gauge(
    "buffered_bytes", "bytes", "Records in the memory of tasks, on their way to the target", *_FLOW
)
BUFFER_LIMIT = _gauge("buffer_limit_bytes", "bytes", "The most that tasks keep in memory", *_FLOW)
REPORT_AGE = _gauge(
    "task_report_age_seconds", "seconds", "Time since the newest report of a task, which comes every second",
    "flow", "task",
)  # fmt: skip
RECEIVED = _counter(
    "received_bytes", "bytes", "Bytes received from a cluster by its clients", *_CLIENT
)
SENT = _counter("sent_bytes", "bytes", "Bytes sent to a cluster by its clients", *_CLIENT)
CONNECTIONS = _counter("connections", "", "Connections opened to brokers", *_CLIENT)
LOGIN_FAILURES = _counter(
    "authentication_failures", "", "Connections that failed at TLS or at the login", *_CLIENT
)
REACHABLE = _gauge(
    "cluster_reachable", "", "0 while no broker of the cluster answers, else 1", *_CLIENT
)

CERTIFICATE_EXPIRY = _gauge(
    "certificate_expiry_timestamp_seconds", "seconds",
    "When the first certificate of a cluster's brokers (of=broker), or of its clients here (of=client), "
    "expires, in seconds since 1970; none without TLS",
    *_CLIENT, "of",
)  # fmt: skip

# ── groups ───────────────────────────────────────────────────────────────────────────────────

GROUPS = _gauge("groups_followed", "", "Groups of the source whose offsets are translated", *_FLOW)
GROUPS_NOT_FOLLOWED = _gauge(
    "groups_not_followed", "", "Other groups of the source, by the reason", "flow", "reason"
)
UNTRANSLATED = _gauge(
    "untranslated_offsets", "", "Committed offsets of groups that have no checkpoint, by the reason",
    "flow", "reason",
)  # fmt: skip
GROUP_OFFSETS = _gauge(
    "group_offsets", "",
    "Offsets of groups on the target at the last sync, by result (committed or kept) and reason; a group "
    "that is left alone as a whole counts once",
    "flow", "result", "reason",
)  # fmt: skip
INEXACT_GROUPS = _gauge(
    "inexact_groups", "", "Groups with an offset whose translation is not exact", *_FLOW
)
TRANSLATION_ERROR = _gauge(
    "translation_error_records", "records",
    "Records that a group may read again on the target because its translation is not exact, at most: of the "
    "group with the most",
    *_FLOW,
)  # fmt: skip
CHECKPOINTS = _counter("checkpoints", "", "Checkpoints written", *_FLOW)
HEARTBEATS = _counter("heartbeats", "", "Heartbeats written, by connector", "connector")

# ── the service ──────────────────────────────────────────────────────────────────────────────

BUILD = _gauge("build_info", "", "1, with the version as a label", "version")
SERVICE_STATE = _gauge(
    "service_state", "", "1 for the state of the service (starting, running or stopping), 0 for the others",
    "state",
)  # fmt: skip
CONNECTOR_STATE = _gauge(
    "connector_state", "", "1 for the state of a connector, 0 for the others", "connector", "state"
)
TASK_STATE = _gauge(
    "task_state",
    "",
    "1 for the state of a connector's task, 0 for the others",
    "connector",
    "task",
    "state",
)
PROBLEMS = _gauge(
    "problems", "", "Current problems by flow (empty: of the service) and cause, as status lists them",
    "flow", "cause",
)  # fmt: skip
UNEXPECTED_FAILURES = _counter(
    "unexpected_failures", "",
    "Failures for which there is no code, since the start; the log has the stack of the first",
    "flow", "cause",
)  # fmt: skip
LEADER = _gauge(
    "leader",
    "",
    "1 if this service runs the connectors of the workers' group, else 0",
    "group",
    "state",
)
EPOCHS = _counter("epochs", "", "Epochs begun; each is a Spark batch of all flows")
EPOCH_PAUSES = _counter(
    "epoch_pause_seconds",
    "seconds",
    "Time without copying between the end of an epoch and the next reports",
)
RESTARTS = _counter("restarts", "", "Restarts of the copy after a failure")
SPARK_SLOTS = _gauge(
    "spark_slots", "",
    "Task slots of Spark: used, free, or lost (asked for, but the cluster has no executor for them)", "state",
)  # fmt: skip
MEMORY = _gauge(
    "memory_bytes", "bytes",
    "Resident memory of the Python processes (driver, and tasks in sum), used memory of Spark's JVM "
    "(jvm_heap, jvm_nonheap)",
    "process",
)  # fmt: skip

SECTIONS: dict[str, tuple[Metric, ...]] = {
    "Partitions": (PARTITION_STATE, LAG_RECORDS, LAG_SECONDS, POSITION, COPY_AGE, RECORDS, BYTES),
    "Topics": (LATENCY, BATCHES, RECOMPRESSED, QUARANTINED, SKIPPED, FOREIGN, FALLBACKS, RESUMES),
    "Flows": (
        FLOW_STATE, GAPS, GAP_RECORDS, THROTTLED, FETCH_TIME, PRODUCE_TIME, OFFSET_COMMIT_TIME, IN_FLIGHT,
        BUFFERED, BUFFER_LIMIT, REPORT_AGE, RECEIVED, SENT, CONNECTIONS, LOGIN_FAILURES, REACHABLE,
        CERTIFICATE_EXPIRY,
    ),
    "Groups": (
        GROUPS, GROUPS_NOT_FOLLOWED, UNTRANSLATED, GROUP_OFFSETS, INEXACT_GROUPS, TRANSLATION_ERROR,
        CHECKPOINTS, HEARTBEATS,
    ),
    "The service": (
        BUILD, SERVICE_STATE, CONNECTOR_STATE, TASK_STATE, PROBLEMS, UNEXPECTED_FAILURES, LEADER, EPOCHS,
        EPOCH_PAUSES, RESTARTS, SPARK_SLOTS, MEMORY,
    ),
}  # fmt: skip

TABLE: tuple[Metric, ...] = tuple(metric for section in SECTIONS.values() for metric in section)
