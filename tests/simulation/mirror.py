"""The mirror under test: what the driver does before a task starts, and the task's real copy loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from heliograph.client.fetch.log_history import look_at_logs
from heliograph.config.mirror_config import FlowConfig, MirrorConfig
from heliograph.copy.loop import CopyLoop
from heliograph.copy.partition import Partition
from heliograph.errors import ClientError, HeliographError
from heliograph.mm2.state_records import PartitionStatus
from heliograph.model import (
    IsolationLevel,
    LeaderEpochMark,
    Lease,
    LogBounds,
    PartitionState,
    TopicPartition,
)
from heliograph.plan.epoch import FlowView, plan_epoch
from heliograph.plan.resume import resumption
from heliograph.plan.topic_outcome import TopicIds
from heliograph.runtime.log_gaps import FlowGaps
from simulation.network import SimulatedClient
from simulation.state_topic import SimulatedBackgroundWriter
from simulation.world import SOURCE, TARGET, World

_IDS = TopicIds(source={SOURCE.topic: "source-id"}, target={TARGET.topic: "target-id"})
_STARTS = 50
_PAUSE_SECONDS = 0.1


class Mirror:
    """One driver and its one task, which end together."""

    def __init__(self, world: World, config: MirrorConfig, flow: FlowConfig) -> None:
        self.isolation = flow.isolation_level
        self._world = world
        self._config = config
        self._flow = flow
        self._link = self._start()

    @property
    def copy(self) -> Partition:
        return self._link._copies[SOURCE]

    @property
    def state(self) -> SimulatedBackgroundWriter:
        writer: object = self._link._state
        assert isinstance(writer, SimulatedBackgroundWriter)
        return writer

    @property
    def sends(self) -> bool:
        """Whether requests are under way to the target."""
        return self._target.busy

    @property
    def settled(self) -> bool:
        """Whether all that the source has is copied, as far as the task knows."""
        copy, source = self.copy, self._world.source
        end = source.end if self.isolation.wire == 0 else source.last_stable
        unclear = copy.outstanding or copy.needs_recovery or copy.remote.lost_from is not None
        return copy.acked == end and not unclear and not self._world.late

    def step(self) -> None:
        """A task that fails is started anew by the driver."""
        if self._link._recovery.names_pending:
            self._world.happened["introduction delayed"] += 1
        try:
            self._link.step()
        except ClientError:
            self._world.clock.sleep(_PAUSE_SECONDS)
        except HeliographError as e:
            self._world.happened["task failed"] += 1
            self._world.note(f"the task fails: {e}")
            self.state.flush()
            self._restart()

    def report(self) -> None:
        """As every second: the driver hears of the task, and notes the mark in the state topic."""
        self._link._receipts.publish()
        self._world.gaps += [gap for each in self._link.receipts() for gap in each.gaps]
        self._world.status_mark = self.copy.source_mark

    def rest(self) -> None:
        """What is written now and then is written now."""
        self._link._delivery.mark()
        self.state.flush()
        self.report()

    def kill(self, pause: float, isolation: IsolationLevel | None = None) -> None:
        """kill -9 for driver and task; the next one may read the source under another isolation level."""
        self._world.note(
            f"KILL; it stood at {self.copy.snapshot}, and starts again after {pause} s"
        )
        if isolation is not None and isolation is not self.isolation:
            self._world.happened["isolation changed"] += 1
            self.isolation = isolation
        self._world.clock.sleep(pause)
        self._restart()

    def _restart(self) -> None:
        acked = self.copy.acked
        self._world.gaps += self.copy.gaps  # said in its log
        self._target.break_off()
        self._link = self._start()
        snapshot = self.copy.lease.snapshot
        if snapshot is not None and snapshot.upstream < self._world.source.start < acked:
            self._world.happened["log start within what has landed"] += 1

    def _start(self) -> CopyLoop:
        for _ in range(_STARTS):
            try:
                return self._try_to_start()
            except ClientError:
                self._world.clock.sleep(_PAUSE_SECONDS)
        raise AssertionError("the mirror cannot start")

    def _try_to_start(self) -> CopyLoop:
        source = self._client("source")
        lease = self._lease(source)
        self._target = self._client("target")
        link = CopyLoop(
            replace(self._flow, isolation_level=self.isolation),
            [lease],
            source=source,
            target=self._target,
            probe_client=self._client("target"),
            stopped=lambda: False,
        )
        link.begin()
        return link

    def _client(self, side: str) -> SimulatedClient:
        alias = self._flow.source if side == "source" else self._flow.target
        return SimulatedClient(self._world, self._config.cluster(alias), side)

    def _lease(self, source: SimulatedClient) -> Lease:
        """As `ObservedFlow` does it."""
        world, gaps = self._world, FlowGaps(self._flow)
        found = resumption(world.stored, world.snapshot(), TARGET.topic)
        position = world.source.start if found.start is None else found.start
        snapshots = {} if found.snapshot is None else {SOURCE: found.snapshot}
        unstored = {SOURCE} if snapshots and position != world.stored else set()
        gaps.load({SOURCE: self._status(position)}, {})
        gaps.resume(snapshots)
        moved = self._moved(gaps, source, position)
        if SOURCE in moved:
            position, snapshots, unstored = moved[SOURCE], {}, {SOURCE}
        if found.by_stored:
            world.obeyed.append(position)
        world.gaps += [record.last for record in gaps.records()]
        view = FlowView(
            flow=self._flow,
            positions={SOURCE: position},
            unstored=frozenset(unstored),
            stored={} if world.stored is None else {SOURCE: world.stored},
            snapshots=snapshots,
            lineages=gaps.lineages(),
        )
        ((lease,),) = plan_epoch([view], 1)
        world.note(f"START at {position}, stored {world.stored}, snapshot {lease.snapshot}")
        return lease

    def _status(self, position: int) -> PartitionStatus:
        return PartitionStatus(
            topic=SOURCE.topic,
            partition=0,
            flow=self._flow.name,
            position=position,
            source_end=-1,
            copied_ms=-1,
            state=PartitionState.RUNNING,
            mark=self._world.status_mark,
        )

    def _moved(
        self, gaps: FlowGaps, source: SimulatedClient, position: int
    ) -> dict[TopicPartition, int]:
        def logs(
            marks: Mapping[TopicPartition, LeaderEpochMark | None],
        ) -> Mapping[TopicPartition, LogBounds]:
            found, missing = look_at_logs(source, marks)
            if missing:
                raise ClientError(str(missing))  # the driver would look again, and the task too
            return found

        past = [SOURCE] if position > self._world.source.end else []
        moved = gaps.look(
            _IDS, {SOURCE: position}, [SOURCE], wanted=lambda _: True, past_end=past, logs=logs
        )
        gaps.moved(moved)
        return {partition: at for partition, at in moved.items() if at is not None}
