"""The state of one transactional id (`TransactionMetadata`, `TransactionState`).

EMPTY ─► ONGOING ─► PREPARE_COMMIT ─► COMPLETE_COMMIT ─► ONGOING …
                └─► PREPARE_ABORT ──► COMPLETE_ABORT ──► ONGOING …
InitProducerId leads from EMPTY and from both COMPLETE states to EMPTY. EndTxn of version 2 also aborts what
is EMPTY or COMPLETE: to give the producer a new epoch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from heliograph.model import ProducerIdentity, TopicPartition

_LAST_EPOCH = (1 << 15) - 1
#: A producer never gets the last epoch: it is kept for fencing.
EXHAUSTED_EPOCH = _LAST_EPOCH - 1


class TransactionState(Enum):
    EMPTY = "Empty"
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"


PREPARING = frozenset({TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT})


@dataclass
class TransactionMetadata:
    """`last_epoch` is the epoch before an answered bump, for a request that is repeated. `next_producer_id`
    replaces a producer id whose epochs are used up, when the markers are written."""

    transactional_id: str
    producer_id: int
    timeout_ms: int
    epoch: int = -1
    last_epoch: int = -1
    previous_producer_id: int = -1
    next_producer_id: int = -1
    state: TransactionState = TransactionState.EMPTY
    version: int = 0  # of the transaction that is ending or has ended
    started_ms: int = -1
    partitions: set[TopicPartition] = field(default_factory=set)

    @property
    def identity(self) -> ProducerIdentity:
        return ProducerIdentity(self.producer_id, self.epoch)

    @property
    def exhausted(self) -> bool:
        return self.epoch >= EXHAUSTED_EPOCH

    def initialize(self, epoch: int, last_epoch: int, timeout_ms: int) -> None:
        self.epoch, self.last_epoch = epoch, last_epoch
        self.timeout_ms = timeout_ms
        self.previous_producer_id = self.producer_id
        self.state = TransactionState.EMPTY
        self.started_ms = -1
        self.partitions = set()

    def add(self, partitions: set[TopicPartition], now_ms: int) -> None:
        if self.state is not TransactionState.ONGOING:
            self.started_ms = now_ms
        self.state = TransactionState.ONGOING
        self.partitions |= partitions

    def prepare(self, *, commit: bool, version: int, next_producer_id: int = -1) -> None:
        """Version 2 gives the markers, and the producer, the next epoch."""
        self.state = TransactionState.PREPARE_COMMIT if commit else TransactionState.PREPARE_ABORT
        self.version = version
        self.next_producer_id = next_producer_id
        if version >= 2:
            self.epoch, self.last_epoch = min(self.epoch + 1, _LAST_EPOCH), self.epoch

    def complete(self) -> None:
        """All markers are written."""
        committed = self.state is TransactionState.PREPARE_COMMIT
        self.state = (
            TransactionState.COMPLETE_COMMIT if committed else TransactionState.COMPLETE_ABORT
        )
        if self.version >= 2:
            self.previous_producer_id = self.producer_id
            if self.next_producer_id >= 0:
                self.producer_id, self.epoch = self.next_producer_id, 0
        self.next_producer_id = -1
        self.partitions = set()
