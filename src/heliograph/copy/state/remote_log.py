"""What is known of a remote partition's log: where the next batch will land, and how long it must be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.mm2.offset_map_builder import OffsetMapBuilder
from heliograph.model import AckedOffsets, ProducerSnapshot
from heliograph.plan.resume import TargetLost


class Foreign(NamedTuple):
    """Offsets on the target between two batches of ours; `markers` of them are our own transactions'."""

    gap: range
    markers: int


@dataclass(slots=True, eq=False)
class RemoteLog:
    """Part of a `Partition`; only the partition changes it."""

    downstream: int = -1  # where the next batch lands unless another writer is first; -1: not known
    floor: int = -1  # the log end was at least this offset once
    lost_from: int | None = None  # downstream; acknowledged records from this offset on are gone
    copied_since: bool = False  # newer records of ours are at the lost offsets now
    before_loss: ProducerSnapshot | None = (
        None  # a successor that resumes from it finds the same loss
    )
    markers: int = 0  # our transaction markers since the last acknowledged batch
    landing: OffsetMapBuilder | None = None  # None if no offset map and no syncs are wanted
    unplaced: int = 0  # records whose target offset is not known
    #: Under exactly once: the offset of our newest committed record (-1: not known), and the epoch of the
    #: target's leader under which the log was known to be whole (None: not known).
    last: int = -1
    leader_epoch: int | None = None

    def begin(self, acked: AckedOffsets | None, snapshot: ProducerSnapshot | None) -> None:
        """What the lease knows of the log."""
        if acked is not None:
            self.floor, self.last = acked.downstream, acked.last
            self.confirm(acked.leader_epoch if acked.leader_epoch >= 0 else None)
        if snapshot is not None and snapshot.retired:
            self.floor = max(self.floor, snapshot.downstream)

    def observe_end(self, end: int, resumes_from: int | None = None) -> int | None:
        """The log ends at `end`. Returns the offset from which acknowledged records are lost, if any are. The
        records after the offset of the snapshot, `resumes_from`, are counted, and those that are missing are
        copied again: they are no loss."""
        # Brokers write a transaction's marker after they have answered the commit.
        known, self.downstream = max(self.floor, self.downstream - self.markers), end
        if self.lost_from is not None:
            return self.lost_from
        counted = resumes_from is not None and 0 <= resumes_from <= end
        if end < known and not counted:
            self.floor = known  # until the loss is settled: a cluster may not answer before that
            return end
        self.floor = end
        return None

    def compare(
        self, end: int, found: object, resumes_from: int | None = None
    ) -> TargetLost | None:
        """As `observe_end`; `found` is what the snapshot shows, which is more precise if it shows a loss."""
        lost_from = self.observe_end(end, resumes_from)
        if self.lost_from is None and isinstance(found, TargetLost):
            self.copied_since |= found.copied_since
            return found
        return None if lost_from is None else TargetLost(lost_from)

    def land(
        self, base_offset: int, count: int, before: ProducerSnapshot | None = None
    ) -> Foreign | None:
        """A batch was appended. Returns the offsets between it and our previous batch, if there are any.
        `before` is the snapshot before this batch, if the batch shows a loss."""
        foreign = None
        if base_offset == self.downstream:
            self.downstream += count
        else:
            if self.shows_loss(base_offset):
                if self.lost_from is None and before is not None:
                    # The length of the log if it had lost nothing: this batch may have made up for the loss.
                    length = max(self.floor, self.downstream) + count
                    self.before_loss = before._replace(downstream=length)
                self.lose_from(base_offset)
                self.copied_since = True
            foreign = self._jump(base_offset, count)
        self.markers = 0
        return foreign

    def _jump(self, base_offset: int, count: int) -> Foreign | None:
        expected = self.downstream
        self.forget_end()
        self.downstream = base_offset + count if base_offset >= 0 else -1
        if 0 <= expected < base_offset:
            # Brokers write a marker after they have answered the commit: another writer may be first.
            return Foreign(range(expected - self.markers, base_offset), self.markers)
        return None

    def shows_loss(self, base_offset: int) -> bool:
        """Whether a batch at this offset shows that the log has lost acknowledged records."""
        # No call of max: this is called with every batch.
        return base_offset >= 0 and (base_offset < self.floor or base_offset < self.downstream)

    def lose_from(self, base_offset: int) -> None:
        known = self.lost_from
        self.lost_from = base_offset if known is None else min(base_offset, known)

    def settle_loss(self, end: int) -> None:
        """The loss is reported; the log ends at `end`."""
        self.lost_from, self.floor, self.copied_since = None, end, False
        self.before_loss = None

    def confirm(self, leader_epoch: int | None) -> None:
        """The log was whole under this epoch of its leader; None: not known."""
        self.leader_epoch = leader_epoch

    def pass_marker(self) -> None:
        """A transaction marker takes one offset."""
        if self.downstream >= 0:
            self.downstream += 1
            self.markers += 1

    def forget_end(self) -> None:
        """The offset of the next batch is unknown, but not below what has landed."""
        self.floor, self.downstream = max(self.floor, self.downstream), -1

    def note_place(self, batch: ProducerBatch, base_offset: int) -> None:
        """Add the records of a batch to the offset map. `base_offset` is -1 if the broker sent none."""
        landing = self.landing
        if landing is None:
            return
        for upstream, count in batch.runs or ((batch.first_offset, batch.record_count),):
            if base_offset < 0:
                landing.lose(upstream, count)
                self.unplaced += count
            else:
                landing.land(upstream, base_offset, count)
                base_offset += count

    def lose_places(self, first: int, end: int) -> None:
        """The target has the records from `first` to `end`, but the source has deleted them, so their target
        offsets are unknown. Without an entry the offset map would treat them as not mirrored."""
        if self.landing is not None and end > first:
            self.landing.lose(first, end - first)
