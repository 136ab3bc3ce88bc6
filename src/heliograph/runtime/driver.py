"""The mirror: runs all flows of a configuration on Spark, and restarts the copy after failures.

    observe topics, offsets ──► plan epoch ──► leases ──► tasks copy … ──► settle ──┐
            ▲                                     ▲                                 │
            └── every refresh interval            └───────── next epoch ◄───────────┘

An epoch lasts until topics or partitions change, `epoch.seconds` have passed, or the mirror stops. A single
thread, that of `run`, plans, begins and ends epochs (`epochs.py`). A flow is observed by its own thread, so
that a cluster that cannot be reached does not delay other flows.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from heliograph.client.net.backoff import Backoff
from heliograph.config.mirror_config import MirrorConfig
from heliograph.errors import ClientError, ConfigError, EnvironmentProblem, NotKafka
from heliograph.model import Gap, TopicPartition
from heliograph.runtime.connectors.connector_spec import ConnectorSpec, Part, WorkGroup, work_groups
from heliograph.runtime.epoch.epochs import STOP_SECONDS, TICK_SECONDS, Epochs, copy_area
from heliograph.runtime.epoch.task_setups import TaskSetups
from heliograph.runtime.events import EventKind, EventLog, Severity
from heliograph.runtime.outcome import Outcome, outcome_of
from heliograph.runtime.problems import Problems
from heliograph.runtime.progress import Progress
from heliograph.runtime.restarts import Restarts
from heliograph.runtime.state_watch import StateWatch
from heliograph.runtime.worker import Worker
from heliograph.spark.query import CopyQuery, QueryFailed, SparkLost
from heliograph.spark.session import ClusterSpark, LocalSpark

log = logging.getLogger(__name__)

_FIRST_OBSERVATION_SECONDS = 5.0


class Mirror:
    """Runs until `stop` is set or, with `once`, until everything is copied.

    With a `group`, as a Connect worker, it starts without connectors: they are assigned to that group, and
    removed from it, while it runs, and no error of theirs ends it.
    """

    def __init__(
        self,
        config: MirrorConfig,
        spark: LocalSpark | ClusterSpark,
        *,
        once: bool = False,
        stop: threading.Event,
        progress: Progress,
        group: WorkGroup | None = None,
    ) -> None:
        self._config = config
        self._once = once
        self._spark = spark
        self._stop = stop
        self._progress = progress
        self.events = EventLog(first=int(time.time() * 1000))
        self.problems = Problems(events=self.events)
        self._serves = group is not None
        groups = work_groups(config) if group is None else [group]
        self.worker = Worker(groups, progress, self.problems, stop, spark.slots)
        self._states = StateWatch(progress.receipts, self._gaps, self.problems)
        self._setups = TaskSetups(spark, accepts_unencrypted=config.accepts_unencrypted_secrets)
        self._epochs = Epochs(
            config,
            spark,
            self.worker,
            self._setups,
            progress,
            self.problems,
            once=once,
            stop=stop,
        )

    @property
    def spark(self) -> LocalSpark | ClusterSpark:
        return self._spark

    @property
    def used_slots(self) -> int:
        """Spark tasks of the running epoch."""
        run = self._epochs.running
        return 0 if run is None else sum(1 for leases in run.tasks if leases)

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    def refusal(self, job: ConnectorSpec) -> str | None:
        """Why a connector may not run on this Spark; None: it may. Only those that copy use tasks."""
        return self._setups.refusal(job.setup()) if job.part is Part.COPY else None

    def run(self) -> Outcome:
        """Raises ConfigError, before anything is sent to executors, if a flow may not run there. A Connect
        worker is not assigned such connectors (`connect/supervisor.py`)."""
        self._states.start()
        try:
            if not self._serves:
                self._require_permission()
            self._run_once() if self._once else self._run_on()
        finally:
            self._close()
        return outcome_of(self._progress, self.worker.last_flows, once=self._once)

    def _require_permission(self) -> None:
        jobs = [job for each in self.worker.leaderships for job in each.jobs]
        if refused := [why for job in jobs if (why := self.refusal(job)) is not None]:
            raise ConfigError(refused)

    def _run_on(self) -> None:
        self.worker.start()
        if not self._serves and not self.worker.copies:
            self._stop.wait()  # only heartbeats are configured
            return
        if not self._serves:
            self._await_first_observation()
        self._mirror()

    def _run_once(self) -> None:
        self.worker.start(bounded=True)
        self._await_lead()
        self._observe_bounded()
        self.worker.before_copying()
        self._mirror()
        self.worker.after_copying()

    def _close(self) -> None:
        self._stop.set()
        self._epochs.close()
        self._states.close()
        self._states.look()  # so that the last state of the flows has them
        self.worker.close(STOP_SECONDS)

    def _gaps(self) -> list[tuple[str, TopicPartition, Gap]]:
        flows = self.worker.flows
        return [(flow.config.name, *found) for flow in flows for found in flow.gaps.newest()]

    # ── the query ────────────────────────────────────────────────────────────────────────────

    def _mirror(self) -> None:
        restarts = Restarts()
        while not self._stop.is_set():
            began, before = time.monotonic(), self._progress.records
            try:
                self._run_query()
                return
            except QueryFailed as e:
                copied = self._progress.records > before
                delay = restarts.next(time.monotonic() - began, copied=copied)
                if restarts.gives_up(once=self._once, retriable=e.retriable, copied=copied):
                    raise
                why = f"{e}; restarting the copy in {delay:.1f} s from the target's state"
                log.error("%s", why)
                self.events.add(EventKind.RESTART, "", why, Severity.ERROR)
                self._heal(e, delay)

    def _heal(self, failure: QueryFailed, delay: float) -> None:
        """Wait until the tasks have ended, then observe the clusters again.

        The epoch has no last receipts of all tasks, so the positions known before are not used: another
        attempt may have copied more.
        """
        self._epochs.give_up()
        self._progress.restart(f"{failure}; restarting")
        for flow in self.worker.flows:
            self.problems.update(copy_area(flow), {"": f"{failure}; restarting"})
        for flow in self.worker.last_flows:
            flow.forget()
        self._spark.recover(lost=isinstance(failure, SparkLost))
        self._stop.wait(delay)
        if self._once:
            self._observe_bounded()

    def _run_query(self) -> None:
        while not self._spark.ready(TICK_SECONDS):
            if self._stop.is_set():
                return  # a JVM may take long to start, a stop may not take long
        query = self._epochs.new_query(self._session())
        try:
            if self._stop.is_set():
                return
            if self._once:
                self._require_lead()
            if not self._epochs.begin() and self._once:
                return
            self._epochs.start_query()
            self._follow(query)
        finally:
            self._epochs.drop_query()
            query.stop()

    def _follow(self, query: CopyQuery) -> None:
        """Until the mirror stops or, for a bounded run, until its only epoch is over."""
        while True:
            self._epochs.attend(TICK_SECONDS)
            if self._stop.is_set():
                self._epochs.await_end()
                return
            if query.has_ended() and (self._epochs.running is None or not self._once):
                return
            self._epochs.require_last_receipts()
            if self._once:
                self._require_lead()
            else:
                self._follow_changes()

    def _follow_changes(self) -> None:
        self._epochs.follow_flows()
        run = self._epochs.running
        if run is None:
            self._raise_fatal_error()
            self._epochs.begin_or_warm_up()
        else:
            self._epochs.end_if_outdated(run)

    def _session(self) -> Any:
        try:
            return self._spark.session()
        except EnvironmentProblem as e:
            if not self._progress.restarts:
                raise  # it has never run
            raise SparkLost(str(e)) from e

    # ── leadership and clusters ──────────────────────────────────────────────────────────────

    def _await_lead(self) -> None:
        """A bounded run waits until it leads its groups, within its limit."""
        deadline = time.monotonic() + self._config.once_timeout_seconds
        while (reason := self.worker.waits_for()) is not None and not self._stop.wait(0.02):
            self._raise_fatal_error()
            if time.monotonic() > deadline:
                raise ClientError(reason)

    def _require_lead(self) -> None:
        if (reason := self.worker.waits_for()) is not None and not self._stop.is_set():
            self._epochs.end(reason)
            raise ClientError(reason)

    def _observe_bounded(self) -> None:
        for flow in self.worker.flows:
            self._insist(lambda flow=flow: flow.observe(bounded=True))  # type: ignore[misc]

    def _await_first_observation(self) -> None:
        """A change of epoch pauses the copy: flows that are observed within 5 s share the first epoch."""
        deadline = time.monotonic() + _FIRST_OBSERVATION_SECONDS
        while not self.worker.settled_in and time.monotonic() < deadline:
            self._raise_fatal_error()
            if self._stop.wait(0.05):
                return

    def _raise_fatal_error(self) -> None:
        """If no flow can run, a wrong port or a missing permission ends the mirror; a wrong password ends a
        bounded run only, since it may be corrected. A Connect worker stays: it can get other connectors."""
        fatal_error = None if self._serves else self.worker.fatal_error()
        if fatal_error is not None and (self._once or not fatal_error.tried_again):
            raise fatal_error

    def _insist(self, action: Callable[[], None]) -> None:
        """Repeat until it succeeds; a bounded run gives up after its limit, and a wrong port is final."""
        backoff, deadline = Backoff(), time.monotonic() + self._config.once_timeout_seconds
        while not self._stop.is_set():
            try:
                action()
                return
            except NotKafka:
                raise
            except ClientError as e:
                if not e.retriable or (self._once and time.monotonic() > deadline):
                    raise
                delay = backoff.next()
                log.warning("%s; retrying in %.1f s", e, delay)
                self._stop.wait(delay)
