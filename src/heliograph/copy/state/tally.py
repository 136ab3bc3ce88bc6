"""What one partition has copied: counters and times, for receipts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.measured import NO_BATCHES, BatchCounts, Stopwatch


@dataclass(slots=True, eq=False)
class Tally:
    """Part of a `Partition`; only the partition changes it.

    Times are measured once per batch, by the newest timestamp in its header, and count for each of its
    records. Without timestamps nothing is measured, and a timestamp in the future counts as now.
    """

    records: int = 0
    bytes: int = 0
    copied: float = 0.0  # time of the last acknowledgement, in seconds since 1970
    newest_ms: int = -1  # the newest timestamp acknowledged
    resumes: int = 0
    batches: BatchCounts = NO_BATCHES
    #: Of records, when they are fetched.
    ages: Stopwatch = field(default_factory=lambda: Stopwatch(distributed=False))
    latencies: Stopwatch = field(default_factory=Stopwatch)  # until they are acknowledged

    def fetched(self, batches: Iterable[ProducerBatch], wall: float) -> None:
        for batch in batches:
            if batch.newest_ms >= 0:
                age = wall - batch.newest_ms / 1000
                self.ages.note(age if age > 0 else 0.0, batch.record_count)

    def acknowledged(self, batch: ProducerBatch, wall: float) -> None:
        records, newest_ms = batch.record_count, batch.newest_ms
        self.records += records
        self.bytes += batch.size
        self.copied = wall
        if newest_ms >= 0:
            if newest_ms > self.newest_ms:  # no call of max: this is called with every batch
                self.newest_ms = newest_ms
            age = wall - newest_ms / 1000
            self.latencies.note(age if age > 0 else 0.0, records)
