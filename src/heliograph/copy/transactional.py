"""Delivery exactly once: batches count as mirrored when their transaction is committed (`commits.py`).

The position of a partition is its stored offset, since both are committed together; the target need not be
read. The exception is a predecessor that mirrored at least once: its snapshot shows that the target has more
records than the stored offset says.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from functools import partial

from heliograph.client.net.backoff import Backoff
from heliograph.client.net.poller import wait
from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.client.produce.transactions import Transaction
from heliograph.copy.bookkeeping.written import RecordsWritten
from heliograph.copy.commits import Commits
from heliograph.copy.committed_log import CommittedLog
from heliograph.copy.delivery import MESSAGE_TOO_LARGE, SIDE_SECONDS, LoopParts
from heliograph.copy.foreign_writers import ForeignWriterDetector, note_foreign_records
from heliograph.copy.partition import Partition
from heliograph.copy.state.remote_log import Foreign
from heliograph.errors import BrokerError, ClientError, HeliographError
from heliograph.model import TopicPartition

#: How long the end of an epoch waits for the last transaction; after half of this time it is aborted.
_END_SECONDS = 3.0
#: The offset map is valid once its transaction is committed, so it is written at most this long after it.
_FLUSH_SECONDS = 1.0
_WAIT_SECONDS = 0.1


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
        self._flushed = 0
        self._next_flush = 0.0
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
        """Offsets are committed with their records; syncs and the offset map follow."""
        self._parts.snapshots.tick(now, self._parts.copies.values())
        if self._commits.count != self._flushed and now >= self._next_flush:
            self._flushed = self._commits.count
            self._next_flush = now + _FLUSH_SECONDS
            self._offsets_backoff.reset()
            self.mark()
        if self._detector.due(now):
            self._detector.look(now)

    def mark(self) -> None:
        self._parts.syncs.flush()

    def finish(self) -> None:
        self._producer.abandon(self._parts.copies)
        self._commits.hurry()
        began = time.monotonic()
        while not self._commits.done and time.monotonic() < began + _END_SECONDS:
            self._parts.require_leases()
            self.send()
            wait(self._producer.connections(), self.wait_seconds(time.monotonic(), _WAIT_SECONDS))
            self._producer.pump()
            if time.monotonic() > began + _END_SECONDS / 2:
                self._commits.void_unsettled("the epoch ends")
        if not self._commits.ended:
            # Whether it was committed is not known: the next epoch must read the stored offsets.
            raise HeliographError(
                f"flow {self._flow.name}: the target did not end the transaction within "
                f"{_END_SECONDS:.0f} s; resuming from the stored offsets"
            )
        self._parts.syncs.flush()
        self._parts.state.wait_idle(SIDE_SECONDS)

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
