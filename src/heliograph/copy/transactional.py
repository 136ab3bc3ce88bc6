"""Delivery exactly once: batches count as mirrored when their transaction is committed (`commits.py`).

The position of a partition is its stored offset, since both are committed together; the target need not be
read. The exception is a predecessor that mirrored at least once: its snapshot shows that the target has more
records than the stored offset says.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial

from heliograph.client.net.backoff import Backoff
from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.client.produce.transactions import Transaction
from heliograph.copy.bookkeeping.offset_pace import OffsetsWithin
from heliograph.copy.bookkeeping.written import RecordsWritten
from heliograph.copy.commits import Commits
from heliograph.copy.committed_log import CommittedLog
from heliograph.copy.delivery import MESSAGE_TOO_LARGE, LoopParts
from heliograph.copy.foreign_writers import ForeignWriterDetector, note_foreign_records
from heliograph.copy.partition import Partition
from heliograph.copy.state.remote_log import Foreign
from heliograph.errors import BrokerError, ClientError
from heliograph.model import TopicPartition


class Transactional:
    def __init__(self, parts: LoopParts, transaction: Transaction) -> None:
        self._parts = parts
        self._flow = parts.flow
        self._transaction = transaction
        self._producer = parts.producers.records
        self._offsets_backoff = Backoff(first=0.5, most=30.0)
        self._log = CommittedLog(
            parts.flow.name,
            target=parts.target,
            probe_client=parts.probe_client,
            transaction=transaction,
            on_loss=parts.lost,
        )
        self._written = RecordsWritten(
            parts.copies, self._producer, parts.quarantine, self._log.vouch
        )
        self._commits = Commits(
            parts.flow,
            self._written,
            producer=self._producer,
            transaction=transaction,
            offsets=parts.offsets,
            flush_delay=parts.flush_delay(),
            committed=parts.mirrored,
            voided=self._voided,
        )
        self._pace = OffsetsWithin(parts, self._commits, self._offsets_backoff)
        self._detector = ForeignWriterDetector(
            parts.probe_client, partial(note_foreign_records, parts.flow.name)
        )

    def recover(self, copies: Collection[Partition]) -> list[Partition]:
        self._transaction.start()
        resuming = [copy for copy in copies if copy.numbers.base is not None]
        ready = self._parts.recovery.skip_landed(resuming)
        return [*ready, *self._log.recover([c for c in copies if c.numbers.base is None])]

    def send(self) -> None:
        reach = self._parts.reach
        self._commits.step(lambda action: reach(self._parts.target, action))
        if self._commits.sends:
            self._parts.producers.send(reach)

    def wait_seconds(self, now: float, most: float) -> float:
        return self._commits.wait_seconds(now, most)

    def acknowledged(
        self, partition: TopicPartition, batch: ProducerBatch, base_offset: int
    ) -> None:
        cause = self._written.landed(partition, batch, base_offset)
        if cause is not None:
            self._commits.void(cause)

    def refused(self, partition: TopicPartition, error: BrokerError) -> None:
        self._commits.refused(partition, error)

    def foreign(self, copy: Partition, foreign: Foreign) -> None:
        self._detector.suspect(copy, foreign)

    def tick(self, now: float) -> None:
        self._parts.snapshots.tick(now, self._parts.copies.values())
        self._pace.tick(now)
        if self._detector.due(now):
            self._detector.look(now)

    def mark(self) -> None:
        self._parts.syncs.flush()

    def finish(self) -> None:
        self._producer.abandon(self._parts.copies)
        self._pace.finish(self.send)

    def _voided(self, cause: str, failures: Mapping[Partition, ClientError]) -> None:
        """All partitions go back to their committed position; those that caused the abort wait first."""
        subscription = self._parts.subscription
        self._parts.quarantine.clear()
        for copy in self._parts.copies.values():
            copy.aborted()
            subscription.obey(copy)
        for copy, error in failures.items():
            too_large = isinstance(error, BrokerError) and error.code == MESSAGE_TOO_LARGE
            if not too_large or not subscription.learn_max_bytes(copy):
                subscription.fail(copy, f"{self._flow.name}: {copy.source}: {error}")
        if not failures:  # the offsets topic or the transaction itself failed
            self._parts.reach.pause(self._parts.target, self._offsets_backoff, cause)
