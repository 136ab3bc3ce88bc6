"""What is known of a remote partition's log: where the next batch lands, and what must still be there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.mm2.offset_map_builder import OffsetMapBuilder
from heliograph.model import ProducerSnapshot
from heliograph.plan.resume import TargetLost


class Foreign(NamedTuple):
    """Offsets on the target between two batches of ours, `markers` of which our transactions explain."""

    gap: range
    markers: int


@dataclass(slots=True, eq=False)
class RemoteLog:
    """Part of a `Partition`, which alone changes it."""

    downstream: int = -1  # where the next batch lands if no other writer comes first; -1: not known
    floor: int = -1  # the log was at least so long once
    lost_from: int | None = None  # downstream; what was acknowledged from there on is gone
    copied_since: bool = False  # other records of ours stand there now
    #: A successor that resumes from it finds the same loss.
    before_loss: ProducerSnapshot | None = None
    markers: int = 0  # ends of our transactions since the last batch that was acknowledged
    landing: OffsetMapBuilder | None = None  # where records land, if that is asked for
    unplaced: int = 0  # records of which it is not known where they stand

    def look(self, end: int, resumes_from: int | None) -> int | None:
        """The log ends there. From which offset on it has lost what it had acknowledged, if it has. All that
        landed behind the snapshot that the copy `resumes_from` is counted: what is missing there is copied
        again without more ado."""
        # Brokers write the marker of a transaction after its commit is answered.
        known, self.downstream = max(self.floor, self.downstream - self.markers), end
        if self.lost_from is not None:
            return self.lost_from
        counted = resumes_from is not None and 0 <= resumes_from <= end
        if end < known and not counted:
            self.floor = known  # until the loss is settled: a cluster may not answer before
            return end
        self.floor = end
        return None

    def compare(self, found: TargetLost) -> TargetLost:
        """What the log says of a snapshot."""
        self.copied_since |= found.copied_since
        return found

    def land(
        self, base_offset: int, count: int, before: ProducerSnapshot | None = None
    ) -> Foreign | None:
        """A batch was appended. What stands between it and the one before, if that is more than ours.
        `before` is the snapshot before it, if it shows a loss."""
        foreign = None
        if base_offset == self.downstream:
            self.downstream += count
        else:
            if self.shows_loss(base_offset):
                self.before_loss = before if self.lost_from is None else self.before_loss
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
            # Brokers write a marker after a commit is answered: another writer may come first.
            return Foreign(range(expected - self.markers, base_offset), self.markers)
        return None

    def shows_loss(self, base_offset: int) -> bool:
        """Whether a batch that landed there says that the log has lost what it had acknowledged."""
        return 0 <= base_offset < max(self.floor, self.downstream)

    def lose_from(self, base_offset: int) -> None:
        known = self.lost_from
        self.lost_from = base_offset if known is None else min(base_offset, known)

    def settle_loss(self, end: int) -> None:
        """What was lost is reported, and copied again if it is to be."""
        self.lost_from, self.floor, self.copied_since = None, end, False
        self.before_loss = None

    def pass_marker(self) -> None:
        """The end of a transaction takes an offset of its own."""
        if self.downstream >= 0:
            self.downstream += 1
            self.markers += 1

    def forget_end(self) -> None:
        """Where the next batch lands is not known any more; not before what has landed, though."""
        self.floor, self.downstream = max(self.floor, self.downstream), -1

    def note_place(self, batch: ProducerBatch, base_offset: int) -> None:
        """Where the records of a batch stand; -1 if the broker does not say."""
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
        """Records of the source from `first` to `end` are here, but not there any more: where each of them
        stands is not known. Without this the offset map would take them for unmirrored."""
        if self.landing is not None and end > first:
            self.landing.lose(first, end - first)
