"""What EndTxn does in each state (`TransactionCoordinator.endTransaction`, `endTransactionWithTV1`).

Version 2, by state and by the epoch of the request. "retry" is the epoch before the present one: the request
came before, and its answer was lost. ITS: INVALID_TXN_STATE, PF: PRODUCER_FENCED, new epoch: the empty
transaction is aborted.

                      abort: retry   present       commit: retry   present
    EMPTY                    PF      new epoch             PF      ITS
    COMPLETE_ABORT           done    new epoch             ITS     ITS
    COMPLETE_COMMIT          ITS     new epoch             done    ITS

Version 1 has no retries: epochs must be equal, and the same end again is done already.
"""

from __future__ import annotations

from enum import Enum

from heliograph.model import ProducerIdentity
from simulation.model.errors import Error
from simulation.model.transaction_metadata import (
    EXHAUSTED_EPOCH,
    PREPARING,
    TransactionMetadata,
    TransactionState,
)


class Outcome(Enum):
    ENDS = 0
    ENDED_ALREADY = 1
    UNKNOWN_PRODUCER = 2
    FENCED = 3
    CONCURRENT = 4
    INVALID_STATE = 5

    @property
    def error(self) -> Error:
        return _ERRORS[self]


_ERRORS = {
    Outcome.ENDS: Error.NONE,
    Outcome.ENDED_ALREADY: Error.NONE,
    Outcome.UNKNOWN_PRODUCER: Error.INVALID_PRODUCER_ID_MAPPING,
    Outcome.FENCED: Error.PRODUCER_FENCED,
    Outcome.CONCURRENT: Error.CONCURRENT_TRANSACTIONS,
    Outcome.INVALID_STATE: Error.INVALID_TXN_STATE,
}
_COMPLETE = frozenset({TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT})


def end_transaction(
    found: TransactionMetadata, producer: ProducerIdentity, *, commit: bool, version: int
) -> Outcome:
    if version < 2:
        return _version_1(found, producer, commit)
    overflowed = (
        found.previous_producer_id == producer.producer_id
        and producer.epoch == EXHAUSTED_EPOCH
        and found.epoch == 0
    )
    retried = found.epoch == producer.epoch + 1 or overflowed
    if found.producer_id != producer.producer_id and not overflowed:
        return Outcome.UNKNOWN_PRODUCER
    if not _epoch_fits(found, producer.epoch, retried):
        return Outcome.FENCED
    if found.state in PREPARING:
        return Outcome.CONCURRENT
    if found.state is TransactionState.ONGOING:
        return Outcome.ENDS
    if retried and found.state is _completed(commit):
        return Outcome.ENDED_ALREADY
    return Outcome.INVALID_STATE if commit or retried else Outcome.ENDS


def _version_1(found: TransactionMetadata, producer: ProducerIdentity, commit: bool) -> Outcome:
    if found.producer_id != producer.producer_id:
        return Outcome.UNKNOWN_PRODUCER
    if found.epoch != producer.epoch:
        return Outcome.FENCED
    if found.state in PREPARING:
        return Outcome.CONCURRENT
    if found.state is TransactionState.ONGOING:
        return Outcome.ENDS
    return Outcome.ENDED_ALREADY if found.state is _completed(commit) else Outcome.INVALID_STATE


def _epoch_fits(found: TransactionMetadata, epoch: int, retried: bool) -> bool:
    if found.state in PREPARING:
        return found.epoch == epoch + 1
    return epoch == found.epoch or (retried and found.state in _COMPLETE)


def _completed(commit: bool) -> TransactionState:
    return TransactionState.COMPLETE_COMMIT if commit else TransactionState.COMPLETE_ABORT
