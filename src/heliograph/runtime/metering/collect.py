"""Collects a snapshot of the service for its metrics. Reads what is in memory only: no request is sent."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from heliograph import __version__
from heliograph.machine.memory import resident_bytes
from heliograph.measured import ClientReport
from heliograph.metrics.snapshot import (
    ConnectorFigures,
    FlowFigures,
    GroupFigures,
    JvmFigures,
    LeadershipFigures,
    PartitionFigures,
    PartitionHealth,
    Snapshot,
    SparkFigures,
)
from heliograph.model import TopicPartition
from heliograph.runtime.connectors.connector_spec import Part
from heliograph.runtime.connectors.running_connector import RunningConnector
from heliograph.runtime.driver import Mirror
from heliograph.runtime.flow.observed_flow import ObservedFlow
from heliograph.runtime.metering.health import flow_health, partition_health
from heliograph.runtime.progress import PartitionView, Progress
from heliograph.runtime.worker import Worker

_AREA = re.compile(r"(?:flow )?(?P<flow>[^:]+): (?P<cause>.+)|flow (?P<alone>[^:]+)")
_GROUP = re.compile(r"group .*")


class SnapshotCollector:
    """`connectors` gives the states of all connectors that this service knows, `jvm` those of Spark's JVM."""

    def __init__(
        self,
        mirror: Mirror,
        progress: Progress,
        connectors: Callable[[], Sequence[ConnectorFigures]],
        jvm: Callable[[], JvmFigures | None] = lambda: None,
    ) -> None:
        self._mirror = mirror
        self._progress = progress
        self._connectors = connectors
        self._jvm = jvm

    def collect(self) -> Snapshot:
        now, connectors = time.time(), self._connectors()
        running = {each.job.name: each for each in self._mirror.worker.connectors}
        partitions = self._partitions(running.values(), now)
        flows = [
            self._flow(each, running, connectors, partitions, now)
            for each in connectors
            if each.kind == Part.COPY
        ]
        shown = {flow.name for flow in flows}
        return Snapshot(
            version=__version__,
            state=self._state(),
            epochs=self._progress.epochs,
            pause_seconds=self._progress.pause_seconds,
            restarts=self._progress.restarts,
            flows=tuple(flows),
            partitions=tuple(each for each in partitions if each.flow in shown),
            connectors=tuple(connectors),
            leaderships=tuple(self._leaderships()),
            problems=problems_by_cause(
                {area: len(found) for area, found in self._mirror.problems.areas().items()}
            ),
            unexpected_failures=problems_by_cause(self._mirror.problems.unexpected_counts()),
            heartbeats={
                name: each.heartbeats_emitted
                for name, each in running.items()
                if each.job.part is Part.HEARTBEATS
            },
            spark=self._spark(),
            jvm=self._jvm(),
            memory_bytes=resident_bytes(),
        )

    def _state(self) -> str:
        if self._mirror.stopping:
            return "stopping"
        return "running" if self._mirror.worker.settled_in else "starting"

    def _spark(self) -> SparkFigures:
        spark = self._mirror.spark
        slots = None if spark.started is None else spark.slots
        lost = 0 if spark.started is None else spark.lost_slots
        return SparkFigures(used=self._mirror.used_slots, slots=slots, lost=lost)

    def _leaderships(self) -> Iterable[LeadershipFigures]:
        for each in self._mirror.worker.leaderships:
            yield LeadershipFigures(
                group=each.group,
                client=each.names[0],
                connectors=tuple(job.name for job in each.jobs),
                leads=each.leads,
                state=each.standing.value.lower(),
            )

    # ── flows ────────────────────────────────────────────────────────────────────────────────

    def _flow(
        self,
        connector: ConnectorFigures,
        running: Mapping[str, RunningConnector],
        connectors: Sequence[ConnectorFigures],
        partitions: Sequence[PartitionFigures],
        now: float,
    ) -> FlowFigures:
        name, its = connector.flow, running.get(connector.name)
        flow = None if its is None else its.flow
        tasks, total = self._progress.tasks.running(name), self._progress.tasks.total(name)
        reports = [] if total is None else [total.source, total.target]
        reachable = reachable_clusters(self._mirror.worker, connector.name, self._progress)
        return FlowFigures(
            name=name,
            source=connector.source,
            target=connector.target,
            connector=connector.name,
            health=flow_health(
                connector.state,
                reachable=all(reachable.values()),
                report_ages=list(self._progress.tasks.ages(name).values()),
                partitions=[each.health for each in partitions if each.flow == name],
            ),
            gaps={} if flow is None else flow.gaps.counts(),
            total=total,
            clients=_clients(connector, running.values(), reports, reachable),
            tasks={} if flow is None else tasks,
            groups=_groups(connector, running, connectors, now),
        )

    def _partitions(
        self, running: Iterable[RunningConnector], now: float
    ) -> list[PartitionFigures]:
        """Those of the flows that this service runs; the series of deleted topics vanish with them."""
        views: dict[str, dict[TopicPartition, PartitionView]] = {}
        for flow, partition, view in self._progress.views():
            views.setdefault(flow, {})[partition] = view
        found: list[PartitionFigures] = []
        for each in running:
            if each.flow is not None and not each.leaving:
                found += self._of_flow(each.flow, views.get(each.flow.config.name, {}), now)
        return found

    def _of_flow(
        self, flow: ObservedFlow, views: Mapping[TopicPartition, PartitionView], now: float
    ) -> Iterable[PartitionFigures]:
        name, topics = flow.config.name, flow.topics()
        ages, failed = self._progress.tasks.ages(name), flow.gaps.failed()
        for partition in sorted(flow.partitions() or ()):
            view = views.get(partition)
            health = partition_health(view, ages, now, failed=partition in failed)
            remote = topics.get(partition.topic) or flow.config.target_topic(partition.topic)
            yield partition_figures(name, partition, remote, view, health, now)


def reachable_clusters(worker: Worker, connector: str, progress: Progress) -> dict[str, bool]:
    """By alias: whether a broker answered the last requests of the driver, of the tasks, and of the group's
    member, which does not lead while the cluster of its group does not answer."""
    leadership = next(
        (each for each in worker.leaderships if connector in {j.name for j in each.jobs}), None
    )
    running = next((each for each in worker.connectors if each.job.name == connector), None)
    found: dict[str, bool] = {}
    if running is not None and running.flow is not None:
        found |= running.flow.reachable
        for report, _ in progress.tasks.running(running.flow.config.name).values():
            for side in (report.source, report.target):
                found[side.cluster] = found.get(side.cluster, True) and side.reachable
    if leadership is not None and leadership.unreachable is not None:
        pairs = {alias for job in leadership.jobs if job.name == connector for alias in job.pair}
        if leadership.unreachable in pairs:  # a worker's group may be on a cluster of its own
            found[leadership.unreachable] = False
    return found


def partition_figures(
    flow: str,
    partition: TopicPartition,
    remote_topic: str,
    view: PartitionView | None,
    health: PartitionHealth,
    now: float,
) -> PartitionFigures:
    """`view` None: no task has reported it yet."""
    if view is None:
        return PartitionFigures(
            flow=flow,
            topic=partition.topic,
            partition=partition.partition,
            remote_topic=remote_topic,
            health=health,
        )
    copied_ms = view.copied_ms
    return PartitionFigures(
        flow=flow,
        topic=partition.topic,
        partition=partition.partition,
        remote_topic=remote_topic,
        task=view.task,
        health=health,
        position=view.receipt.position,
        lag=view.lag,
        lag_seconds=view.lag_seconds(now),
        copy_age=None if copied_ms < 0 else max(now - copied_ms / 1000, 0.0),
        records=view.records,
        bytes=view.bytes,
        foreign=view.foreign,
        fallbacks=view.fallbacks,
        quarantined=view.quarantined,
        skipped=view.skipped,
        resumes=view.resumes,
        batches=view.batches,
        latencies=view.latencies,
        rates=view.window.rates(now),
        age=view.window.ages(now),
        latency=view.window.latencies(now),
    )


def _clients(
    connector: ConnectorFigures,
    running: Iterable[RunningConnector],
    reports: Iterable[ClientReport],
    reachable: Mapping[str, bool],
) -> tuple[ClientReport, ...]:
    """All clients of the flow by cluster: those of its connectors in the driver, and those of its tasks."""
    found: dict[str, ClientReport] = {}
    pair = (connector.source, connector.target)
    own = [
        client.meter.report(client.config.alias)
        for each in running
        if each.job.pair == pair
        for client in each.clients
    ]
    for report in (*own, *reports):
        before = found.get(report.cluster)
        found[report.cluster] = report if before is None else before.plus(report)
    return tuple(
        replace(report, reachable=reachable.get(alias, True)) for alias, report in found.items()
    )


def _groups(
    connector: ConnectorFigures,
    running: Mapping[str, RunningConnector],
    connectors: Iterable[ConnectorFigures],
    now: float,
) -> GroupFigures | None:
    """Of the checkpoint connector between the same clusters."""
    for each in connectors:
        pair = (each.source, each.target)
        its = running.get(each.name)
        same = pair == (connector.source, connector.target)
        if same and its is not None and its.groups is not None:
            return its.groups.figures.read(its.groups.groups, now)
    return None


def problems_by_cause(areas: Mapping[str, int]) -> dict[tuple[str, str], int]:
    """`areas`: how many each has. They are named "flow us->eu: checkpoints" or, of what is not a flow,
    "metrics listener"."""
    found: dict[tuple[str, str], int] = {}
    for area, count in areas.items():
        match = _AREA.fullmatch(area)
        flow, cause = "", area
        if match is not None:
            flow = match["flow"] or match["alone"]
            cause = _GROUP.sub("workers' group", match["cause"] or "topics")
        found[flow, cause] = found.get((flow, cause), 0) + count
    return found
