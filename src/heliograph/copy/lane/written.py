"""What a transaction of a lane has written: whole spans, to any number of remote partitions."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.client.produce.producer import Producer
from heliograph.copy.bookkeeping.written import Committed
from heliograph.copy.lane.outlet import Outlet
from heliograph.copy.lane.partition import LaneBatch, LanePartition
from heliograph.copy.lane.target_events import LaneTarget
from heliograph.copy.partition import Partition
from heliograph.mm2.connect.offset_records import Logs
from heliograph.model import TopicPartition

_NOTHING = memoryview(b"")


class LaneWritten:
    """Law: what is committed, and the offsets stored with it, end at the same span of each partition. So the
    outlet is closed first, and then everything that left it has to be acknowledged."""

    def __init__(
        self,
        copies: Sequence[LanePartition],
        producer: Producer,
        outlet: Outlet,
        target: LaneTarget,
    ) -> None:
        self.newest = time.monotonic()
        self._copies = copies
        self._producer = producer
        self._outlet = outlet
        self._target = target
        self._landed: list[tuple[TopicPartition, LaneBatch, int]] = []

    def landed(
        self, partition: TopicPartition, batch: ProducerBatch, base_offset: int
    ) -> str | None:
        if isinstance(batch, LaneBatch):
            batch.data = _NOTHING  # frees its memory
            batch.owner.sent(batch)
            self._landed.append((partition, batch, base_offset))
            self.newest = time.monotonic()
            self._target.takes(partition)
        return None

    def copies(self) -> Sequence[Partition]:
        return self._copies

    def owners(self, partition: TopicPartition) -> Sequence[Partition]:
        return self._outlet.writers(partition)

    def hold(self) -> None:
        self._outlet.close()

    def settled(self) -> bool:
        return self._producer.idle

    def stored(self) -> bool:
        return self._producer.idle

    def doubt(self) -> str | None:
        return None

    def positions(self) -> dict[Partition, int]:
        """With records also the offset that is stored already: after a truncation of the source it has
        another leader epoch mark."""
        writing = {batch.owner for _, batch, _ in self._landed}
        ends = {copy: copy.committing for copy in self._copies}
        return {
            copy: end
            for copy, end in ends.items()
            if (end != copy.offset.position or copy in writing) and not copy.needs_recovery
        }

    def logs(self, storing: Mapping[Partition, int]) -> dict[Partition, Logs]:
        return {copy: Logs(mark=copy.source_mark) for copy in storing}

    def commit(self, committed: Committed, marked: set[TopicPartition]) -> None:
        landed, self._landed = self._landed, []
        for partition, batch, base_offset in landed:
            committed(partition, batch, base_offset)

    def abort(self) -> None:
        self._landed = []
