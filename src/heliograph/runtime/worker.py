"""The connectors that this service runs, and the groups whose leadership decides that."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence

from heliograph.config.mirror_config import FlowSetup, Heartbeats
from heliograph.errors import ClientError
from heliograph.model import Receipt
from heliograph.runtime.connectors.connector_spec import ConnectorSpec, WorkGroup, flows_of
from heliograph.runtime.connectors.running_connector import RunningConnector, RuntimeContext
from heliograph.runtime.connectors.schedule import time_left
from heliograph.runtime.epoch.fencing import LeaderSeat
from heliograph.runtime.flow.cycle_guard import CycleGuard
from heliograph.runtime.flow.observed_flow import ObservedFlow
from heliograph.runtime.leadership import Leadership
from heliograph.runtime.problems import Problems
from heliograph.runtime.progress import Progress


class Worker:
    """Has a leadership for every group."""

    def __init__(
        self,
        groups: Sequence[WorkGroup],
        progress: Progress,
        problems: Problems,
        stop: threading.Event,
        slots: int,
    ) -> None:
        since_ms = int(time.time() * 1000)
        self._guard = CycleGuard((), since_ms)
        self._progress = progress
        self._problems = problems
        self._since_ms = since_ms
        self._slots = slots
        self.leaderships = [self._leadership(each, stop) for each in groups]
        self._update_guard()

    def start(self, *, bounded: bool = False) -> None:
        """Join the groups. Unless the run is bounded, connectors are started in their own threads."""
        for leadership in self.leaderships:
            leadership.start(bounded=bounded)

    def assign(
        self,
        leadership: Leadership,
        jobs: Iterable[ConnectorSpec],
        term: int | None = None,
        *,
        paused: Iterable[str] = (),
    ) -> None:
        """Set the connectors of one group, without the paused ones; with a `term`, only if that is still the
        current one."""
        leadership.assign(jobs, term, paused=paused)
        self._update_guard()

    def connector_of(self, job: ConnectorSpec) -> RunningConnector | None:
        """The running connector of exactly this job, not of an earlier one with the same name."""
        for connector in self.connectors:
            if connector.job == job and not connector.leaving:
                return connector
        return None

    def busy(self, name: str) -> bool:
        """Whether a connector of this name has not ended yet."""
        return any(t.job.name == name and not t.closed.is_set() for t in self.connectors)

    @property
    def flows(self) -> list[ObservedFlow]:
        """The flows that this service copies at the moment."""
        return [
            connector.flow
            for leadership in self.leaderships
            if leadership.leads
            for connector in leadership.connectors
            if connector.flow is not None and not connector.leaving
        ]

    @property
    def leaving(self) -> list[ObservedFlow]:
        """The flows whose tasks have to finish."""
        return [
            connector.flow
            for leadership in self.leaderships
            if leadership.leads
            for connector in leadership.connectors
            if connector.flow is not None and connector.leaving
        ]

    def setups(self, flows: Sequence[ObservedFlow]) -> list[FlowSetup]:
        return [connector.job.setup() for connector in self.connectors if connector.flow in flows]

    @property
    def last_flows(self) -> list[ObservedFlow]:
        """The flows of all running connectors, also if this service does not lead at the moment."""
        return [connector.flow for connector in self.connectors if connector.flow is not None]

    @property
    def copies(self) -> bool:
        """Whether any connector copies."""
        return any(flows_of(leadership.jobs) for leadership in self.leaderships)

    @property
    def settled_in(self) -> bool:
        """Whether all groups have a leader, and the flows of this service are observed."""
        decided = all(leadership.decided for leadership in self.leaderships)
        return decided and all(flow.observed for flow in self.flows)

    def release(self, leased: Sequence[ObservedFlow]) -> None:
        """Tasks have finished with all flows that are not `leased`."""
        for connector in self.connectors:
            if (
                connector.leaving
                and not connector.released.is_set()
                and connector.flow not in leased
            ):
                self._progress.forget(connector.job.flow().name)
                connector.released.set()

    def fatal_error(self) -> ClientError | None:
        """An error that does not pass by waiting, if every flow has one; one that an operator can correct
        while the service runs comes first."""
        found: list[ClientError | None] = []
        for leadership in self._of_flows():
            flows = [
                connector.flow for connector in leadership.connectors if connector.flow is not None
            ]
            found += [flow.fatal_error for flow in flows] or [leadership.fatal_error]
        causes = sorted(
            (e for e in found if e is not None), key=lambda e: e.tried_again, reverse=True
        )
        return causes[0] if causes and len(causes) == len(found) else None

    def waits_for(self) -> str | None:
        """Why this service does not run all of its flows; None if it does."""
        for leadership in self._of_flows():
            if not leadership.leads:
                return f"{', '.join(leadership.names)}: {leadership.waits_for}"
        return None

    def _of_flows(self) -> list[Leadership]:
        """Groups with connectors that copy."""
        return [each for each in self.leaderships if flows_of(each.jobs)]

    def before_copying(self) -> None:
        """In a bounded run: what comes before the copy, once the flows are observed."""
        for connector in self.connectors:
            connector.before_copying()

    def after_copying(self) -> None:
        for connector in self.connectors:
            connector.after_copying()

    def learn(self, receipts: Iterable[Receipt]) -> None:
        """Pass on what tasks have copied; for any thread."""
        reported, connectors = list(receipts), self.connectors
        for copying in connectors:
            copied = copying.learn(reported)
            for other in connectors if copied else ():
                if other.groups is not None and other.job.pair == copying.job.pair:
                    other.groups.learn(copied)

    def close(self, timeout: float) -> None:
        """Call this once `stop` is set."""
        left = time_left(timeout)
        for leadership in self.leaderships:
            leadership.close(left())

    @property
    def connectors(self) -> list[RunningConnector]:
        return [connector for leadership in self.leaderships for connector in leadership.connectors]

    def _leadership(self, work: WorkGroup, stop: threading.Event) -> Leadership:
        around = RuntimeContext(
            guard=self._guard,
            progress=self._progress,
            problems=self._problems,
            seat=LeaderSeat(),
            since_ms=self._since_ms,
            slots=self._slots,
            internal_topics_seen=self._internal_topics_seen,
            heartbeats_begun=self._heartbeats_begun,
        )
        return Leadership(work, lambda job: RunningConnector(job, around), self._problems, stop)

    def _internal_topics_seen(self, job: ConnectorSpec) -> bool:
        return all(
            t.internal_topics_seen for t in self.connectors if t.job.is_between_clusters_of(job)
        )

    def _heartbeats_begun(self, pair: Heartbeats) -> None:
        """On a new cluster their topic is created after flows from there were observed. A flow would mirror
        it only after `refresh.topics.interval.seconds`, 10 minutes."""
        for flow in self.last_flows:
            if flow.config.source == pair.target and pair.topic.name not in flow.topics():
                flow.refresh_soon()

    def _update_guard(self) -> None:
        self._guard.set_flows(flows_of([job for each in self.leaderships for job in each.jobs]))
