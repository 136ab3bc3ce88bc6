"""The transactions of a copy loop: batches and their offsets are committed together or not at all.

    write ──due──► settle ──► store ──► end ──► write …        settle: wait for acknowledgements,
      │               │          │                                     send nothing new
      └───refused─────┴──────────┴──► void ──► write …         store:  offset records, in the same transaction
                                                               void:   abort; back to the committed positions

Acknowledged batches are kept in a list, and count as mirrored only once they are committed. The commit marker
takes one offset in every partition of the transaction.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from enum import Enum, auto

from heliograph.client.produce.producer import Producer
from heliograph.client.produce.transactions import Transaction
from heliograph.config.mirror_config import FlowConfig
from heliograph.copy.bookkeeping.offset_store import OffsetStore
from heliograph.copy.bookkeeping.written import Committed, Written
from heliograph.copy.partition import Partition
from heliograph.errors import BrokerError, ClientError, HeliographError
from heliograph.model import TopicPartition
from heliograph.plan.commits import CommitPolicy
from heliograph.wire.error_codes import ErrorCode

log = logging.getLogger(__name__)

#: A transaction whose batches are not acknowledged is aborted after this share of its timeout; the partitions
#: that were not acknowledged are left out of the next one.
_PATIENCE = 2 / 3
#: With more than this buffered, records arrive faster than the target takes them.
_BEHIND_BYTES = 1 << 20
_TRANSACTION_ABORTABLE = 120


class _Phase(Enum):
    WRITE = auto()
    SETTLE = auto()
    STORE = auto()
    END = auto()
    VOID = auto()


class Commits:
    """Part of one copy loop, for its thread. `written` is what the transaction has, and says what to store.
    `committed(partition, batch, base_offset)` is called for each committed batch, in order; `voided(cause,
    failures)` after an abort, with the partitions that failed."""

    def __init__(
        self,
        flow: FlowConfig,
        written: Written,
        *,
        producer: Producer,
        transaction: Transaction,
        offsets: OffsetStore,
        flush_delay: float,
        committed: Committed,
        voided: Callable[[str, Mapping[Partition, ClientError]], None],
    ) -> None:
        assert flow.exactly_once is not None
        interval = flow.exactly_once.interval_ms
        self.count = 0
        self.aborted = 0
        self._flow = flow
        self._written = written
        self._copies = written.copies()
        self._producer = producer
        self._transaction = transaction
        self._offsets = offsets
        self._committed = committed
        self._voided = voided
        self._policy = CommitPolicy(
            interval_seconds=interval / 1000 if interval is not None else None,
            limit_seconds=flow.exactly_once.limit_seconds,
        )
        self._flush_seconds = flow.offset_flush_interval_ms / 1000
        self._phase = _Phase.WRITE
        self._hurried = False
        self._storing: dict[Partition, int] = {}
        self._failures: dict[Partition, ClientError] = {}
        self._cause = ""
        self._began = self._ended = time.monotonic()
        self._took = 0.0
        self._next_flush = self._ended + flush_delay

    @property
    def sends(self) -> bool:
        """Whether the producer may send: not while a transaction is being ended."""
        return self._phase not in (_Phase.END, _Phase.VOID)

    @property
    def ended(self) -> bool:
        """Whether no transaction is open: none was begun, or its outcome is known."""
        return self._transaction.opened is None

    @property
    def done(self) -> bool:
        """Whether everything is committed."""
        return self.ended and not any(copy.to_store for copy in self._copies)

    def hurry(self) -> None:
        """Commit as soon as possible, also offsets without new records."""
        self._hurried = True

    def refused(self, partition: TopicPartition, error: BrokerError) -> None:
        self._blame(partition, error)
        self.void(str(error))

    def _blame(self, partition: TopicPartition, error: ClientError) -> None:
        """Note which partitions failed; none, if it is the offsets topic."""
        self._failures |= dict.fromkeys(self._written.owners(partition), error)

    def void_unsettled(self, cause: str) -> None:
        """Abort unless the transaction is being ended already."""
        if self._phase in (_Phase.SETTLE, _Phase.STORE):
            self.void(cause)

    def void(self, cause: str) -> None:
        """Abort the transaction."""
        if self._phase is not _Phase.VOID:
            self._cause = cause
        self._phase = _Phase.VOID

    def wait_seconds(self, now: float, most: float) -> float:
        """How long the copy loop may wait for responses."""
        if self._phase is _Phase.WRITE and self._transaction.opened is not None:
            return max(min(self._due() - now, most), 0.0)
        return most

    def step(self, reach: Callable[[Callable[[], object]], None]) -> None:
        """Advance as far as possible without waiting. `reach` runs an action that needs the target, or defers
        it while the target cannot be reached."""
        now = time.monotonic()
        if self._phase is _Phase.WRITE and self._is_due(now):
            self._began = now
            self._written.hold()
            self._phase = _Phase.SETTLE
        if self._phase is _Phase.SETTLE and self._written.settled():
            reach(self._store)
        if self._phase is _Phase.STORE and self._written.stored():
            self._phase = _Phase.END
        if self._phase is _Phase.END:
            reach(self._commit)
        elif self._phase is _Phase.VOID:
            if not self._producer.in_flight:
                reach(self._abort)
        else:
            self._give_up_if_late(now)

    # ── phases ───────────────────────────────────────────────────────────────────────────────

    def _is_due(self, now: float) -> bool:
        if self._transaction.opened is not None:
            return self._hurried or now >= self._due()
        if not self._hurried and now < self._next_flush:
            return False
        self._next_flush = now + self._flush_seconds
        return any(copy.to_store for copy in self._copies)

    def _due(self) -> float:
        assert self._transaction.opened is not None
        return self._policy.due(
            opened=self._transaction.opened,
            written=self._written.newest,
            ended=self._ended,
            took=self._took,
            behind=self._producer.buffered_bytes > _BEHIND_BYTES,
        )

    def _store(self) -> None:
        if (cause := self._written.doubt()) is not None:
            self.void(cause)
            return
        self._storing = self._written.positions()
        self._offsets.append(self._storing, self._written.logs(self._storing))
        self._phase = _Phase.STORE

    def _commit(self) -> None:
        marked = self._transaction.partitions
        try:
            self._transaction.commit()
        except BrokerError as e:
            if e.code != _TRANSACTION_ABORTABLE:
                raise self._undecided(e) from e
            self.void(str(e))
            return
        now = time.monotonic()
        self._took, self._ended = now - self._began, now
        self._offsets.times.note(self._took)
        self.count += 1
        self._written.commit(self._committed, marked)
        for copy, position in self._storing.items():
            copy.store(position)
        self._storing = {}
        self._phase = _Phase.WRITE
        self._producer.go_on()

    def _undecided(self, error: BrokerError) -> HeliographError:
        """INVALID_TXN_STATE: the coordinator has ended the transaction otherwise, so this task must end."""
        if error.code != ErrorCode.INVALID_TXN_STATE:
            return error
        return HeliographError(
            f"flow {self._flow.name}: {error}; resuming from the stored offsets, which show whether the "
            f"transaction was committed"
        )

    def _abort(self) -> None:
        try:
            self._transaction.abort()
        except BrokerError as e:
            raise self._undecided(e) from e
        self.aborted += 1
        log.warning(
            "flow %s: transaction aborted (%s); resuming from the committed positions",
            self._flow.name,
            self._cause,
        )
        self._producer.drop_all()
        self._producer.go_on()
        self._written.abort()
        self._storing = {}
        self._ended = time.monotonic()
        self._phase = _Phase.WRITE
        failures, self._failures = self._failures, {}
        self._voided(self._cause, failures)

    def _give_up_if_late(self, now: float) -> None:
        """A partition that does not answer must not delay the others for ever. During STORE it may be a
        partition of the offsets topic, to which nothing could be sent yet."""
        since = self._transaction.opened
        if since is None and self._phase is _Phase.STORE:
            since = self._began
        if since is None or now < since + self._transaction.timeout_seconds * _PATIENCE:
            return
        for partition, error in self._producer.troubles().items():
            self._blame(partition, error)
        self.void(f"not acknowledged within {now - since:.0f} s")
