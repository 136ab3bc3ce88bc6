"""At least once in a lane: acknowledged batches count as mirrored, and offsets are stored after them.

The task's producer numbers all records, so that a request that is sent again appends nothing twice. A
successor starts at the stored offset: after a crash, the records of up to `offset.flush.interval.ms` are
written once more.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection

from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.copy.bookkeeping.offset_pace import OffsetsBehind
from heliograph.copy.delivery import MESSAGE_TOO_LARGE, LoopParts
from heliograph.copy.lane.outlet import Outlet
from heliograph.copy.lane.partition import LaneBatch
from heliograph.copy.lane.target_events import LaneTarget
from heliograph.copy.partition import Partition
from heliograph.copy.state.remote_log import Foreign
from heliograph.errors import BrokerError
from heliograph.model import TopicPartition

log = logging.getLogger(__name__)

_WHOLE_SECONDS = 1.5


class LaneAtLeastOnce:
    def __init__(self, parts: LoopParts, outlet: Outlet, target: LaneTarget) -> None:
        self._parts = parts
        self._outlet = outlet
        self._target = target
        self._pace = OffsetsBehind(parts, self.send, self.mark)

    def recover(self, copies: Collection[Partition]) -> list[Partition]:
        """The position is known: nothing of the target is read."""
        self._outlet.learn_again()
        return list(copies)

    def send(self) -> None:
        self._parts.producers.send(self._parts.reach)

    def wait_seconds(self, now: float, most: float) -> float:
        return most

    def acknowledged(
        self, partition: TopicPartition, batch: ProducerBatch, base_offset: int
    ) -> None:
        if isinstance(batch, LaneBatch):
            self._target.takes(partition)
            self._parts.mirrored(partition, batch, base_offset)
        else:
            self._parts.offsets.acknowledged(batch)

    def refused(self, partition: TopicPartition, error: BrokerError) -> None:
        """The queue was dropped: its partitions fetch what was in it again. What they have sent to other
        partitions meanwhile is written twice."""
        copies = self._outlet.writers(partition)
        if not copies:
            log.error("flow %s: offsets cannot be stored: %s", self._parts.flow.name, error)
        too_large = error.code == MESSAGE_TOO_LARGE
        learned = too_large and self._outlet.learn_most(partition.topic)
        for copy in copies:
            copy.refused(in_doubt=not too_large)
            if not learned:
                flow = self._parts.flow.name
                self._parts.subscription.fail(copy, f"{flow}: {copy.source}: {error}")
            self._parts.subscription.obey(copy)

    def foreign(self, copy: Partition, foreign: Foreign) -> None:
        """Not looked for: a lane may share its remote topics."""

    def tick(self, now: float) -> None:
        self._pace.tick(now)

    def mark(self) -> None:
        self._parts.syncs.flush()
        self._parts.offsets.mark(self._parts.copies.values())

    def finish(self) -> None:
        """What is queued is sent if that takes no long time: of a span that is only half written, all of it
        would be written again."""
        producers = self._parts.producers
        producers.drain(self.send, time.monotonic() + _WHOLE_SECONDS)
        producers.records.abandon(self._outlet.partitions)
        self._pace.finish()
        self._pace.give_up_unless_idle()
