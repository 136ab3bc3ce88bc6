"""The state of one partition whose records are transformed: `copy/partition.py`, without the target's log.

A chain drops records and writes to several topics, so that neither counting the records on the target nor
their sequence numbers say where to resume. The position is the stored offset (exactly once: in the same
transaction as the records; at least once: a little behind them), and all partitions share the numbers of the
task's producer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.copy.lane.spans import Span, Spans
from heliograph.copy.partition import Partition
from heliograph.measured import NO_BATCHES, BatchCounts


@dataclass(slots=True, eq=False, kw_only=True)
class LaneBatch(ProducerBatch):
    """A batch of `owner`'s records, or of the coordinates of `quarantined` records of it, of which the first
    failed because of `why`."""

    owner: LanePartition
    span: Span
    quarantined: int = 0
    why: str = ""


@dataclass(slots=True, eq=False)
class LanePartition(Partition):
    spans: Spans = field(default_factory=Spans)

    def __post_init__(self) -> None:
        """A snapshot of the raw copy counts records of the source, which are not those of the target here."""
        lineage = self.lease.lineage._replace(acked_offsets=None)
        self.lease = replace(self.lease, snapshot=None, lineage=lineage)
        Partition.__post_init__(self)

    # ── events of the source ─────────────────────────────────────────────────────────────────

    def carry(self, spans: Iterable[Span], counts: BatchCounts = NO_BATCHES) -> None:
        """The batches of these spans are about to be sent. A span without any is a mark: its records were
        dropped by the chain, or not selected."""
        for span in spans:
            self.outstanding += span.open
            self.spans.begin(span)
            self.position = span.end
        self.acked = self.spans.advance(self.acked)
        self.tally.batches = self.tally.batches.plus(counts)
        self.wanted = None
        self._pass_barrier()

    def read_to(self, position: int) -> None:
        self.carry([Span(position)])

    def skip(self, records: int) -> None:
        """Records that failed are left out."""
        self.skipped += records

    def want(self, topic: str, error: str, now: float) -> None:
        """Records are routed to a topic that is not there: fetch them again later."""
        self.wanted = topic
        self.health.delay(error, now)

    def miss(self, topic: str) -> None:
        """A topic that records were routed to is gone."""
        self.wanted = topic

    # ── events of the target ─────────────────────────────────────────────────────────────────

    def sent(self, batch: LaneBatch) -> None:
        """A batch was acknowledged; in a transaction, it is not committed yet."""
        batch.span.sent -= 1

    def landed(self, batch: LaneBatch, base_offset: int, wall: float) -> None:
        """A batch was acknowledged, or committed."""
        if not batch.span.live:
            return  # sent before the copy went back: the same records follow once more
        self.outstanding -= 1
        batch.span.open -= 1
        self.acked = self.spans.advance(self.acked)
        self.health.succeeded()
        if batch.quarantined:
            self.quarantined += batch.quarantined
        else:
            self.tally.acknowledged(batch, wall)
            self.remote.note_place(batch, base_offset)
        self._pass_barrier()

    def unstall(self) -> None:
        """All remote partitions that it writes to take records again."""
        self.stalled = False
        self.health.clear_unless_failed()

    # ── going back ───────────────────────────────────────────────────────────────────────────

    def refused(self, *, in_doubt: bool = False) -> None:
        """Go back to the acknowledged position; `in_doubt`: some of what follows may be on the target."""
        self._go_back()
        self.fallbacks += in_doubt
        self.needs_recovery = True

    def aborted(self) -> None:
        self._go_back()

    def renumber(self, position: int) -> None:
        self.spans.drop()
        Partition.renumber(self, position)

    def _go_back(self) -> None:
        self.spans.drop()
        self.position, self.outstanding, self.stalled = self.acked, 0, False

    @property
    def committing(self) -> int:
        """The offset to store with a transaction that has everything that was acknowledged."""
        return self.spans.acknowledged(self.acked)
