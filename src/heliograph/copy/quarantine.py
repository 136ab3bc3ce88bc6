"""Writes the coordinates of records that the target rejects to the quarantine topic, in order.

    all records before it acknowledged ──► its coordinates acknowledged ──► the partition continues after it

So the position never passes a record that is neither on the target nor in quarantine. After a crash in
between, the same key is written once more.
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
    """Part of one copy loop. A partition waits from the moment it meets oversize records until their
    coordinates are acknowledged."""

    def __init__(self, flow: FlowConfig) -> None:
        self._flow = flow
        self.enabled = flow.quarantine is not None
        self.topics = frozenset({flow.quarantine.name} if flow.quarantine is not None else ())
        self._in_flight: deque[Partition] = deque()

    def write(self, copy: Partition, producer: Producer) -> None:
        """Write the coordinates of the partition's `held` records."""
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
        self._in_flight.append(copy)
        producer.append(
            TopicPartition(topic, 0), ProducerBatch(memoryview(batch), len(entries), -1, -1)
        )

    def acknowledged(self) -> Partition:
        """The coordinates sent first are acknowledged. Returns their partition, which is now after them."""
        copy = self._in_flight.popleft()
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
        """The coordinates in flight were rejected: their partitions fetch the records again."""
        copies = list(self._in_flight)
        self._in_flight.clear()
        for copy in copies:
            copy.refuse_held()
        return copies

    def clear(self) -> None:
        """All partitions go back; nothing is in flight."""
        self._in_flight.clear()

    def waiting(self) -> list[Partition]:
        return list(self._in_flight)
