"""Records that the target does not take: their coordinates go to the quarantine topic, in order.

    everything before it acknowledged ──► its coordinates acknowledged ──► the partition goes on behind it

So the position never passes a record that stands neither on the target nor in quarantine. A crash in
between writes the same key once more.
"""

from __future__ import annotations

import logging
import time
from collections import deque

from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.client.produce.producer import Producer
from heliograph.config.mirror_config import FlowConfig
from heliograph.copy.partition import Partition
from heliograph.mm2.quarantine import Quarantined
from heliograph.model import TopicPartition
from heliograph.records.decode import Record
from heliograph.records.encode import encode

log = logging.getLogger(__name__)


class Quarantine:
    """Of one copy loop. A partition is held from the moment its records are too large until they are away."""

    def __init__(self, flow: FlowConfig) -> None:
        self._flow = flow
        self.enabled = flow.quarantine is not None
        self.topics = frozenset({flow.quarantine.name} if flow.quarantine is not None else ())
        self._under_way: deque[Partition] = deque()

    def write(self, copy: Partition, producer: Producer) -> None:
        """Write the coordinates of what is held."""
        assert copy.held is not None
        now_ms = int(time.time() * 1000)
        entries = [
            Quarantined(
                flow=self._flow.name,
                source=copy.source,
                target_topic=copy.target.topic,
                record=record,
            )
            for record in copy.held.records
        ]
        batch = encode([Record(timestamp=now_ms, key=e.key(), value=e.value()) for e in entries])
        (topic,) = self.topics
        copy.quarantine()
        self._under_way.append(copy)
        producer.append(
            TopicPartition(topic, 0), ProducerBatch(memoryview(batch), len(entries), -1, -1)
        )

    def acknowledged(self) -> Partition:
        """The coordinates that were sent first are there: their partition, which stands behind them now."""
        copy = self._under_way.popleft()
        held = copy.pass_held()
        (topic,) = self.topics
        for record in held.records if held is not None else ():
            log.error(
                "%s: %s: the record at source offset %d is not mirrored: it %s; its coordinates are in %s",
                self._flow.name,
                copy.source,
                record.offset,
                record.reason,
                topic,
            )
        return copy

    def refused(self) -> list[Partition]:
        """None of the coordinates under way will be there: their partitions have to start over."""
        copies = list(self._under_way)
        self._under_way.clear()
        for copy in copies:
            copy.refuse_held()
        return copies

    def clear(self) -> None:
        """All partitions go back, and nothing is under way any more."""
        self._under_way.clear()

    def waiting(self) -> list[Partition]:
        return list(self._under_way)
