"""The mirror: observes the clusters, plans epochs, hands them to Spark, follows the tasks.

    observe topics, offsets ──► plan epoch ──► leases ──► tasks copy … ──► settle ──┐
            ▲                                     ▲                                 │
            └── every refresh interval            └───────── next epoch ◄───────────┘

An epoch lasts until something changes: topics or partitions, its time is up, or a stop. One thread, that of
`run`, plans, begins and ends epochs; what tasks and Spark have to say is queued for it. Each flow is observed
by a thread of its own: one that cannot be reached keeps none of the others waiting.
"""

from __future__ import annotations

import logging
import math
import queue
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from heliograph.client.net.backoff import Backoff
from heliograph.config.mirror_config import MirrorConfig
from heliograph.errors import ClientError, ConfigError, EnvironmentProblem, Fenced, NotKafka
from heliograph.model import Lease, PartitionState, ProducerIdentity, Receipt
from heliograph.plan.epoch import plan_epoch
from heliograph.runtime.connector_spec import ConnectorSpec, Part, WorkGroup, work_groups
from heliograph.runtime.epoch_run import EpochRun
from heliograph.runtime.fencing import task_producers
from heliograph.runtime.load_monitor import LoadMonitor
from heliograph.runtime.observed_flow import ObservedFlow
from heliograph.runtime.problems import Problems
from heliograph.runtime.progress import Progress
from heliograph.runtime.restarts import Restarts
from heliograph.runtime.task_setups import TaskSetups
from heliograph.runtime.worker import Worker
from heliograph.security import Secret
from heliograph.spark.control_server import ChannelServer
from heliograph.spark.query import CopyQuery, QueryFailed, SparkLost
from heliograph.spark.sealing import new_key
from heliograph.spark.session import ClusterSpark, LocalSpark
from heliograph.spark.task import Copy

log = logging.getLogger(__name__)

_TICK_SECONDS = 0.25
_FIRST_LOOK_SECONDS = 5.0
#: Within a stop's 5 seconds: the tasks' last word, then Spark and its JVM.
_STOP_SECONDS = 3.5
#: Nothing to copy for so long: time to start the tasks' workers.
_WARM_SECONDS = 2.0
#: Receipts come over another connection than Spark's word that a task has ended.
_LAST_WORD_SECONDS = 10.0
_RESTARTS_ONCE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a run ended: what was copied, and every partition that is not where it should be."""

    records: int
    unfinished: tuple[Receipt, ...]
    unstored: tuple[Receipt, ...]
    problems: tuple[str, ...]
    quarantined: int = 0

    @property
    def good(self) -> bool:
        return not self.unfinished and not self.problems


class Mirror:
    """Runs all flows of a configuration until `stop` is set, or, with `once`, until all is copied.

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
        self._events: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._channel_key = Secret(secrets.token_hex(32))
        self._channel = ChannelServer(
            self._channel_key,
            partial(self._queue, self._on_receipts),
            config.channel_host or spark.driver_host,
            config.channel_port,
            on_done=partial(self._queue, self._on_done),
            on_gone=partial(self._queue, self._on_gone),
        )
        self.problems = Problems()
        self._serves = group is not None
        groups = work_groups(config) if group is None else [group]
        self.worker = Worker(groups, progress, self.problems, stop, spark.slots)
        self._leased: list[ObservedFlow] = []  # the flows of the epoch that runs
        self._dropped: list[ObservedFlow] = []  # those that were, and ended before it
        self._epoch = 0
        self._running: EpochRun | None = None  # none while there is nothing to copy
        self._warm_at = math.inf
        self._query: CopyQuery | None = None
        self._load_monitor = LoadMonitor(progress)
        self._setups = TaskSetups(spark, accepts_unencrypted=config.accepts_unencrypted_secrets)

    def refusal(self, job: ConnectorSpec) -> str | None:
        """Why a job may not run on this Spark; None: it may. What does not copy runs here, not in a task."""
        return self._setups.refusal(job.setup()) if job.part is Part.COPY else None

    def run(self) -> Outcome:
        """Raises ConfigError, before anything is sent to executors, if one of its flows may not run there. A
        worker is not given such a job (`connect/supervisor.py`)."""
        try:
            if not self._serves:
                self._require_permission()
            self._run_once() if self._once else self._run_on()
        finally:
            self._close()
        return self._outcome()

    def _require_permission(self) -> None:
        jobs = [job for each in self.worker.leaderships for job in each.jobs]
        if refused := [why for job in jobs if (why := self.refusal(job)) is not None]:
            raise ConfigError(refused)

    def _run_on(self) -> None:
        self.worker.start()
        if not self._serves and not self.worker.copies:
            self._stop.wait()  # heartbeats are all that was asked for
            return
        if not self._serves:
            self._await_first_look()
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
        self._channel.close()
        self.worker.close(_STOP_SECONDS)

    # ── epochs ───────────────────────────────────────────────────────────────────────────────

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
                if self._once and restarts.count >= _RESTARTS_ONCE:
                    raise
                log.error("%s; starting again in %.1f s from where the target stands", e, delay)
                self._heal(e, delay)

    def _heal(self, failure: QueryFailed, delay: float) -> None:
        """Nothing is known of what the tasks did last: once they are gone, look at the clusters anew.

        An epoch whose tasks have not all returned has no last word, and the receipts of those that have do
        not count: no flow goes on from what it knew before.
        """
        self._running = None
        self._channel.withdraw(self._epoch, _STOP_SECONDS, self._stop.is_set)
        self._progress.restart(f"{failure}; starting again")
        for flow in self.worker.flows:
            self.problems.update(_area(flow), {"": f"{failure}; starting again"})
        for flow in self.worker.last_flows:
            flow.forget()
        self._spark.recover(lost=isinstance(failure, SparkLost))
        self._stop.wait(delay)
        if self._once:
            self._observe_bounded()

    def _run_query(self) -> None:
        copy = Copy(
            driver=self._channel.address,
            channel_key=self._channel_key,
            seal_key=new_key(),
            patience_seconds=self._config.once_timeout_seconds,
        )
        while not self._spark.ready(_TICK_SECONDS):
            if self._stop.is_set():
                return  # a JVM may take its time to start; a stop may not
        session = self._session()
        returned = partial(self._queue, self._on_returned)
        query = self._query = CopyQuery(session, self._spark.slots, copy, returned)
        try:
            if self._stop.is_set():
                return
            if self._once:
                self._require_lead()
            if not self._begin_epoch() and self._once:
                return
            query.start(once=self._once)
            self._warm_at = time.monotonic() + _WARM_SECONDS
            self._follow(query)
        finally:
            self._query = None
            query.stop()

    def _follow(self, query: CopyQuery) -> None:
        """Until a stop, or, of a bounded run, until its one epoch is over."""
        while True:
            self._attend(_TICK_SECONDS)
            if self._stop.is_set():
                self._await_end()
                return
            if query.has_ended() and (self._running is None or not self._once):
                return
            self._require_last_words()
            if self._once:
                self._require_lead()
            else:
                self._look_for_change()

    def _queue(self, handle: Callable[..., None], *news: Any) -> None:
        """For the driver's thread; called by others."""
        self._events.put(partial(handle, *news))

    def _attend(self, seconds: float) -> None:
        """Take in what was queued, for so long."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            try:
                handle = self._events.get(timeout=left)
            except queue.Empty:
                return
            handle()

    def _session(self) -> Any:
        try:
            return self._spark.session()
        except EnvironmentProblem as e:
            if not self._progress.restarts:
                raise  # it has never run
            raise SparkLost(str(e)) from e

    def _begin_epoch(self) -> bool:
        """Plan and start the next epoch; false if there is no partition to copy, so far."""
        flows = self._leased = self.worker.flows
        self.worker.release(flows)
        for flow in flows:
            flow.take_change()  # the plan takes it into account
        tasks = plan_epoch([flow.view() for flow in flows], self._spark.slots)
        leases = sum(len(task) for task in tasks)
        if not leases:
            return False
        self._epoch += 1
        self._running = EpochRun(number=self._epoch, tasks=tasks, started=time.monotonic())
        self._progress.begin(self._epoch)
        self._channel.open_epoch(self._epoch)
        log.info("epoch %d: %d partitions over %d tasks", self._epoch, leases, self._spark.slots)
        assert self._query is not None
        setups = self._setups.pack(self.worker.setups(flows))
        self._query.add(self._epoch, tasks, setups, self._producers(tasks))
        return True

    def _warm_up(self) -> None:
        """Tasks without a lease: their workers are there when there is something to do, or to take over."""
        self._warm_at = math.inf
        assert self._query is not None
        self._query.add(0, [])

    def _producers(self, tasks: list[list[Lease]]) -> list[dict[str, ProducerIdentity]]:
        """By task, the identities that flows which mirror exactly once write under in this epoch."""
        try:
            return task_producers(
                tasks, [(flow.config.name, flow.fencing) for flow in self._leased]
            )
        except (ClientError, Fenced) as e:
            raise QueryFailed(f"epoch {self._epoch}: {e}") from e

    # ── what tasks and Spark have said ───────────────────────────────────────────────────────

    def _on_receipts(self, epoch: int, receipts: list[Receipt]) -> None:
        run = self._running
        if run is None or epoch != run.number or not self._progress.update(epoch, receipts):
            return  # of an epoch that was given up
        run.report(receipts)
        self.worker.learn(receipts)
        for flow in self._leased:
            self.problems.update(_area(flow), {})

    def _on_done(self, epoch: int, task: int) -> None:
        if self._running is not None and epoch == self._running.number:
            self._running.finish(task)
            self._settle_if_over(self._running)

    def _on_gone(self, epoch: int, task: int) -> None:
        """A task is gone without a word. The others end, and free their cores: if Spark does not give up but
        runs it again, that attempt is refused, and Spark gives up then."""
        run = self._running
        if run is not None and epoch == run.number and not self._once and not self._stop.is_set():
            self._end_epoch(f"task {task} is gone")

    def _on_returned(self, epoch: int) -> None:
        """Spark says that all tasks of an epoch have ended."""
        if self._running is not None and epoch == self._running.number:
            self._running.end(time.monotonic())
            self._settle_if_over(self._running)

    def _settle_if_over(self, run: EpochRun) -> None:
        """The next epoch starts from the receipts of the one before."""
        if not run.over:
            return
        self._running = None
        self._progress.settle(run.receipts())
        for flow in self._leased:
            flow.settle(run.receipts(flow.config.name))
        self._forget_dropped()
        if not self._once and not self._stop.is_set():
            self._begin_epoch()

    def _require_last_words(self) -> None:
        """A task that returned without one has lost its line to the driver: nothing is known of its end."""
        run = self._running
        if run is None or run.returned_at is None:
            return
        if time.monotonic() > run.returned_at + _LAST_WORD_SECONDS:
            raise QueryFailed(
                f"epoch {run.number}: no last receipts of tasks {', '.join(map(str, run.silent))} within "
                f"{_LAST_WORD_SECONDS:.0f} s of their end"
            )

    def _forget_dropped(self) -> None:
        """If they are ours again, others may have run them meanwhile; and their new terms may have looked at
        the clusters before the tasks of the old ones had ended."""
        names = {flow.config.name for flow in self._dropped}
        self._dropped = []
        for flow in self.worker.last_flows:
            if flow.config.name in names:
                flow.forget()

    def _await_end(self) -> None:
        """End the epoch that runs, if one does, and wait for its receipts."""
        deadline = time.monotonic() + _STOP_SECONDS
        while self._running is not None:
            self._end_epoch("stop")
            self._attend(_TICK_SECONDS)
            if time.monotonic() > deadline:
                log.error("the tasks did not return within %.1f s; stopping them", _STOP_SECONDS)
                return

    def _end_epoch(self, why: str) -> None:
        run = self._running
        if run is None or run.ending:
            return
        run.ending = True
        log.info("epoch %d: ending (%s)", run.number, why)
        self._channel.end_epoch(run.number)

    def _look_for_change(self) -> None:
        self._look_at_flows()
        run = self._running
        if run is None:
            self._raise_fatal_error()
            if not self._begin_epoch() and time.monotonic() > self._warm_at:
                self._warm_up()
            return
        if time.monotonic() - run.started > self._config.epoch_seconds:
            self._end_epoch("its time is up")
        if why := self._load_monitor.look(self._leased, run.tasks):
            self._end_epoch(why)
        if self._setups.outdated():
            self._end_epoch("a file with keys or certificates has changed")

    def _look_at_flows(self) -> None:
        """Those that have changed, have come or are to go."""
        flows, leaving = self.worker.flows, self.worker.leaving
        for flow in flows:
            if change := flow.take_change():
                self._end_epoch(change)
        for flow in leaving:
            if flow in self._leased:
                self._end_epoch(f"flow {flow.config.name} stops or changes")
        self.worker.release(self._leased)
        self._drop_lost([*flows, *leaving])
        if any(flow.observed and flow not in self._leased for flow in flows):
            self._end_epoch("a flow has come back to this service")

    def _drop_lost(self, led: list[ObservedFlow]) -> None:
        """Flows that another service may run now end at once, without a pause for the others."""
        lost = [flow for flow in self._leased if flow not in led]
        for flow in lost:
            name = flow.config.name
            log.info(
                "epoch %d: ending for flow %s (not run by this service any more)", self._epoch, name
            )
            self._channel.end_epoch(self._epoch, name)
            self._progress.leave(name, "not run by this service any more")
            self._leased.remove(flow)
            self._dropped.append(flow)
        if lost and not self._leased:
            self._end_epoch("no flow is left to this service")

    # ── clusters ─────────────────────────────────────────────────────────────────────────────

    def _await_lead(self) -> None:
        """A bounded run waits until it leads its groups, within its limit."""
        deadline = time.monotonic() + self._config.once_timeout_seconds
        while (reason := self.worker.waits_for()) is not None and not self._stop.wait(0.02):
            self._raise_fatal_error()
            if time.monotonic() > deadline:
                raise ClientError(reason)

    def _require_lead(self) -> None:
        if (reason := self.worker.waits_for()) is not None and not self._stop.is_set():
            self._end_epoch(reason)
            raise ClientError(reason)

    def _observe_bounded(self) -> None:
        for flow in self.worker.flows:
            self._insist(lambda flow=flow: flow.observe(bounded=True))  # type: ignore[misc]

    def _await_first_look(self) -> None:
        """A change of epoch costs a pause: flows that are observed soon share the first."""
        deadline = time.monotonic() + _FIRST_LOOK_SECONDS
        while not self.worker.settled_in and time.monotonic() < deadline:
            self._raise_fatal_error()
            if self._stop.wait(0.05):
                return

    def _raise_fatal_error(self) -> None:
        """A wrong port or a missing permission is no matter of waiting, if no flow can do anything; nor
        is a wrong password, to a bounded run. A worker is given other jobs."""
        fatal_error = None if self._serves else self.worker.fatal_error()
        if fatal_error is not None and (self._once or not fatal_error.tried_again):
            raise fatal_error

    def _insist(self, action: Callable[[], None]) -> None:
        """Try until it works; a bounded run gives up after its limit, a wrong port is final."""
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
                log.warning("%s; trying again in %.1f s", e, delay)
                self._stop.wait(delay)

    def _outcome(self) -> Outcome:
        wanted = (
            {PartitionState.DONE} if self._once else set(PartitionState) - {PartitionState.FAILED}
        )
        receipts = self._progress.receipts()
        return Outcome(
            records=self._progress.records,
            unfinished=tuple(r for r in receipts if r.state not in wanted),
            unstored=tuple(r for r in receipts if not r.stored),
            problems=tuple(
                f"flow {flow.config.name}: {problem}"
                for flow in self.worker.last_flows
                for problem in flow.problems.values()
            ),
            quarantined=sum(
                sum(self._progress.quarantined(flow.config.name).values())
                for flow in self.worker.last_flows
            ),
        )


def _area(flow: ObservedFlow) -> str:
    return f"flow {flow.config.name}: copy"
