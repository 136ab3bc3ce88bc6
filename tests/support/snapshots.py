"""A snapshot of a service with one flow, as metrics tests have it."""

from __future__ import annotations

from dataclasses import replace

from heliograph.measured import BatchCounts, ClientReport, Stopwatch, TaskReport, Times
from heliograph.metrics.snapshot import (
    ConnectorFigures,
    FlowFigures,
    FlowHealth,
    GroupFigures,
    JvmFigures,
    LeadershipFigures,
    PartitionFigures,
    PartitionHealth,
    Snapshot,
    SparkFigures,
)
from heliograph.metrics.windows import Rates, Spread

FLOW, SOURCE_CONNECTOR = "us->eu", "us->eu.MirrorSourceConnector"


def times(*seconds: float) -> Times:
    watch = Stopwatch()
    for each in seconds:
        watch.note(each)
    return watch.read()


def partition(number: int = 0, topic: str = "orders") -> PartitionFigures:
    return PartitionFigures(
        flow=FLOW,
        topic=topic,
        partition=number,
        remote_topic=f"us.{topic}",
        task=0,
        health=PartitionHealth.COPYING,
        position=100 + number,
        lag=7,
        lag_seconds=1.5,
        copy_age=0.25,
        records=100,
        bytes=12345678,
        foreign=1,
        fallbacks=2,
        quarantined=3,
        skipped=2,
        resumes=4,
        batches=BatchCounts(10, 5, 2, 1, 3),
        latencies=times(0.02, 0.3),
        rates=Rates(2.5, 1000.0),
        age=Spread(0.01, 0.02, 0.005, 0.04),
        latency=Spread(0.1, 0.2, 0.05, 0.4),
    )


REPORT = TaskReport(
    flow=FLOW,
    throttled_seconds=1.5,
    fetches=1,
    produces=2,
    buffered_bytes=1000,
    buffer_bytes=33554432,
    active_records=42,
    offset_commits=times(0.01, 0.03),
    memory_bytes=50_000_000,
    source=ClientReport(
        cluster="us",
        connections=2,
        received_bytes=5000,
        requests=times(0.5),
        broker_certificate_ends=1900000000.0,
    ),
    target=ClientReport(cluster="eu", connections=3, sent_bytes=6000, requests=times(0.004)),
)

FLOW_FIGURES = FlowFigures(
    name=FLOW,
    source="us",
    target="eu",
    connector=SOURCE_CONNECTOR,
    health=FlowHealth.COPYING,
    gaps={"OVERTAKEN": (1, 20)},
    total=REPORT,
    clients=(REPORT.source, replace(REPORT.target, reachable=False, login_failures=1)),
    tasks={0: (REPORT, 0.5)},
    groups=GroupFigures(
        followed=1,
        not_followed={"has no committed offsets": 2},
        untranslated={"offset N is older than what is known": 1},
        offsets={("committed", "has no offset on the target yet"): 1},
        checkpoints=9,
        inexact={"my:group": 12},
        latencies={("my:group", "us.orders", 0): Spread(0.01, 0.02, 0.01, 0.03)},
    ),
)

SNAPSHOT = Snapshot(
    version="1.2.3",
    state="running",
    epochs=3,
    pause_seconds=0.75,
    restarts=1,
    flows=(FLOW_FIGURES,),
    partitions=(partition(0), partition(1)),
    connectors=(
        ConnectorFigures(
            *(), name=SOURCE_CONNECTOR, kind="MirrorSourceConnector", flow=FLOW, source="us", target="eu",
            state="RUNNING", tasks={0: "RUNNING", 1: "FAILED"},
        ),
    ),
    leaderships=(
        LeadershipFigures(
            group="us-mm2", client=FLOW, connectors=(SOURCE_CONNECTOR,), leads=True, state="running"
        ),
    ),
    problems={(FLOW, "checkpoints"): 2},
    unexpected_failures={("", "page"): 3},
    heartbeats={"us->eu.MirrorHeartbeatConnector": 5},
    spark=SparkFigures(used=1, slots=4, lost=2),
    jvm=JvmFigures(
        memory={"heap": 100_000_000, "nonheap": 50_000_000},
        threads=80,
        collections={"G1 Young Generation": (12, 0.5)},
    ),
    memory_bytes=90_000_000,
)  # fmt: skip
