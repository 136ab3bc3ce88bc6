"""What the next task of a partition has to know: after a crash, and where an epoch ends in order.

Derived from the partition's state, which only `copy/partition.py` changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heliograph.model import AckedOffsets, ProducerSnapshot

if TYPE_CHECKING:
    from heliograph.copy.partition import Partition


def snapshot_of(partition: Partition) -> ProducerSnapshot | None:
    """The position that a successor may resume from."""
    numbers, remote = partition.numbers, partition.remote
    if remote.lost_from is not None:
        return remote.before_loss
    if numbers.identity is None or numbers.skip:
        return numbers.base
    return ProducerSnapshot(
        upstream=partition.acked,
        downstream=remote.downstream,
        sequence=numbers.sequence,
        identity=numbers.identity,
        stored=partition.offset.possible,
        isolation=partition.isolation,
        mark=partition.source_mark,
    )


def handover(partition: Partition) -> ProducerSnapshot | None:
    """Where the next task resumes after an epoch that ends in order. While the producer id has changed, and
    no snapshot in the state topic names the new one yet: the position, under the next epoch of the last
    producer id, so that brokers refuse late batches of it."""
    snapshot, numbers = partition.snapshot, partition.numbers
    if snapshot is not None and numbers.named:
        return snapshot
    last = numbers.identity or numbers.retired
    if last is None:
        return None
    remote = partition.remote
    return ProducerSnapshot(
        upstream=partition.acked,
        downstream=max(remote.floor, remote.downstream),
        sequence=0,
        identity=last,
        stored=partition.offset.possible,
        isolation=partition.isolation,
        mark=partition.source_mark,
        retired=True,
    )


def acked_offsets(partition: Partition) -> AckedOffsets | None:
    """How long the target's log was, and which of its records is our newest; only under exactly once."""
    if not partition.transactional:
        return None
    remote = partition.remote
    epoch = -1 if remote.leader_epoch is None else remote.leader_epoch
    length = max(remote.floor, remote.downstream - remote.markers)
    return AckedOffsets(partition.acked, length, remote.last, epoch)
