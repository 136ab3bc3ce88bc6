"""What one partition's copy has done so far, and how it looks from outside."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from heliograph.client.backoff import Backoff
from heliograph.mm2.landing import Landing
from heliograph.model import Lease, PartitionState, Receipt, Stretch, TopicPartition


@dataclass(slots=True, eq=False)
class PartitionCopy:
    """`position` is the next upstream offset to fetch; everything below `acked` is on the target."""

    lease: Lease
    position: int
    acked: int
    stored: int | None  # what the offsets topic knows
    outstanding: int = 0
    records: int = 0
    bytes: int = 0
    source_end: int = -1
    max_bytes: int | None = None
    state: PartitionState = PartitionState.RUNNING
    error: str | None = None
    copied: float = 0.0  # seconds since 1970
    downstream: int = -1  # where the next batch will land if nobody else writes; -1 if not known
    foreign: int = 0  # records that somebody else has written between ours
    landing: Landing | None = None  # if anybody wants to know where records land
    retry_at: float | None = None
    backoff: Backoff = field(default_factory=lambda: Backoff(first=0.5, most=30.0))

    @property
    def source(self) -> TopicPartition:
        return TopicPartition(self.lease.topic, self.lease.partition)

    @property
    def target(self) -> TopicPartition:
        return TopicPartition(self.lease.target_topic, self.lease.partition)

    @property
    def done(self) -> bool:
        return self.lease.end is not None and self.acked >= self.lease.end

    @property
    def finished(self) -> bool:
        """Whether a bounded lease has nothing more to do, be it well or badly."""
        return self.done or (self.state is PartitionState.FAILED and not self.outstanding)

    def acknowledge(self, next_offset: int, records: int, size: int) -> None:
        self.outstanding -= 1
        self.records += records
        self.bytes += size
        self.copied = time.time()
        # Past the last batch under way, what was dropped behind it (markers, aborted data) is done too.
        self.acked = next_offset if self.outstanding else max(next_offset, self.position)
        if self.state is not PartitionState.FAILED:
            self.state, self.error = PartitionState.RUNNING, None
        self.backoff.reset()

    def landed(self, base_offset: int, count: int) -> int:
        """How many records of others stand before a batch that was appended at `base_offset`."""
        others = base_offset - self.downstream if 0 <= self.downstream < base_offset else 0
        self.foreign += others
        self.downstream = base_offset + count if base_offset >= 0 else -1
        return others

    def receipt(self, stretches: tuple[Stretch, ...] = ()) -> Receipt:
        return Receipt(
            flow=self.lease.flow,
            topic=self.lease.topic,
            partition=self.lease.partition,
            position=self.acked,
            records=self.records,
            bytes=self.bytes,
            source_end=self.source_end,
            stored=self.acked == self.stored,
            state=PartitionState.DONE if self.done else self.state,
            error=None if self.done else self.error,
            copied_ms=int(self.copied * 1000) or -1,
            foreign=self.foreign,
            stretches=stretches,
        )
