"""Collects what the live view shows: from the tasks' receipts, the mirror's threads, and the clusters."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

from heliograph.cli.live.cluster_watch import ClusterWatch
from heliograph.cli.live.lag_time import Behind, LagClock
from heliograph.cli.live.screen import ClusterHealth, FlowRow, Shown, TopicRow
from heliograph.cli.output.rates import Rates
from heliograph.model import ClusterConfig
from heliograph.runtime.connectors.connector_spec import ConnectorSpec, Part
from heliograph.runtime.driver import Mirror
from heliograph.runtime.leadership import Leadership
from heliograph.runtime.progress import Progress, TopicProgress


class Collector:
    """`mirror` None: it is not there yet. For one thread."""

    def __init__(self, progress: Progress, stop: threading.Event) -> None:
        self.mirror: Mirror | None = None
        self._progress = progress
        self._stop = stop
        self._began = time.monotonic()
        self._rates, self._lags = Rates(), LagClock()
        self._watch = ClusterWatch(stop)

    def collect(self) -> Shown:
        now = time.monotonic()
        jobs = self._jobs()
        self._watch.follow(_clusters([job for _, job in jobs]))
        health = {each.alias: each for each in self._watch.health()}
        copies = [(leadership, job) for leadership, job in jobs if job.part is Part.COPY]
        flows = {job.flow().name: job for _, job in copies}
        behind = self._lags.look(now, self._progress.receipts())
        shown = Shown(
            uptime=now - self._began,
            epoch=self._progress.epoch,
            restarts=self._progress.restarts,
            stopping=self._stop.is_set(),
            clusters=tuple(health.values()),
            flows=tuple(self._flow(leadership, job, health) for leadership, job in copies),
            topics=tuple(
                replace(
                    _row(topic, behind.get((topic.flow, topic.topic))),
                    records_per_second=rate,
                    bytes_per_second=size,
                    trouble=_trouble(topic, flows.get(topic.flow), health),
                )
                for topic, rate, size in self._rates.sample(self._progress.topics())
            ),
        )
        problems = () if self.mirror is None else tuple(self.mirror.problems.lasting())
        return replace(shown, problems=problems)

    def _jobs(self) -> list[tuple[Leadership, ConnectorSpec]]:
        leaderships = [] if self.mirror is None else self.mirror.worker.leaderships
        return [(each, job) for each in leaderships for job in each.jobs]

    def _flow(
        self, leadership: Leadership, job: ConnectorSpec, health: dict[str, ClusterHealth]
    ) -> FlowRow:
        flow = job.flow()
        return FlowRow(
            name=flow.name,
            source=flow.source,
            target=flow.target,
            state=self._state(leadership, job, health),
            groups=self._groups(job),
        )

    def _state(
        self, leadership: Leadership, job: ConnectorSpec, health: dict[str, ClusterHealth]
    ) -> str:
        if self._stop.is_set():
            return "stopping"
        for alias in job.pair:
            if alias in health and not health[alias].reached:
                return f"connecting to {alias}"
        if (silent := _silent(job, health)) is not None:
            return silent
        if leadership.electing:
            return "waiting: the brokers elect the coordinator of its group"
        if not leadership.leads:
            return f"waiting: {leadership.waits_for or 'the group elects a leader'}"
        connector = None if self.mirror is None else self.mirror.worker.connector_of(job)
        if connector is None or connector.flow is None or not connector.flow.observed:
            return "reading topics and offsets"
        if any(receipt.flow == job.flow().name for receipt in self._progress.receipts()):
            return "copying"
        if not connector.flow.topics():
            return "no topic to mirror"
        return "waiting for Spark" if self._progress.epoch <= 0 else "tasks are starting"

    def _groups(self, job: ConnectorSpec) -> int | None:
        """Also those that a checkpoint connector of its own follows, between the same clusters."""
        connectors = [] if self.mirror is None else self.mirror.worker.connectors
        found = [
            len(each.groups.groups)
            for each in connectors
            if each.groups is not None and each.groups.groups is not None
            if each.job.is_between_clusters_of(job)
        ]
        return sum(found) if found else None


def _clusters(jobs: list[ConnectorSpec]) -> list[ClusterConfig]:
    """Each alias once: the clusters of connectors that copy come first."""
    found: dict[str, ClusterConfig] = {}
    for job in sorted(jobs, key=lambda each: each.part is not Part.COPY):
        for alias in job.pair:
            for cluster in job.clusters:
                if cluster.alias == alias:
                    found.setdefault(alias, cluster)
    return list(found.values())


def _row(topic: TopicProgress, behind: Behind | None) -> TopicRow:
    return TopicRow(
        flow=topic.flow,
        topic=topic.topic,
        partitions=topic.partitions,
        records=topic.records,
        records_per_second=0.0,
        bytes_per_second=0.0,
        lag=topic.lag,
        behind=None if behind is None else behind.seconds,
        behind_at_least=behind is not None and behind.at_least,
    )


def _trouble(
    topic: TopicProgress, job: ConnectorSpec | None, health: dict[str, ClusterHealth]
) -> str | None:
    if topic.troubled:
        first = topic.troubled[0]
        return f"{first.state} {first.partition}: {first.error}"
    return None if job is None else _silent(job, health)


def _silent(job: ConnectorSpec, health: dict[str, ClusterHealth]) -> str | None:
    for alias in job.pair:
        if alias in health and health[alias].silent:
            return f"{alias}: {health[alias].words}"
    return None
