"""One partition's log on its leader (`UnifiedLog`, `Partition`).

log start ≤ last stable offset ≤ high watermark ≤ log end

high watermark       what all in-sync replicas have; readers get nothing behind it
last stable offset   the first offset of the first transaction that is open, or whose marker is behind the
                     high watermark; readers under read_committed get nothing from there on
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from operator import attrgetter
from typing import NamedTuple

from heliograph.errors import CorruptRecords
from heliograph.model import AbortedTransaction
from heliograph.records.batch import CONTROL, check_crc, read_header
from simulation.model.append_checks import check_data, check_marker
from simulation.model.errors import Error
from simulation.model.leader_epochs import LeaderEpochs
from simulation.model.producer_state import ProducerState
from simulation.model.stored_batch import StoredBatch, marker, placed
from simulation.model.transaction_index import Completed, TransactionIndex

_MAX_MESSAGE_BYTES = 1_048_588
#: DeleteRecords up to the high watermark.
HIGH_WATERMARK = -1
_LAST = attrgetter("last")


class Appended(NamedTuple):
    error: Error
    base: int = -1


class FetchedData(NamedTuple):
    """`aborted` is None under read_uncommitted."""

    error: Error
    records: bytes = b""
    aborted: tuple[AbortedTransaction, ...] | None = None


class PartitionLog:
    """`now_ms` is the broker's clock. With one replica each append moves the high watermark; with more,
    `replicate` does."""

    def __init__(
        self,
        now_ms: Callable[[], int],
        *,
        leader_epoch: int = 0,
        replicas: int = 1,
        max_message_bytes: int = _MAX_MESSAGE_BYTES,
    ) -> None:
        self.start = 0
        self.high_watermark = 0
        self.leader_epoch = leader_epoch
        self.max_message_bytes = max_message_bytes
        self.batches: list[StoredBatch] = []
        self.epochs = LeaderEpochs()
        self.producers = ProducerState()
        self.transactions = TransactionIndex()
        self._end = 0
        self._now_ms = now_ms
        self._replicated_at_once = replicas == 1
        self.epochs.assign(leader_epoch, 0)

    @property
    def end(self) -> int:
        return self._end

    @property
    def last_stable(self) -> int:
        """A transaction that begins before the log start counts from the batch that the start is in, even if
        that lies before the log start (`maybeIncrementFirstUnstableOffset`, `LogSegment.read`)."""
        firsts = (self.producers.first_open(), self.transactions.first_unreplicated)
        first = min((each for each in firsts if each is not None), default=None)
        if first is None:
            return self.high_watermark
        if first < self.start:
            after = (batch.base for batch in self.batches if batch.last >= self.start)
            first = next(after, self.start)
        return min(first, self.high_watermark)

    # ── writers ──────────────────────────────────────────────────────────────────────────────

    def append(self, data: bytes, *, verified: bool = False) -> Appended:
        """A batch of a client (`appendAsLeader`, `analyzeAndValidateProducerState`). `verified`: the
        coordinator has the partition in the batch's transaction."""
        if error := self._malformed(data):
            return Appended(error)
        batch = placed(data, self.end, self.leader_epoch)
        header = batch.header
        if header.producer_id < 0:
            return self._add(batch)
        entry = self.producers.entry(header.producer_id)
        if (before := entry.duplicate(batch)) is not None:
            return Appended(Error.NONE, before.base_offset)
        verification = self.producers.verifications.get(header.producer_id)
        if batch.transactional and not (
            verified or self.producers.in_transaction(header.producer_id, header.producer_epoch)
        ):
            stale = header.producer_epoch < entry.epoch
            return Appended(Error.INVALID_PRODUCER_EPOCH if stale else Error.INVALID_TXN_STATE)
        if error := check_data(entry, verification, batch):
            return Appended(error)
        return self._add(batch)

    def end_transaction(
        self,
        producer: tuple[int, int],
        *,
        commit: bool,
        coordinator_epoch: int = 0,
        transaction_version: int = 2,
    ) -> Error:
        """A marker of the coordinator; `producer` is id and epoch (WriteTxnMarkers)."""
        entry = self.producers.entry(producer[0])
        if error := check_marker(entry, producer[1], coordinator_epoch, transaction_version):
            return error
        self._add(
            marker(
                self.end,
                self.leader_epoch,
                producer,
                commit=commit,
                coordinator_epoch=coordinator_epoch,
                timestamp=self._now_ms(),
            )
        )
        return Error.NONE

    def _malformed(self, data: bytes) -> Error:
        """`analyzeAndValidateRecords`, `LogValidator.validateBatch`."""
        header = read_header(memoryview(data))
        if header.base_offset:
            return Error.INVALID_RECORD
        if len(data) > self.max_message_bytes:
            return Error.MESSAGE_TOO_LARGE
        try:
            check_crc(memoryview(data), header)
        except CorruptRecords:
            return Error.CORRUPT_MESSAGE
        broken = header.record_count < 1 or header.last_offset_delta + 1 != header.record_count
        unnumbered = header.producer_id >= 0 and header.base_sequence < 0
        if broken or unnumbered or header.attributes & CONTROL:
            return Error.INVALID_RECORD
        return Error.NONE

    def _add(self, batch: StoredBatch) -> Appended:
        self.batches.append(batch)
        self._end = batch.last + 1
        if batch.header.producer_id >= 0:
            before = self.producers.update(batch)
            if batch.control and before.transaction_start is not None:
                self.transactions.add(
                    Completed(
                        batch.header.producer_id, before.transaction_start, batch.base, batch.aborts
                    )
                )
        if self._replicated_at_once:
            self.replicate(self.end)
        return Appended(Error.NONE, batch.base)

    # ── readers ──────────────────────────────────────────────────────────────────────────────

    def read(self, offset: int, max_bytes: int, *, committed: bool) -> FetchedData:
        """Bytes as they lie in the segment: the first batch whole, the last one may be cut."""
        if not self.start <= offset <= self.end:
            return FetchedData(Error.OFFSET_OUT_OF_RANGE)
        end = self.last_stable if committed else self.high_watermark
        # A stuck copy reads a long log thousands of times: look at no more of it than the answer has.
        at, after = (bisect_left(self.batches, each, key=_LAST) for each in (offset, end))
        records = self.batches[at].data if at < after else b""
        while (at := at + 1) < after and len(records) < max_bytes:
            records += self.batches[at].data[: max_bytes - len(records)]
        # Kafka looks up to the next entry of the offset index, which has one for every 4 KiB: to the end of
        # a short log.
        aborted = None
        if committed:
            aborted = self.transactions.within(offset, self.end) if offset < end else ()
        return FetchedData(Error.NONE, records, aborted)

    def check_leader_epoch(self, epoch: int) -> Error:
        """Of a request (KIP-320); -1 is not checked."""
        if epoch < 0 or epoch == self.leader_epoch:
            return Error.NONE
        fenced = epoch < self.leader_epoch
        return Error.FENCED_LEADER_EPOCH if fenced else Error.UNKNOWN_LEADER_EPOCH

    # ── what happens to it ───────────────────────────────────────────────────────────────────

    def replicate(self, to: int) -> None:
        """All in-sync replicas have the log up to here."""
        self.high_watermark = max(self.high_watermark, min(to, self.end))
        self.transactions.replicated_to(self.high_watermark)

    def delete_records(self, offset: int) -> Error:
        """`Partition.deleteRecordsOnLeader`. Producers are still known when their records are gone."""
        wanted = self.high_watermark if offset == HIGH_WATERMARK else offset
        if not 0 <= wanted <= self.high_watermark:
            return Error.OFFSET_OUT_OF_RANGE
        if wanted > self.start:
            self.start = wanted
            self.epochs.truncate_from_start(wanted)
        return Error.NONE

    def delete_segments_before(self, offset: int) -> None:
        """Retention: as DeleteRecords, and the bytes are gone, too."""
        if self.delete_records(offset) is Error.NONE:
            self.batches = [batch for batch in self.batches if batch.last >= self.start]
            self.transactions.drop_before(self.start)

    def elect(self, leader_epoch: int) -> None:
        """The leader gets a new epoch; what it has counts (`Partition.makeLeader`)."""
        self.leader_epoch = leader_epoch
        self.epochs.assign(leader_epoch, self.end)
        self.producers.verifications = {}
        if self._replicated_at_once:
            self.replicate(self.end)

    def elect_unclean(self, leader_epoch: int, lost_from: int) -> list[StoredBatch]:
        """A replica that lacks all batches from this offset on becomes the leader. It knows producers by
        what it has. Gives the lost batches."""
        lost = [batch for batch in self.batches if batch.last >= lost_from]
        self.batches = [batch for batch in self.batches if batch.last < lost_from]
        if lost:
            self._end = max(lost[0].base, self.start)
        self.high_watermark = min(self.high_watermark, self.end)
        self.epochs.truncate_from_end(self.end)
        self.transactions.truncate(self.end)
        self.producers.replay(self.batches)
        self.elect(leader_epoch)
        return lost

    def restart(self, leader_epoch: int, *, clean: bool) -> None:
        """The broker stops, or is killed, and starts again. Nothing is lost: the page cache outlives it."""
        self.producers.restart(self.batches, self.start, self.end, self._now_ms(), clean=clean)
        self.elect(leader_epoch)
