"""Producer ids and transactions of a cluster (`TransactionCoordinator`, `ProducerIdManager`).

EndTxn is answered before the markers are written: `markers_due` and `marker_written` are the rest of it.
Until then, other requests of the transactional id are answered with CONCURRENT_TRANSACTIONS.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from heliograph.model import ProducerIdentity, TopicPartition
from simulation.model.end_transaction import Outcome, end_transaction
from simulation.model.errors import Error
from simulation.model.transaction_metadata import (
    EXHAUSTED_EPOCH,
    PREPARING,
    TransactionMetadata,
    TransactionState,
)

_MAX_TIMEOUT_MS = 900_000
NO_IDENTITY = ProducerIdentity(-1, -1)


class Marker(NamedTuple):
    transactional_id: str
    partition: TopicPartition
    producer: ProducerIdentity
    commit: bool
    version: int


class TransactionCoordinator:
    """`version` of transactions is what the cluster has finalized; fencing and timeouts follow it."""

    def __init__(self, now_ms: Callable[[], int], *, version: int = 2) -> None:
        self.version = version
        self.coordinator_epoch = 0
        self.transactions: dict[str, TransactionMetadata] = {}
        self._now_ms = now_ms
        self._producer_ids = 0

    def reload(self) -> None:
        """After a restart. The epoch before the present one is not in the log (`TransactionLogValue`)."""
        self.coordinator_epoch += 1
        for each in self.transactions.values():
            each.last_epoch = -1

    def new_producer_id(self) -> int:
        self._producer_ids += 1
        return self._producer_ids

    # ── InitProducerId ───────────────────────────────────────────────────────────────────────

    def init_producer_id(
        self,
        transactional_id: str | None,
        timeout_ms: int = 60_000,
        expected: ProducerIdentity = NO_IDENTITY,
    ) -> tuple[Error, ProducerIdentity]:
        """`expected`: the identity that the caller has, and asks to follow (KIP-360)."""
        if transactional_id == "" or (expected.producer_id < 0) != (expected.epoch < 0):
            return Error.INVALID_REQUEST, NO_IDENTITY
        if transactional_id is None:
            return Error.NONE, ProducerIdentity(self.new_producer_id(), 0)
        if not 0 < timeout_ms <= _MAX_TIMEOUT_MS:
            return Error.INVALID_TRANSACTION_TIMEOUT, NO_IDENTITY
        if transactional_id not in self.transactions:
            self.transactions[transactional_id] = TransactionMetadata(
                transactional_id, self.new_producer_id(), timeout_ms
            )
        found = self.transactions[transactional_id]
        error = self._init(found, timeout_ms, expected)
        return error, NO_IDENTITY if error else found.identity

    def _init(
        self, found: TransactionMetadata, timeout_ms: int, expected: ProducerIdentity
    ) -> Error:
        if found.state in PREPARING:
            return Error.CONCURRENT_TRANSACTIONS
        if expected != NO_IDENTITY and not _follows(found, expected):
            return Error.PRODUCER_FENCED
        if found.state is TransactionState.ONGOING:
            self._fence(found)
            return Error.CONCURRENT_TRANSACTIONS
        if found.exhausted and expected.epoch in (-1, found.epoch):
            self._rotate(found, timeout_ms, expected)
            return Error.NONE
        if expected == NO_IDENTITY:
            found.initialize(found.epoch + 1, -1, timeout_ms)
        elif found.epoch == -1 or expected.epoch == found.epoch:
            found.initialize(found.epoch + 1, found.epoch, timeout_ms)
        elif expected.epoch == found.last_epoch:  # asked again: the answer was lost
            found.initialize(found.epoch, found.last_epoch, timeout_ms)
        else:
            return Error.PRODUCER_FENCED
        return Error.NONE

    def _rotate(
        self, found: TransactionMetadata, timeout_ms: int, expected: ProducerIdentity
    ) -> None:
        last = -1 if expected == NO_IDENTITY else found.epoch
        found.initialize(0, last, timeout_ms)
        found.producer_id = self.new_producer_id()

    def _fence(self, found: TransactionMetadata) -> None:
        """The transaction is aborted under an epoch that no producer was given. In version 2 the present
        producer can still follow it, as after a lost answer, until another one asks for an id."""
        if self.version < 2:
            found.epoch, found.last_epoch = found.epoch + 1, -1
        self._prepare(found, commit=False, version=self.version)

    # ── AddPartitionsToTxn and what Produce asks ─────────────────────────────────────────────

    def add_partitions(
        self,
        transactional_id: str,
        producer: ProducerIdentity,
        partitions: Collection[TopicPartition],
    ) -> Error:
        if error := self._not_current(transactional_id, producer):
            return error
        self.transactions[transactional_id].add(set(partitions), self._now_ms())
        return Error.NONE

    def verify_partition(
        self, transactional_id: str, producer: ProducerIdentity, partition: TopicPartition
    ) -> Error:
        """Whether it is part of the transaction (KIP-890, for producers of version 1)."""
        if error := self._not_current(transactional_id, producer):
            return error
        known = partition in self.transactions[transactional_id].partitions
        return Error.NONE if known else Error.TRANSACTION_ABORTABLE

    def _not_current(self, transactional_id: str, producer: ProducerIdentity) -> Error:
        if not transactional_id:
            return Error.INVALID_REQUEST
        found = self.transactions.get(transactional_id)
        if found is None or found.producer_id != producer.producer_id:
            return Error.INVALID_PRODUCER_ID_MAPPING
        if found.epoch != producer.epoch:
            return Error.PRODUCER_FENCED
        return Error.CONCURRENT_TRANSACTIONS if found.state in PREPARING else Error.NONE

    # ── the end ──────────────────────────────────────────────────────────────────────────────

    def end(
        self, transactional_id: str, producer: ProducerIdentity, *, commit: bool, version: int
    ) -> tuple[Error, ProducerIdentity]:
        """`version` is 2 from EndTxn version 5 on: the answer holds the next identity."""
        found = self.transactions.get(transactional_id)
        if not transactional_id:
            return Error.INVALID_REQUEST, NO_IDENTITY
        if found is None:
            return Error.INVALID_PRODUCER_ID_MAPPING, NO_IDENTITY
        outcome = end_transaction(found, producer, commit=commit, version=version)
        if outcome is Outcome.ENDS:
            self._prepare(found, commit=commit, version=version)
            return Error.NONE, _next_identity(found)
        if outcome is Outcome.ENDED_ALREADY:
            return Error.NONE, found.identity if version >= 2 else NO_IDENTITY
        return outcome.error, NO_IDENTITY

    def _prepare(self, found: TransactionMetadata, *, commit: bool, version: int) -> None:
        next_id = self.new_producer_id() if version >= 2 and found.exhausted else -1
        found.prepare(commit=commit, version=version, next_producer_id=next_id)
        self._complete_if_written(found)

    def abort_timed_out(self) -> list[str]:
        """`abortTimedOutTransactions`: those that take longer than their timeout. Gives their ids."""
        late = [
            each
            for each in self.transactions.values()
            if each.state is TransactionState.ONGOING
            and each.started_ms + each.timeout_ms < self._now_ms()
        ]
        for each in late:
            self._fence(each)
        return [each.transactional_id for each in late]

    def markers_due(self) -> list[Marker]:
        return [
            Marker(
                found.transactional_id,
                partition,
                found.identity,
                found.state is TransactionState.PREPARE_COMMIT,
                found.version,
            )
            for found in self.transactions.values()
            if found.state in PREPARING
            for partition in sorted(found.partitions)
        ]

    def marker_written(self, marker: Marker) -> None:
        found = self.transactions[marker.transactional_id]
        found.partitions.discard(marker.partition)
        self._complete_if_written(found)

    @staticmethod
    def _complete_if_written(found: TransactionMetadata) -> None:
        if found.state in PREPARING and not found.partitions:
            found.complete()


def _next_identity(found: TransactionMetadata) -> ProducerIdentity:
    """That of the next transaction, whether or not the markers of this one are written."""
    if found.next_producer_id >= 0:
        return ProducerIdentity(found.next_producer_id, 0)
    return found.identity


def _follows(found: TransactionMetadata, expected: ProducerIdentity) -> bool:
    """Whether the caller may be the present producer; its epoch is checked later."""
    return (
        found.epoch == -1
        or expected.producer_id == found.producer_id
        or (
            expected.producer_id == found.previous_producer_id and expected.epoch >= EXHAUSTED_EPOCH
        )
    )
