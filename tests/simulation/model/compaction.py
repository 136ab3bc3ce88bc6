"""Compaction of a log (`LogCleaner`, `Cleaner`).

Below `dirty_end` only the newest record of each key is kept, except in the newest batch of a producer, which
stays so that its sequence can be read again, if need be without records. Control batches and offsets stay.
The active segment, from `dirty_end` on, is left alone. Aborted records are dropped. Records without a key are
dropped, too; real brokers refuse them for compacted topics.
"""

from __future__ import annotations

from collections.abc import Iterable

from simulation.model.partition_log import PartitionLog
from simulation.model.stored_batch import StoredBatch, thinned


def compact(log: PartitionLog, dirty_end: int) -> None:
    """Up to the last stable offset at most."""
    end = min(dirty_end, log.last_stable)
    newest = _newest_by_key(log, end)
    last_of_producer = {batch.header.producer_id: batch.base for batch in log.batches}
    kept: list[StoredBatch] = []
    for batch in log.batches:
        if batch.control or batch.last >= end:
            kept.append(batch)
            continue
        cleaned = _clean(batch, newest)
        producer_id = batch.header.producer_id
        if cleaned.header.record_count or (
            producer_id >= 0 and last_of_producer[producer_id] == batch.base
        ):
            kept.append(cleaned)
    log.batches = kept


def _clean(batch: StoredBatch, newest: dict[bytes | None, int]) -> StoredBatch:
    offsets = [record.offset for record in batch.records]
    keep = [r.offset for r in batch.records if newest.get(r.key) == r.offset]
    return batch if keep == offsets else thinned(batch, keep)


def _newest_by_key(log: PartitionLog, end: int) -> dict[bytes | None, int]:
    """Of committed records in the part that is cleaned (`OffsetMap`)."""
    return {
        record.key: record.offset
        for batch in _committed(log, end)
        for record in batch.records
        if record.key is not None
    }


def _committed(log: PartitionLog, end: int) -> Iterable[StoredBatch]:
    for batch in log.batches:
        aborted = batch.transactional and any(
            each.producer_id == batch.header.producer_id and each.first_offset <= batch.base
            for each in log.transactions.within(batch.base, batch.last + 1)
        )
        if not (batch.control or aborted or batch.last >= end):
            yield batch
