"""Plans, begins, follows and ends epochs: one at a time, in the driver's thread.

    plan ──► leases to Spark's tasks ──► receipts every second ──► all tasks done and returned ──► settle ──┐
     ▲                                                                                                      │
     └──────────────────────────────────────────── next epoch ◄────────────────────────────────────────────┘
Tasks and Spark report in other threads; what they report is queued for the driver's thread (`attend`).
"""

from __future__ import annotations

import logging
import math
import queue
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from heliograph.config.mirror_config import MirrorConfig
from heliograph.counted import counted
from heliograph.errors import ClientError, Fenced
from heliograph.measured import TaskReport
from heliograph.model import Lease, ProducerIdentity, Receipt
from heliograph.plan.epoch import plan_epoch
from heliograph.runtime.epoch.epoch_run import EpochRun
from heliograph.runtime.epoch.fencing import task_producers
from heliograph.runtime.epoch.load_monitor import LoadMonitor
from heliograph.runtime.epoch.task_setups import TaskSetups
from heliograph.runtime.events import EventKind
from heliograph.runtime.flow.observed_flow import ObservedFlow
from heliograph.runtime.problems import Problems
from heliograph.runtime.progress import Progress
from heliograph.runtime.worker import Worker
from heliograph.security import Secret
from heliograph.spark.control_server import ChannelServer
from heliograph.spark.query import CopyQuery, QueryFailed
from heliograph.spark.sealing import new_key
from heliograph.spark.session import ClusterSpark, LocalSpark
from heliograph.spark.task import Copy

log = logging.getLogger(__name__)

#: A stop takes at most 5 s: this long for the tasks' last receipts, the rest for Spark and its JVM.
STOP_SECONDS = 3.5
TICK_SECONDS = 0.25
#: After this long without anything to copy, the tasks' workers are started in advance.
_WARM_SECONDS = 2.0
#: Receipts and Spark's result come over different connections: how long one may arrive after the other.
_LAST_RECEIPTS_SECONDS = 10.0


class Epochs:
    """For the driver's thread, except for the callbacks that it gives to the channel and to Spark."""

    def __init__(
        self,
        config: MirrorConfig,
        spark: LocalSpark | ClusterSpark,
        worker: Worker,
        setups: TaskSetups,
        progress: Progress,
        problems: Problems,
        *,
        once: bool,
        stop: threading.Event,
    ) -> None:
        self.running: EpochRun | None = None  # None while there is nothing to copy
        self._config = config
        self._spark = spark
        self._worker = worker
        self._setups = setups
        self._progress = progress
        self._problems = problems
        self._once = once
        self._stop = stop
        self._query: CopyQuery | None = None
        self._number = 0
        self._leased: list[ObservedFlow] = []  # the flows of the running epoch
        self._dropped: list[ObservedFlow] = []  # flows that this service lost during it
        self._warm_at = math.inf
        self._load_monitor = LoadMonitor(progress)
        self._events: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._channel_key = Secret(secrets.token_hex(32))
        self._channel = ChannelServer(
            self._channel_key,
            partial(self._queue, self._on_receipts),
            config.channel_host or spark.driver_host,
            config.channel_port,
            on_done=partial(self._queue, self._on_done),
            on_gone=partial(self._queue, self._on_gone),
            on_reports=partial(self._queue, self._on_reports),
        )

    def new_query(self, session: Any) -> CopyQuery:
        """A query that runs the epochs from now on."""
        copy = Copy(
            driver=self._channel.address,
            channel_key=self._channel_key,
            seal_key=new_key(),
            patience_seconds=self._config.once_timeout_seconds,
        )
        returned = partial(self._queue, self._on_returned)
        self._query = CopyQuery(session, self._spark.slots, copy, returned)
        return self._query

    def start_query(self) -> None:
        assert self._query is not None
        self._query.start(once=self._once)
        self._warm_at = time.monotonic() + _WARM_SECONDS

    def drop_query(self) -> None:
        self._query = None

    def close(self) -> None:
        self._channel.close()

    def attend(self, seconds: float) -> None:
        """Process queued events for this long."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            try:
                handle = self._events.get(timeout=left)
            except queue.Empty:
                return
            handle()

    def _queue(self, handle: Callable[..., None], *news: Any) -> None:
        """Called by other threads: have the driver's thread call `handle(*news)`."""
        self._events.put(partial(handle, *news))

    # ── begin and end ────────────────────────────────────────────────────────────────────────

    def begin(self) -> bool:
        """Plan and start the next epoch; false if there is no partition to copy yet."""
        flows = self._leased = self._worker.flows
        self._worker.release(flows)
        for flow in flows:
            flow.take_change()  # the plan takes it into account
        tasks = plan_epoch([flow.view() for flow in flows], self._spark.slots)
        leases = sum(len(task) for task in tasks)
        if not leases:
            return False
        self._number += 1
        self.running = EpochRun(
            number=self._number, tasks=tasks, started=time.monotonic(), rates=_rates(flows)
        )
        self._progress.begin(self._number, tasks)
        self._channel.open_epoch(self._number)
        used = sum(1 for task in tasks if task)
        self._tell(self._number, _shares(leases, used))
        assert self._query is not None
        setups = self._setups.pack(self._worker.setups(flows))
        self._query.add(self._number, tasks, setups, self._producers(tasks))
        return True

    def begin_or_warm_up(self) -> None:
        """Begin an epoch or, while there is nothing to copy, start the workers once: with an epoch without
        leases, so that they are ready when there is."""
        if not self.begin() and time.monotonic() > self._warm_at:
            self._warm_at = math.inf
            assert self._query is not None
            self._query.add(0, [])

    def end(self, why: str) -> None:
        run = self.running
        if run is None or run.ending:
            return
        run.ending = True
        self._progress.pausing()
        self._tell(run.number, f"ending ({why})")
        self._channel.end_epoch(run.number)

    def await_end(self) -> None:
        """End the running epoch, if there is one, and wait for its receipts."""
        deadline = time.monotonic() + STOP_SECONDS
        while self.running is not None:
            self.end("stop")
            self.attend(TICK_SECONDS)
            if time.monotonic() > deadline:
                log.error("the tasks did not return within %.1f s; stopping them", STOP_SECONDS)
                return

    def give_up(self) -> None:
        """After a failure of the query: when this returns, no task copies under the epoch's leases."""
        self.running = None
        self._progress.pausing()
        self._channel.withdraw(self._number, STOP_SECONDS, self._stop.is_set)

    def _tell(self, epoch: int, what: str) -> None:
        log.info("epoch %d: %s", epoch, what)
        self._problems.events.add(EventKind.EPOCH, f"epoch {epoch}", what)

    def _producers(self, tasks: list[list[Lease]]) -> list[dict[str, ProducerIdentity]]:
        """By task, the producer identities of exactly-once flows in this epoch."""
        try:
            return task_producers(
                tasks, [(flow.config.name, flow.fencing) for flow in self._leased]
            )
        except (ClientError, Fenced) as e:
            raise QueryFailed(f"epoch {self._number}: {e}") from e

    # ── events of tasks and Spark ────────────────────────────────────────────────────────────

    def _on_receipts(self, epoch: int, receipts: list[Receipt]) -> None:
        run = self.running
        if run is None or epoch != run.number or not self._progress.update(epoch, receipts):
            return  # of an epoch that was given up
        run.report(receipts)
        self._worker.learn(receipts)
        for flow in self._leased:
            self._problems.update(copy_area(flow), {})

    def _on_reports(self, epoch: int, task: int, reports: list[TaskReport]) -> None:
        run = self.running
        if run is None or epoch != run.number:
            return
        self._progress.tasks.update(task, reports)
        for report in reports:
            share = run.new_share(task, report, time.monotonic())
            if share is not None:
                self._channel.set_share(epoch, task, report.flow, share)

    def _on_done(self, epoch: int, task: int) -> None:
        if self.running is not None and epoch == self.running.number:
            self.running.finish(task)
            self._settle_if_over(self.running)

    def _on_gone(self, epoch: int, task: int) -> None:
        """A task's connection ended before it was done. The other tasks end and free their cores: if Spark
        runs the task again, that attempt is refused, which makes the query fail."""
        run = self.running
        if run is not None and epoch == run.number and not self._once and not self._stop.is_set():
            self.end(f"lost task {task}")

    def _on_returned(self, epoch: int) -> None:
        """All tasks of an epoch have returned to Spark."""
        if self.running is not None and epoch == self.running.number:
            self.running.end(time.monotonic())
            self._settle_if_over(self.running)

    def _settle_if_over(self, run: EpochRun) -> None:
        """The next epoch starts from the receipts of this one."""
        if not run.over:
            return
        self.running = None
        self._progress.settle(run.receipts())
        for flow in self._leased:
            flow.settle(run.receipts(flow.config.name))
        self._forget_dropped()
        if not self._once and not self._stop.is_set():
            self.begin()

    def require_last_receipts(self) -> None:
        """A task that returned without being done has lost its connection: its last position is unknown."""
        run = self.running
        if run is None or run.returned_at is None:
            return
        if time.monotonic() > run.returned_at + _LAST_RECEIPTS_SECONDS:
            raise QueryFailed(
                f"epoch {run.number}: no last receipts of tasks {', '.join(map(str, run.silent))} within "
                f"{_LAST_RECEIPTS_SECONDS:.0f} s of their end"
            )

    def _forget_dropped(self) -> None:
        """If this service leads these flows again, another may have run them in between, and they may have
        been observed before the tasks of the previous term had ended."""
        names = {flow.config.name for flow in self._dropped}
        self._dropped = []
        for flow in self._worker.last_flows:
            if flow.config.name in names:
                flow.forget()

    # ── why an epoch ends ────────────────────────────────────────────────────────────────────

    def end_if_outdated(self, run: EpochRun) -> None:
        if time.monotonic() - run.started > self._config.epoch_seconds:
            self.end("epoch.seconds reached")
        if why := self._load_monitor.look(self._leased, run.tasks):
            self.end(why)
        if self._setups.outdated():
            self.end("a key or certificate file has changed")

    def follow_flows(self) -> None:
        """End the epoch for flows that have changed, were added or are to stop."""
        flows, leaving = self._worker.flows, self._worker.leaving
        for flow in flows:
            if change := flow.take_change():
                self.end(change)
        for flow in leaving:
            if flow in self._leased:
                self.end(f"flow {flow.config.name} stops or changes")
        self._worker.release(self._leased)
        self._drop_lost([*flows, *leaving])
        if any(flow.observed and flow not in self._leased for flow in flows):
            self.end("this service runs another flow")

    def _drop_lost(self, led: list[ObservedFlow]) -> None:
        """End flows that another service may run now, at once and without a pause for the others."""
        lost = [flow for flow in self._leased if flow not in led]
        for flow in lost:
            name = flow.config.name
            self._tell(self._number, f"ending for flow {name} (no longer run by this service)")
            self._channel.end_epoch(self._number, name)
            self._progress.leave(name, "no longer run by this service")
            self._leased.remove(flow)
            self._dropped.append(flow)
        if lost and not self._leased:
            self.end("this service runs no flow")


def _shares(partitions: int, tasks: int) -> str:
    """Tasks of Spark, of which a connector may have another number in its status."""
    return f"{counted(partitions, 'partition')} in {counted(tasks, 'Spark task')}"


def copy_area(flow: ObservedFlow) -> str:
    """Where `Problems` has those of a flow's copy."""
    return f"flow {flow.config.name}: copy"


def _rates(flows: Sequence[ObservedFlow]) -> dict[str, float]:
    """Bytes per second of those that are throttled."""
    found = {flow.config.name: flow.config.limits.bytes_per_second for flow in flows}
    return {name: float(rate) for name, rate in found.items() if rate}
