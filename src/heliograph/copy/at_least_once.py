"""Delivery in the default mode: acknowledged batches count as mirrored, and offsets are stored after them.

Offsets are stored every `offset.flush.interval.ms`. Brokers recognise a batch that is sent again by its
sequence number, also after a crash (`producer_recovery.py`).
"""

from __future__ import annotations

import logging
from collections.abc import Collection

from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.client.produce.producer import IDENTITY_ERRORS
from heliograph.copy.bookkeeping.offset_pace import OffsetsBehind
from heliograph.copy.delivery import MESSAGE_TOO_LARGE, SIDE_SECONDS, LoopParts
from heliograph.copy.foreign_writers import note_foreign_records
from heliograph.copy.partition import Partition
from heliograph.copy.state.remote_log import Foreign
from heliograph.errors import BrokerError
from heliograph.model import TopicPartition

log = logging.getLogger(__name__)


class AtLeastOnce:
    def __init__(self, parts: LoopParts) -> None:
        self._parts = parts
        self._flow = parts.flow
        self._pace = OffsetsBehind(parts, self.send, self.mark)

    def recover(self, copies: Collection[Partition]) -> list[Partition]:
        return self._parts.recovery.resume_producers(copies)

    def send(self) -> None:
        self._parts.producers.send(self._parts.reach)

    def wait_seconds(self, now: float, most: float) -> float:
        return most

    def acknowledged(
        self, partition: TopicPartition, batch: ProducerBatch, base_offset: int
    ) -> None:
        if partition in self._parts.copies or partition.topic in self._parts.quarantine.topics:
            self._parts.mirrored(partition, batch, base_offset)
        else:
            self._parts.offsets.acknowledged(batch)

    def refused(self, partition: TopicPartition, error: BrokerError) -> None:
        copy = self._parts.copies.get(partition)
        if copy is None:
            self._internal_topic_refused(partition, error)
            return
        subscription = self._parts.subscription
        copy.refused()
        if error.code in IDENTITY_ERRORS:
            self._parts.recovery.refused(copy, error)
        elif error.code != MESSAGE_TOO_LARGE or not subscription.learn_max_bytes(copy):
            subscription.fail(copy, f"{self._flow.name}: {copy.source}: {error}")
        subscription.obey(copy)

    def _internal_topic_refused(self, partition: TopicPartition, error: BrokerError) -> None:
        if partition.topic not in self._parts.quarantine.topics:
            log.error("flow %s: offsets cannot be stored: %s", self._flow.name, error)
            return
        for copy in self._parts.quarantine.refused():
            self._parts.subscription.fail(
                copy, f"{self._flow.name}: {copy.source}: quarantine: {error}"
            )

    def foreign(self, copy: Partition, foreign: Foreign) -> None:
        note_foreign_records(self._flow.name, copy, len(foreign.gap), foreign.gap.stop)

    def tick(self, now: float) -> None:
        self._parts.snapshots.tick(now, self._parts.copies.values())
        self._pace.tick(now)

    def mark(self) -> None:
        copies = self._parts.copies.values()
        self._parts.syncs.flush()
        self._parts.offsets.mark(copies)
        self._parts.snapshots.write(copies)

    def finish(self) -> None:
        parts = self._parts
        # Keeps what is queued for the offsets topic: `offset.position` already assumes that it is written.
        parts.producers.records.abandon(parts.copies)
        self._pace.finish()
        parts.snapshots.write_now(parts.copies.values(), SIDE_SECONDS)
        self._pace.give_up_unless_idle()
