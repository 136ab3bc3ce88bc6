"""Delivery in the default mode: acknowledged batches count as mirrored, and offsets are stored after them.

Offsets are stored every `offset.flush.interval.ms`. Brokers recognise a batch that is sent again by its
sequence number, also after a crash (`producer_recovery.py`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection

from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.client.produce.producer import IDENTITY_ERRORS
from heliograph.copy.delivery import MESSAGE_TOO_LARGE, SIDE_SECONDS, LoopParts
from heliograph.copy.foreign_writers import note_foreign_records
from heliograph.copy.partition import Partition
from heliograph.copy.state.remote_log import Foreign
from heliograph.errors import BrokerError
from heliograph.model import TopicPartition

log = logging.getLogger(__name__)

#: How long the end of an epoch waits for acknowledgements, and again for the offsets to be stored.
_DRAIN_SECONDS = 3.0


class AtLeastOnce:
    def __init__(self, parts: LoopParts) -> None:
        self._parts = parts
        self._flow = parts.flow
        self._next_flush = time.monotonic() + parts.flush_delay()

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
        if now >= self._next_flush:
            self._next_flush = now + self._flow.offset_flush_interval_ms / 1000
            self.mark()
        if self._parts.offsets.marked and self._parts.state.settled:
            self._store()

    def mark(self) -> None:
        copies = self._parts.copies.values()
        self._parts.syncs.flush()
        self._parts.offsets.mark(copies)
        self._parts.snapshots.write(copies)

    def _store(self) -> None:
        self._parts.reach(self._parts.producers.offsets.cluster, self._parts.offsets.store)

    def finish(self) -> None:
        parts = self._parts
        # Keeps what is queued for the offsets topic: `offset.position` already assumes that it is written.
        parts.producers.records.abandon(parts.copies)
        self._drain()
        parts.require_leases()
        self.mark()
        parts.state.wait_idle(SIDE_SECONDS)
        parts.require_leases()
        if parts.state.settled:
            self._store()
        self._drain()
        parts.snapshots.write_now(parts.copies.values(), SIDE_SECONDS)
        if not parts.producers.idle:
            self._give_up()

    def _drain(self) -> None:
        self._parts.producers.drain(self.send, time.monotonic() + _DRAIN_SECONDS)

    def _give_up(self) -> None:
        log.error(
            "flow %s: the target did not acknowledge within %.0f s; the last offsets are not stored, and "
            "records after the stored offsets may be copied again",
            self._flow.name,
            _DRAIN_SECONDS,
        )
        for copy in self._parts.copies.values():
            copy.store(None)
        for connection in self._parts.producers.connections():
            connection.forget()
