"""Plans the leases of an epoch and assigns them to tasks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from heliograph.config.mirror_config import FlowConfig
from heliograph.model import Lease, Lineage, ProducerSnapshot, TopicPartition
from heliograph.plan.assignment import Assignable, assign, relief


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowView:
    """The state of one flow when an epoch is planned.

    `positions` are the next upstream offsets; a partition without one is left out. `ends` bounds a run:
    partitions that have reached theirs get no lease. `loads` are bytes over the same time for all
    partitions, as last measured. `unstored`: partitions whose position is not in the offsets topic yet.
    `stored`: the offsets in that topic. `snapshots`: producer snapshots at or below the positions.
    `lineages`: the logs that the positions belong to.
    """

    flow: FlowConfig
    positions: Mapping[TopicPartition, int]
    ends: Mapping[TopicPartition, int] | None = None
    loads: Mapping[TopicPartition, float] = field(default_factory=dict)
    unstored: frozenset[TopicPartition] = frozenset()
    stored: Mapping[TopicPartition, int] = field(default_factory=dict)
    snapshots: Mapping[TopicPartition, ProducerSnapshot] = field(default_factory=dict)
    lineages: Mapping[TopicPartition, Lineage] = field(default_factory=dict)


def plan_epoch(views: Sequence[FlowView], slots: int) -> list[list[Lease]]:
    """The leases of every task slot, balanced by load; a flow uses at most `tasks.max` slots."""
    leases = {_key(lease): lease for view in views for lease in _leases(view)}
    assigned = assign(_items(views, leases), slots, _tasks_max(views))
    return [[leases[key] for key in keys] for keys in assigned]


def gain(views: Sequence[FlowView], running: Sequence[Sequence[Lease]]) -> float:
    """The share of its load that the busiest task would lose with a new epoch, 0 to 1."""
    leases = {_key(lease): lease for task in running for lease in task}
    if not leases:
        return 0.0
    assigned = [[_key(lease) for lease in task] for task in running]
    return relief(_items(views, leases), assigned, _tasks_max(views))


_Key = tuple[str, TopicPartition]


def _key(lease: Lease) -> _Key:
    return lease.flow, TopicPartition(lease.topic, lease.partition)


def _leases(view: FlowView) -> Iterator[Lease]:
    wanted = {}
    for partition, position in sorted(view.positions.items()):
        end = view.ends.get(partition) if view.ends is not None else None
        if view.ends is None or (end is not None and position < end):
            wanted[partition] = (position, end)
    shares = _shares(wanted, view.loads)
    for partition, (position, end) in wanted.items():
        snapshot = view.snapshots.get(partition)
        yield Lease(
            flow=view.flow.name,
            topic=partition.topic,
            partition=partition.partition,
            target_topic=view.flow.target_topic(partition.topic),
            start=position if snapshot is None else snapshot.upstream,
            end=end,
            stored=partition not in view.unstored,
            stored_offset=view.stored.get(partition, -1) or -1,
            snapshot=snapshot,
            lineage=view.lineages.get(partition, Lineage()),
            share=shares[partition],
        )


def _shares(
    partitions: Collection[TopicPartition], loads: Mapping[TopicPartition, float]
) -> dict[TopicPartition, float]:
    """How a throttled flow's rate is divided: one half equally, the other half by load.

    A task's share is the sum of its leases' and holds for the epoch. By load alone, a partition that becomes
    active would get nothing; by number alone, one with all the load would get too little.
    """
    total = sum(loads.get(partition, 0.0) for partition in partitions)
    each = 1 / max(len(partitions), 1)
    return {p: (each + (loads.get(p, 0.0) / total if total else each)) / 2 for p in partitions}


def _items(views: Sequence[FlowView], keys: Iterable[_Key]) -> list[Assignable[_Key]]:
    loads = {view.flow.name: view.loads for view in views}
    return [
        Assignable(key=key, load=loads[key[0]].get(key[1], 0.0), flow=key[0])
        for key in keys
        if key[0] in loads
    ]


def _tasks_max(views: Sequence[FlowView]) -> dict[str, int]:
    return {view.flow.name: view.flow.tasks_max for view in views}
