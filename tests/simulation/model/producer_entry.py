"""What a partition's leader remembers of one producer (`ProducerStateEntry`, `BatchMetadata`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from heliograph.records.batch import SEQUENCES
from simulation.model.stored_batch import NO_EPOCH, NO_SEQUENCE, NO_TIMESTAMP, StoredBatch

REMEMBERED_BATCHES = 5


class RememberedBatch(NamedTuple):
    last_sequence: int
    last_offset: int
    offset_delta: int

    @property
    def first_sequence(self) -> int:
        return (self.last_sequence - self.offset_delta) % SEQUENCES

    @property
    def base_offset(self) -> int:
        return self.last_offset - self.offset_delta


@dataclass(frozen=True)
class ProducerEntry:
    """`timestamp` is that of the last batch's newest record, or of the last marker: expiry counts from it.
    `transaction_start` is the first offset of the open transaction."""

    epoch: int = NO_EPOCH
    coordinator_epoch: int = -1
    timestamp: int = NO_TIMESTAMP
    transaction_start: int | None = None
    batches: tuple[RememberedBatch, ...] = field(default=())

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    def with_data(self, batch: StoredBatch) -> ProducerEntry:
        header = batch.header
        new = RememberedBatch(batch.last_sequence, batch.last, header.last_offset_delta)
        start = self.transaction_start
        return ProducerEntry(
            epoch=header.producer_epoch,
            coordinator_epoch=self.coordinator_epoch,
            timestamp=header.max_timestamp,
            transaction_start=batch.base if start is None and batch.transactional else start,
            batches=(*self._of_epoch(header.producer_epoch), new)[-REMEMBERED_BATCHES:],
        )

    def with_marker(self, batch: StoredBatch) -> ProducerEntry:
        """The open transaction ends. Batches are forgotten if the marker brings a new epoch."""
        header = batch.header
        return ProducerEntry(
            epoch=header.producer_epoch,
            coordinator_epoch=batch.coordinator_epoch,
            timestamp=header.max_timestamp,
            batches=self._of_epoch(header.producer_epoch),
        )

    def in_snapshot(self) -> ProducerEntry:
        """A snapshot file holds the last batch alone (`ProducerStateManager.writeSnapshot`)."""
        return ProducerEntry(
            self.epoch,
            self.coordinator_epoch,
            self.timestamp,
            self.transaction_start,
            self.batches[-1:],
        )

    def duplicate(self, batch: StoredBatch) -> RememberedBatch | None:
        """The remembered batch with the same epoch and the same sequence numbers."""
        if batch.header.producer_epoch != self.epoch:
            return None
        wanted = (batch.header.base_sequence, batch.last_sequence)
        return next(
            (b for b in self.batches if (b.first_sequence, b.last_sequence) == wanted), None
        )

    def _of_epoch(self, epoch: int) -> tuple[RememberedBatch, ...]:
        return self.batches if epoch == self.epoch else ()


UNKNOWN = ProducerEntry()
