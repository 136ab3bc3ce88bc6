"""What a partition's leader knows of all producers (`ProducerStateManager`).

A snapshot of it is taken when the log is closed. A broker that was killed first reads the whole segment, also
the part before the log start, and takes a snapshot then (`LogLoader.recoverLog`). Either way, what it knows
after a restart is in that snapshot: one batch per producer, and no producer that has expired. A snapshot at
the log start is void: a log without records knows no producers.
"""

from __future__ import annotations

from collections.abc import Iterable

from simulation.model.append_checks import Verification
from simulation.model.producer_entry import UNKNOWN, ProducerEntry
from simulation.model.stored_batch import StoredBatch


class ProducerState:
    """`expiration_ms` is producer.id.expiration.ms."""

    def __init__(self, expiration_ms: int = 86_400_000) -> None:
        self.entries: dict[int, ProducerEntry] = {}
        self.verifications: dict[int, Verification] = {}
        self.expiration_ms = expiration_ms

    def entry(self, producer_id: int) -> ProducerEntry:
        return self.entries.get(producer_id, UNKNOWN)

    def in_transaction(self, producer_id: int, epoch: int) -> bool:
        """Under this epoch (`UnifiedLog.hasOngoingTransaction`)."""
        entry = self.entry(producer_id)
        return entry.transaction_start is not None and entry.epoch == epoch

    def first_open(self) -> int | None:
        """Where the first open transaction begins."""
        starts = (each.transaction_start for each in self.entries.values())
        return min((start for start in starts if start is not None), default=None)

    def verify(self, producer_id: int, sequence: int, epoch: int, *, epoch_bumps: bool) -> None:
        """A first batch of a transaction is on its way."""
        known = self.verifications.get(producer_id, Verification(sequence, epoch, epoch_bumps))
        self.verifications[producer_id] = known.again(sequence, epoch)

    def update(self, batch: StoredBatch) -> ProducerEntry:
        """Takes the batch or marker without any check; gives the entry as it was before."""
        producer_id = batch.header.producer_id
        before = self.entry(producer_id)
        if not batch.control:
            self.entries[producer_id] = before.with_data(batch)
        elif batch.header.record_count:
            self.entries[producer_id] = before.with_marker(batch)
        if batch.transactional:
            self.verifications.pop(producer_id, None)
        return before

    def expire(self, now_ms: int) -> None:
        """Producers without an open transaction, by the timestamp of what they wrote last. Brokers do it
        every 10 minutes, and when they load a snapshot."""
        self.entries = {
            producer_id: entry
            for producer_id, entry in self.entries.items()
            if entry.transaction_start is not None or now_ms - entry.timestamp < self.expiration_ms
        }

    # ── restarts ─────────────────────────────────────────────────────────────────────────────

    def restart(
        self, batches: Iterable[StoredBatch], start: int, end: int, now_ms: int, *, clean: bool
    ) -> None:
        """`UnifiedLog.rebuildProducerState`, `truncateAndReload`."""
        if not clean:
            self.replay(batches)
        self.verifications = {}
        snapshot = self.entries if start < end else {}
        self.entries = {k: entry.in_snapshot() for k, entry in snapshot.items()}
        self.expire(now_ms)

    def replay(self, batches: Iterable[StoredBatch]) -> None:
        """As a follower that becomes the leader: all that it knows is what it has."""
        self.entries, self.verifications = {}, {}
        for batch in batches:
            if batch.header.producer_id >= 0:
                self.update(batch)
