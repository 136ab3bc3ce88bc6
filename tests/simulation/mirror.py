"""The mirror under test: a driver and its task, which may die together or one without the other."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from heliograph.client.produce.transactions import Coordinator, Transaction
from heliograph.config.mirror_config import FlowConfig, MirrorConfig
from heliograph.copy.loop import CopyLoop
from heliograph.copy.partition import Partition
from heliograph.errors import ClientError, Fenced, HeliographError
from heliograph.mm2.connect.transactional_ids import task_transactional_id
from heliograph.model import SILENT_SECONDS, IsolationLevel, Lease, ProducerIdentity, Receipt
from simulation.driver import Driver
from simulation.lane import SomeChain
from simulation.network import SimulatedClient
from simulation.state_topic import SimulatedBackgroundWriter
from simulation.world import SOURCE, World

_OBSERVE_SECONDS = 0.5
_WAIT_SECONDS = 0.1
_COORDINATOR_SECONDS = 5.0


@dataclass(eq=False)
class Task:
    """A real copy loop under one lease, which holds until `lapses_at`. A frozen process does nothing until
    `wakes_at`."""

    loop: CopyLoop
    target: SimulatedClient
    lapses_at: float = math.inf
    wakes_at: float = 0.0

    @property
    def copy(self) -> Partition:
        return self.loop._copies[SOURCE]

    @property
    def state(self) -> SimulatedBackgroundWriter:
        writer: object = self.loop._state
        assert isinstance(writer, SimulatedBackgroundWriter)
        return writer

    def receipts(self) -> list[Receipt]:
        self.loop._receipts.publish()
        return self.loop.receipts()

    def end(self) -> list[Receipt]:
        """As `CopyLoop.run` does it when the epoch ends."""
        self.loop._finish()
        self.state.flush()
        self.loop._receipts.ended = True
        return self.receipts()


class Mirror:
    """One driver and its task; beside them, tasks that have lost their driver, and do not know it yet."""

    def __init__(self, world: World, config: MirrorConfig, flow: FlowConfig) -> None:
        self.isolation = flow.isolation_level
        self.task: Task | None = None
        self.zombies: list[Task] = []
        self._world = world
        self._config = config
        self._flow = flow
        self._driver: Driver | None = None
        self._next_start = 0.0
        self._reached = 0  # by the last task

    @property
    def idle(self) -> bool:
        """Whether all that the source has is copied, and nothing is under way."""
        if self.task is None or self.zombies:
            return False
        copy = self.task.copy
        return (
            copy.acked >= self._world.source.end
            and not copy.outstanding
            and not self.task.target.busy
        )

    @property
    def settled(self) -> bool:
        """Whether all that the source has is copied, as far as the task knows; and it knows of the source's
        newest leader, whose log may differ from the one that was read."""
        if self.task is None or self.zombies or self._world.late:
            return False
        copy, source = self.task.copy, self._world.source
        end = source.end if self.isolation.wire == 0 else source.last_stable
        unclear = copy.outstanding or copy.remote.lost_from is not None
        led_by = self.task.loop._source.metadata.leader_epochs[SOURCE]
        return (
            copy.acked == end
            and not (unclear or copy.needs_recovery or copy.needs_check)
            and led_by == source.epoch
        )

    def __str__(self) -> str:
        if self.task is None:
            return "no task"
        copy = self.task.copy
        return f"{copy.acked} of {self._world.source.end}: {copy.state}, {copy.error}"

    # ── what it does ─────────────────────────────────────────────────────────────────────────

    def step(self) -> None:
        for zombie in list(self.zombies):
            self._step_zombie(zombie)
        if self.task is None:
            self._start_task()
            return
        if self.task.loop._recovery.names_pending:
            self._world.happened["introduction delayed"] += 1
        try:
            self.task.loop.step()
        except HeliographError as e:
            self._fail(self.task, e)

    def flush(self) -> None:
        """State that waits is written."""
        for task in (*self.zombies, *self._tasks()):
            task.state.flush()

    def report(self) -> None:
        """As every second: the driver hears of its task."""
        if self.task is not None and self._driver is not None:
            self._driver.hear(self.task.receipts())

    def rest(self) -> None:
        """What is written now and then is written now."""
        assert self.task is not None
        self.task.loop._delivery.mark()
        self.flush()
        self.report()

    def end_epoch(self) -> None:
        """The task ends in order, and is leased anew."""
        if self.task is None or self._driver is None:
            return
        task = self.task
        try:
            receipts = task.end()
        except HeliographError as e:
            self._fail(task, e)
            return
        self._world.note("the epoch ends")
        self._driver.hear(receipts)
        self._driver.settle(receipts)
        self._leave(task)

    def _step_zombie(self, zombie: Task) -> None:
        """It looks at its lease before each step: one that was frozen right behind that look still sends what
        was ready to be sent."""
        if self._world.clock.now < zombie.wakes_at:
            return
        before = self._world.target.end
        try:
            zombie.loop.step()
        except HeliographError as e:
            self._world.note(f"the task without a driver fails: {e}")
            zombie.lapses_at = 0.0
        self._world.happened["records of a task without a driver"] += (
            self._world.target.end - before
        )
        if self._world.clock.now >= zombie.lapses_at:
            self._world.note("a task finds its leases lapsed")
            self.zombies.remove(zombie)
            zombie.target.break_off()

    def _fail(self, task: Task, error: HeliographError) -> None:
        """The task ends with an error: the driver looks at both clusters, and leases anew."""
        self._world.happened["task failed"] += 1
        self._world.note(f"the task fails: {error}")
        task.state.flush()
        self.report()
        self._leave(task)
        if self._driver is not None:
            self._driver.forget()

    # ── what happens to it ───────────────────────────────────────────────────────────────────

    def kill(self, pause: float, isolation: IsolationLevel | None = None) -> None:
        """kill -9 for driver and task; the next one may read the source under another isolation level."""
        self._world.note(f"KILL of driver and task, for {pause} s; {self._place()}")
        if isolation is not None and isolation is not self.isolation:
            self._world.happened["isolation changed"] += 1
            self.isolation = isolation
        for task in self._tasks():
            self._leave(task)
        self._driver = None
        self._world.clock.sleep(pause)

    def kill_task(self, pause: float) -> None:
        """Its driver lives, waits until the task is gone, and leases anew by what is on the clusters."""
        if self._driver is None or self.task is None:
            return
        self._world.note(f"KILL of the task, for {pause} s; {self._place()}")
        self._leave(self.task)
        self._driver.forget()
        self._world.clock.sleep(pause)

    def kill_driver(self, lives_on: float) -> None:
        """Its task lives on until the leases lapse; the next driver leads when the session of this one is
        over."""
        if self.task is not None:
            self._world.note(
                f"KILL of the driver, task lives for {lives_on:.2f} s; {self._place()}"
            )
            self.task.lapses_at = self._world.clock.now + lives_on
            self._lose_sight_of(self.task)
        self._driver = None

    def freeze_task(self, seconds: float) -> None:
        """Its process stands still; the driver waits until the leases have lapsed, and leases anew."""
        if self._driver is None or self.task is None:
            return
        self._world.note(f"FREEZE of the task, for {seconds} s; {self._place()}")
        self.task.lapses_at = self._world.clock.now
        self.task.wakes_at = self._world.clock.now + seconds
        self.task.target.frozen = self._world.moment()
        self._lose_sight_of(self.task)
        self._driver.forget()

    def lose_connections(self, node: int) -> None:
        """Of the target: this broker goes away."""
        for task in (*self.zombies, *self._tasks()):
            task.target.lose_connection(node)

    def _lose_sight_of(self, task: Task) -> None:
        self.zombies.append(task)
        self.task = None
        self._next_start = self._world.clock.now + SILENT_SECONDS

    def _place(self) -> str:
        return "it had no task" if self.task is None else f"it stood at {self.task.copy.snapshot}"

    def _tasks(self) -> list[Task]:
        return [] if self.task is None else [self.task]

    def _leave(self, task: Task) -> None:
        self.task, self._reached = None, task.copy.acked
        task.target.break_off()

    # ── starting ─────────────────────────────────────────────────────────────────────────────

    def _start_task(self) -> None:
        """Once a second or so: the driver observes until it worked, and leases the partition."""
        if self._world.clock.now < self._next_start:
            self._world.clock.sleep(_WAIT_SECONDS)
            return
        if self._driver is None:
            flow = replace(self._flow, isolation_level=self.isolation)
            self._driver = Driver(self._world, self._config, flow)
        try:
            lease = self._driver.lease()
            self.task = self._new_task(self._driver.flow, lease, self._driver.identity(lease))
        except (ClientError, Fenced) as e:
            self._world.note(f"not started: {e}")
            self._world.clock.sleep(_OBSERVE_SECONDS)
            return
        snapshot, start = self.task.copy.lease.snapshot, self._world.source.start
        if snapshot is not None and snapshot.upstream < start < self._reached:
            self._world.happened["log start within what has landed"] += 1
        try:
            self.task.loop.begin()
        except HeliographError as e:
            self._fail(self.task, e)

    def _new_task(self, flow: FlowConfig, lease: Lease, identity: ProducerIdentity | None) -> Task:
        target = self._client("target")
        transaction = None
        if flow.exactly_once is not None and identity is not None:
            coordinator = Coordinator(
                self._client("target"),
                task_transactional_id(flow.group_id, flow.connector_name, 0),
                timeout_ms=flow.exactly_once.timeout_ms,
                patience=_COORDINATOR_SECONDS,
            )
            transaction = Transaction(coordinator, identity)
        loop = CopyLoop(
            flow,
            [lease],
            source=self._client("source"),
            target=target,
            probe_client=self._client("target"),
            stopped=lambda: False,
            lapsed=lambda: self._world.clock.now >= task.lapses_at,
            transaction=transaction,
            chain=None if flow.lane is None else SomeChain(),
        )
        task = Task(loop, target)
        return task

    def _client(self, side: str) -> SimulatedClient:
        alias = self._flow.source if side == "source" else self._flow.target
        return SimulatedClient(self._world, self._config.cluster(alias), side)
