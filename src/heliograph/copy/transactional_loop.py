"""The copy loop exactly once: as `CopyLoop`, but what it writes counts when its transaction is committed.

Where a partition stands needs no look at the target: what is committed is what the stored offsets say. Only a
predecessor that did not mirror exactly once has left a trail, and is on the target beyond them.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Any

from heliograph.client.net.backoff import Backoff
from heliograph.client.net.poller import wait
from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.client.produce.transactions import Transaction
from heliograph.config.mirror_config import FlowConfig
from heliograph.copy.foreign_writers import ForeignWriterDetector, note_foreign_records
from heliograph.copy.loop import CopyLoop
from heliograph.copy.partition import Partition
from heliograph.copy.transactional import Commits
from heliograph.errors import BrokerError, ClientError, HeliographError
from heliograph.model import Lease, TopicPartition

#: How long the end of an epoch waits for the last transaction; after half of it, it is aborted.
_END_SECONDS = 3.0
_SIDE_SECONDS = 1.5
#: Stretches are true once they are committed, so they follow the offsets, at this distance at most.
_FLUSH_SECONDS = 1.0
_MESSAGE_TOO_LARGE = 10


class TransactionalCopyLoop(CopyLoop):
    def __init__(
        self, flow: FlowConfig, leases: Iterable[Lease], *, transaction: Transaction, **others: Any
    ) -> None:
        super().__init__(flow, leases, transaction=transaction, **others)
        self._transaction = transaction
        self._offsets_backoff = Backoff(first=0.5, most=30.0)
        self._commits = Commits(
            flow,
            self._by_target,
            producer=self._producer,
            transaction=transaction,
            offsets=self._offsets,
            quarantine=self._quarantine,
            committed=super()._on_ack,
            voided=self._voided,
        )
        self._flushed = 0
        self._strangers = ForeignWriterDetector(
            self._looker, partial(note_foreign_records, flow.name)
        )

    def _find_footing(self, now: float) -> None:
        if due := self._fates.due(now):
            self._reach(self._target, lambda: self._begin(due))

    def _begin(self, copies: Collection[Partition]) -> None:
        self._transaction.start()
        self._found(self._footing.count_off(copies))

    def _tick(self, now: float) -> None:
        super()._tick(now)
        if self._strangers.due(now):
            self._strangers.look(now)

    def _send(self) -> None:
        self._commits.step(lambda action: self._reach(self._target, action))
        if self._commits.sends:
            super()._send()

    def _wait_seconds(self) -> float:
        return self._commits.wait_seconds(time.monotonic(), super()._wait_seconds())

    def _flush(self, now: float) -> None:
        """Offsets are committed with their records; what explains them follows."""
        if self._commits.count != self._flushed and now >= self._next_flush:
            self._flushed = self._commits.count
            self._next_flush = now + _FLUSH_SECONDS
            self._offsets_backoff.reset()
            self._syncs.flush()

    def _finish(self) -> None:
        self._require_leases()
        self._fetcher.close()
        self._producer.abandon(self._by_target)
        self._commits.hurry()
        began = time.monotonic()
        while not self._commits.done and time.monotonic() < began + _END_SECONDS:
            self._require_leases()
            self._send()
            wait(self._producer.connections(), self._wait_seconds())
            self._producer.pump()
            if time.monotonic() > began + _END_SECONDS / 2:
                self._commits.void_unsettled("the epoch ends")
        if not self._commits.ended:
            # Committed or not: whoever goes on must not guess.
            raise HeliographError(
                f"flow {self.flow.name}: the target did not end the transaction within "
                f"{_END_SECONDS:.0f} s; going back to the stored offsets"
            )
        self._syncs.flush()
        self._state.wait_idle(_SIDE_SECONDS)

    def _on_ack(self, partition: TopicPartition, batch: ProducerBatch, base_offset: int) -> None:
        self._commits.landed(partition, batch, base_offset)

    def _on_gap(self, copy: Partition, gap: range) -> None:
        self._strangers.suspect(copy, gap)

    def _on_loss(self, copy: Partition, end: int) -> None:
        """Records of which it has lost the marker alone would be committed by our next one, and are copied
        again: that transaction is aborted. Where a batch has shown the loss, it was."""
        copy.voids = copy.lost_from is None
        super()._on_loss(copy, end)

    def _on_refused(self, partition: TopicPartition, error: BrokerError) -> None:
        self._commits.refused(partition, error)

    def _voided(self, cause: str, failures: Mapping[Partition, ClientError]) -> None:
        """All go back to what is committed; those that caused it wait for a while."""
        self._quarantine.clear()
        for copy in self._copies.values():
            self._room.moves(copy)
            copy.outstanding = 0
            copy.position = copy.acked
            copy.forget_end()
            if copy.lost_from is not None:
                self._fates.look_again(copy)
            self._fates.resume(copy)
        for copy, error in failures.items():
            too_large = isinstance(error, BrokerError) and error.code == _MESSAGE_TOO_LARGE
            if not too_large or not self._fates.learn_max_bytes(copy):
                self._fates.fail(copy, f"{self.flow.name}: {copy.source}: {error}")
        if not failures:  # the offsets topic, or the transaction as a whole
            self._reach.pause(self._target, self._offsets_backoff, cause)
