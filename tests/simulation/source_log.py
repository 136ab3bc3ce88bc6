"""A model of a source partition: retention, compaction, truncation, transactions, leader epochs."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from heliograph.model import AbortedTransaction
from simulation.batches import TIMESTAMP, SourceBatch, data_batch, marker

OFFSET_OUT_OF_RANGE = 1
#: A record's value is a number: epoch * EPOCH + offset. So values ascend in every log, and a record that took
#: the place of a truncated one has another value.
EPOCH = 100_000
_UNKNOWN_EPOCH = -1


def offset_of(value: bytes) -> int:
    return int(value) % EPOCH


class Fetched(NamedTuple):
    error: int
    records: bytes = b""
    aborted: tuple[AbortedTransaction, ...] | None = None


class _Ended(NamedTuple):
    """A transaction with a marker."""

    producer_id: int
    first: int
    marker: int
    commit: bool


class SourceLog:
    """Replication is not modelled: what is appended can be read, the high watermark is the end."""

    def __init__(self) -> None:
        self.start = self.end = self.epoch = 0
        self._batches: list[SourceBatch] = []
        self._deleted: dict[int, tuple[bytes, int]] = {}  # by offset: value, and the producer id
        self._epochs: list[tuple[int, int]] = [(0, 0)]  # epoch, and where it begins
        self._ended: list[_Ended] = []
        self._open: dict[int, int] = {}  # transactions by producer id: their first offset
        self._decided: dict[int, bool] = {}  # of open ones that have lost their marker: as it was

    # ── writers ──────────────────────────────────────────────────────────────────────────────

    def append(self, sizes: list[int], producer_id: int = -1, timestamp: int = TIMESTAMP) -> None:
        """One record for each size, padded to it; with a producer id, as a part of its transaction."""
        records = [
            (delta, str(self.epoch * EPOCH + self.end + delta).encode().ljust(size))
            for delta, size in enumerate(sizes)
        ]
        last, epoch = len(sizes) - 1, self.epoch
        self._add(data_batch(self.end, records, last, epoch, producer_id, timestamp))

    def end_transaction(self, producer_id: int, *, commit: bool) -> None:
        if producer_id in self._open:
            commit = self._decided.pop(producer_id, commit)
            self._add(marker(self.end, self.epoch, producer_id, commit=commit), commit)

    @property
    def in_transactions(self) -> list[int]:
        return list(self._open)

    def _add(self, batch: SourceBatch, commit: bool = False) -> None:
        self._batches.append(batch)
        self.end = batch.last + 1
        if batch.control:
            first = self._open.pop(batch.producer_id)
            self._ended.append(_Ended(batch.producer_id, first, batch.base, commit))
        elif batch.producer_id >= 0:
            self._open.setdefault(batch.producer_id, batch.base)

    # ── what happens to it ───────────────────────────────────────────────────────────────────

    def delete_before(self, offset: int) -> None:
        """Retention, or DeleteRecords."""
        if not self.start < offset <= self.end:
            return
        self._deleted |= {
            at: (value, batch.producer_id)
            for batch in self._batches
            for at, value in self._readable(batch)
            if at < offset
        }
        self.start = offset
        self._batches = [batch for batch in self._batches if batch.last >= offset]
        self._epochs = [
            (epoch, max(start, offset))
            for (epoch, start), end in zip(self._epochs, self._epoch_stops(), strict=True)
            if end > offset or epoch == self.epoch
        ]

    def compact(self, rng: Random, below: int) -> None:
        """Thins batches out; an emptied batch may stay, the last one does. Log cleaners stop before the first
        transaction without a marker."""
        below = min(below, self.last_stable)
        kept: list[SourceBatch] = []
        for batch in self._batches[:-1]:
            thinned = batch
            if not batch.control and batch.last < below and rng.random() < 0.5:
                left = [each for each in batch.records if rng.random() < 0.6]
                thinned = data_batch(
                    batch.base,
                    left,
                    batch.last_delta,
                    batch.epoch,
                    batch.producer_id,
                    batch.timestamp,
                )
            if thinned.records or thinned.control or rng.random() < 0.5:
                kept.append(thinned)
        self._batches[:-1] = kept

    def elect(self, lost_batches: int = 0) -> None:
        """A new leader, which may lack the newest batches."""
        for _ in range(lost_batches):
            if len(self._batches) > 1 and self._batches[-1].base > self.start:
                self.end = self._batches.pop().base
        self._forget_lost_transactions()
        self.epoch += 1
        self._epochs = [each for each in self._epochs if each[1] < self.end]
        self._epochs.append((self.epoch, self.end))

    def _forget_lost_transactions(self) -> None:
        """A transaction whose marker is lost is open again, and ends as its coordinator has decided. Of
        several of one producer that is the first: the later ones are lost as a whole."""
        unmarked = [each for each in reversed(self._ended) if each.first < self.end <= each.marker]
        opened = [(each.producer_id, each.first) for each in unmarked]
        self._decided |= {each.producer_id: each.commit for each in unmarked}
        self._open = {
            key: first for key, first in (*self._open.items(), *opened) if first < self.end
        }
        self._decided = {key: each for key, each in self._decided.items() if key in self._open}
        self._ended = [each for each in self._ended if each.marker < self.end]

    # ── readers ──────────────────────────────────────────────────────────────────────────────

    def records(self) -> Iterator[tuple[int, bytes]]:
        """What a reader under read_uncommitted finds, by offset."""
        for batch in self._batches:
            yield from self._readable(batch)

    def committed(self) -> dict[int, bytes]:
        """All records but those of aborted transactions, by offset."""
        return {
            at: value
            for batch in self._batches
            if not self._is_aborted(batch.producer_id, batch.base)
            for at, value in self._readable(batch)
        }

    @property
    def deleted(self) -> dict[int, bytes]:
        """Records that retention has removed, but for those of aborted transactions, by offset."""
        return {
            at: value
            for at, (value, producer_id) in self._deleted.items()
            if not self._is_aborted(producer_id, at)
        }

    def _is_aborted(self, producer_id: int, offset: int) -> bool:
        return producer_id >= 0 and any(
            each.producer_id == producer_id and each.first <= offset < each.marker
            for each in self._ended
            if not each.commit
        )

    def _readable(self, batch: SourceBatch) -> Iterator[tuple[int, bytes]]:
        for delta, value in batch.records:
            if batch.base + delta >= self.start:
                yield batch.base + delta, value

    @property
    def last_stable(self) -> int:
        return max(min(self._open.values(), default=self.end), self.start)

    def fetch(self, offset: int, max_bytes: int, *, committed: bool) -> Fetched:
        """At least one batch, whatever its size."""
        end = self.last_stable if committed else self.end
        if not self.start <= offset <= self.end:
            return Fetched(OFFSET_OUT_OF_RANGE)
        found: list[SourceBatch] = []
        size = 0
        for batch in self._batches:
            if batch.last >= offset and batch.last < end and size <= max_bytes:
                found.append(batch)
                size += len(batch.data)
        aborted = None
        if committed:
            stop = found[-1].last if found else offset
            aborted = tuple(
                AbortedTransaction(each.producer_id, each.first)
                for each in self._ended
                if not each.commit and each.marker >= offset and each.first <= stop
            )
        return Fetched(0, b"".join(batch.data for batch in found), aborted)

    def epoch_end(self, epoch: int) -> tuple[int, int]:
        """The epoch that is known, and its end, as OffsetForLeaderEpoch answers
        (`LeaderEpochFileCache.endOffsetFor`)."""
        if epoch == self.epoch:
            return epoch, self.end
        later = [start for each, start in self._epochs if each > epoch]
        if not later:
            return _UNKNOWN_EPOCH, _UNKNOWN_EPOCH
        return max((each for each, _ in self._epochs if each <= epoch), default=epoch), later[0]

    def _epoch_stops(self) -> list[int]:
        return [start for _, start in self._epochs[1:]] + [self.end]
