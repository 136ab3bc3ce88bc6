"""Whether a partition takes a batch or a marker of a producer (`ProducerAppendInfo`).

epoch of the batch        its first sequence must be
of an unknown producer    any; 0 in a transaction of version 2 (KIP-890)
above the known epoch     0
the known epoch           the next one; 0 after a marker that was the first to bring the epoch
below the known epoch     refused with INVALID_PRODUCER_EPOCH
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from simulation.model.errors import Error
from simulation.model.producer_entry import ProducerEntry
from simulation.model.stored_batch import NO_EPOCH, StoredBatch

_LAST_SEQUENCE = (1 << 31) - 1
_LAST_EPOCH = (1 << 15) - 1
#: The version of transactions since which each end of a transaction has an epoch of its own.
EPOCH_BUMPS = 2


@dataclass(frozen=True)
class Verification:
    """Of a transactional producer that has written nothing to the partition in its present transaction,
    from its first attempt to the first batch that is appended (`VerificationStateEntry`)."""

    lowest_sequence: int
    epoch: int
    epoch_bumps: bool

    def again(self, sequence: int, epoch: int) -> Verification:
        """After another attempt."""
        if epoch > self.epoch or (epoch == self.epoch and sequence < self.lowest_sequence):
            return replace(self, epoch=epoch, lowest_sequence=sequence)
        return self


def check_data(
    entry: ProducerEntry, verification: Verification | None, batch: StoredBatch
) -> Error:
    if batch.header.producer_epoch < entry.epoch:
        return Error.INVALID_PRODUCER_EPOCH
    if not _in_sequence(entry, verification, batch):
        return Error.OUT_OF_ORDER_SEQUENCE_NUMBER
    if entry.transaction_start is not None and not batch.transactional:
        return Error.INVALID_TXN_STATE
    return Error.NONE


def _in_sequence(
    entry: ProducerEntry, verification: Verification | None, batch: StoredBatch
) -> bool:
    first = batch.header.base_sequence
    if verification is not None:
        if verification.epoch_bumps and first and not entry.batches:
            return False
        if first > verification.lowest_sequence:
            return False
    if entry.epoch == NO_EPOCH:
        return True
    if batch.header.producer_epoch != entry.epoch:
        return first == 0
    last = entry.last_sequence
    return first == last + 1 or (first == 0 and last == _LAST_SEQUENCE)


def check_marker(
    entry: ProducerEntry, epoch: int, coordinator_epoch: int, transaction_version: int
) -> Error:
    """In version 2 a marker must bring a higher epoch, unless the transaction has ended already: a marker
    that comes twice."""
    if transaction_version >= EPOCH_BUMPS:
        again = epoch == entry.epoch and (entry.transaction_start is None or epoch == _LAST_EPOCH)
        stale = epoch <= entry.epoch and not again
    else:
        stale = epoch < entry.epoch
    if stale:
        return Error.INVALID_PRODUCER_EPOCH
    if coordinator_epoch < entry.coordinator_epoch:
        return Error.NOT_COORDINATOR
    return Error.NONE
