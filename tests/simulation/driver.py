"""The driver under test: the real `ObservedFlow`, which reads simulated clusters and leases the partition."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

from heliograph.config.mirror_config import FlowConfig, MirrorConfig
from heliograph.errors import ClientError
from heliograph.model import Lease, ProducerIdentity, Receipt
from heliograph.plan.epoch import plan_epoch
from heliograph.plan.topic_outcome import MirroredTopics, TopicIds
from heliograph.runtime.epoch.fencing import Fencing, LeaderSeat, task_producers
from heliograph.runtime.flow.observed_flow import ObservedFlow
from heliograph.sync.state import _partition_status
from simulation.network import SimulatedClient
from simulation.world import SOURCE, TARGET, World

TOPICS = MirroredTopics(
    partitions={SOURCE.topic: 1},
    problems={},
    ids=TopicIds(source={SOURCE.topic: "source-id"}, target={TARGET.topic: "target-id"}),
)


class Driver:
    """Of one flow, from its start until it dies."""

    def __init__(self, world: World, config: MirrorConfig, flow: FlowConfig) -> None:
        self.flow = flow
        self._world = world
        source, target = (
            SimulatedClient(world, config.cluster(alias), side)
            for alias, side in ((flow.source, "source"), (flow.target, "target"))
        )
        guard: Any = SimpleNamespace(look=lambda *_: None, refused=lambda _: {})
        self._fencing = None
        if flow.exactly_once is not None:
            coordinator = SimulatedClient(world, config.cluster(flow.target), "target")
            self._fencing = Fencing(flow, coordinator, LeaderSeat(), slots=1)
        self._flow = ObservedFlow(flow, source, target, guard, self._fencing)

    def identity(self, lease: Lease) -> ProducerIdentity | None:
        """The producer identity of the task that gets the lease; None unless delivery is exactly once."""
        (identities,) = task_producers([[lease]], [(self.flow.name, self._fencing)])
        return identities.get(self.flow.name)

    def lease(self) -> Lease:
        """For the next epoch. Raises ClientError if a cluster does not answer: to be tried again."""
        if not self._flow.observed:
            self._flow.observe(bounded=False)
        ((*leases,),) = plan_epoch([self._flow.view()], 1)
        if not leases:
            raise ClientError("simulated: the partition cannot be leased now")
        (lease,) = leases
        if lease.snapshot is None and lease.stored_offset < 0:
            self._world.begin_at(lease.start)
        self._world.note(f"START at {lease.start}, stored {lease.stored_offset}, {lease.snapshot}")
        return lease

    def hear(self, receipts: Iterable[Receipt]) -> None:
        """As every second; statuses and gaps are written to the state topic."""
        self._flow.gaps.learn(receipts)
        if self._world.clock.now >= self._world.state_away_until:
            origins = self._flow.gaps.origins()
            for status in [_partition_status(each, origins) for each in receipts]:
                self._world.state[status.key()] = status.value()
            for record in self._flow.gaps.records():
                self._world.state[record.key()] = record.value()

    def settle(self, receipts: Iterable[Receipt]) -> None:
        """The task has ended in order: the next epoch starts where it says."""
        self._flow.settle(receipts)

    def forget(self) -> None:
        """The task is gone: what it did last is on the clusters."""
        self._flow.forget()
