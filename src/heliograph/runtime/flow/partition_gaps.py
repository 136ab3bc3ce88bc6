"""What the driver knows of one partition's source and remote log, and of the gaps found."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace

from heliograph.mm2.state_records import Failure, GapRecord
from heliograph.model import (
    AckedOffsets,
    Gap,
    GapKind,
    GapPolicies,
    LeaderEpochMark,
    Lineage,
    PartitionState,
    Receipt,
    TopicIdPair,
    TopicPartition,
)
from heliograph.plan.gap_verdict import Known, describe, outcome

#: Recent gaps, so that one that is reported twice is counted once.
_RECENT = 8


@dataclass(slots=True)
class PartitionGaps:
    """`origin` are the topic ids for leases; `confirmed` those that the stored offset is known to belong to.
    Until they are equal, a successor has to find the same gap again."""

    flow: str
    partition: TopicPartition
    policy: GapPolicies
    origin: TopicIdPair = field(default_factory=TopicIdPair)
    confirmed: TopicIdPair = field(default_factory=TopicIdPair)
    mark: LeaderEpochMark | None = None
    acked_offsets: AckedOffsets | None = None
    generation: int = 0
    since: int = 0  # the first generation whose positions are valid
    receipt: Receipt | None = None
    source_end: int = -1
    record: GapRecord | None = None
    failed: Receipt | None = None
    moving: bool = False  # its flow does not have the new position yet
    found: dict[GapKind, tuple[int, int]] = field(
        default_factory=dict
    )  # number and records, by kind
    #: The newest gaps, for the time line: those of this service, and the last one of the service before.
    newest: deque[Gap] = field(default_factory=lambda: deque(maxlen=_RECENT))
    _unread: bool = False  # the stored offset at the time of the failure is not read yet
    _recent: deque[Gap] = field(default_factory=lambda: deque(maxlen=_RECENT))

    def lineage(self) -> Lineage:
        return Lineage(self.origin, self.mark, self.generation, self.acked_offsets)

    def known(self, position: int) -> Known:
        """With the position of its newest receipt or else the given one."""
        return Known(
            position=position if self.receipt is None else self.receipt.position,
            source_end=self.source_end,
            mark=self.mark,
            origin=self.origin,
        )

    def reported_deleted(self) -> bool:
        return self.record is not None and self.record.last.kind is GapKind.SOURCE_DELETED

    def learn(self, receipt: Receipt) -> None:
        if receipt.generation < self.since:
            return
        self.receipt, self.mark = receipt, receipt.mark
        if any(gap.kind is GapKind.TARGET_LOST for gap in receipt.gaps):
            self.acked_offsets = None
        landed = [each for each in receipt.ranges if each.downstream >= 0]
        # An older generation's ranges are of a remote topic that no longer exists.
        if landed and receipt.generation == self.generation:
            self.acked_offsets = landed[-1].acked_offsets
        if receipt.acked_offsets is not None and receipt.generation == self.generation:
            self.acked_offsets = receipt.acked_offsets
        self.source_end = max(receipt.source_end, self.source_end)
        if receipt.stored:
            self.confirmed = self.origin
        for gap in receipt.gaps:
            if gap not in self._recent:
                self._recent.append(gap)
                self.count(gap)
                # Not if it goes on behind the gap, and has failed since for another reason.
                stops = gap.resumed < 0 or self.policy.fails(gap.kind)
                if receipt.state is PartitionState.FAILED and stops:
                    self.fail(receipt.position)

    def count(self, gap: Gap) -> None:
        self.newest.append(gap)
        number, records = self.found.get(gap.kind, (0, 0))
        self.found[gap.kind] = (number + 1, records + gap.unmirrored)
        before = self.record
        self.record = GapRecord(
            topic=self.partition.topic,
            partition=self.partition.partition,
            flow=self.flow,
            gaps=1 + (before.gaps if before is not None else 0),
            unmirrored=gap.unmirrored + (before.unmirrored if before is not None else 0),
            last=gap,
        )

    def fail(self, position: int) -> None:
        """Stop because of the last gap: nothing is copied until `released`."""
        assert self.record is not None
        if self.record.failure is None:
            failure = Failure(position=position, stored=position)
            self.record, self._unread = replace(self.record, failure=failure), True
        last = self.record.last
        error = f"{self.partition}: {describe(last)}; {outcome(last, self.policy)}"
        receipt = self.receipt or self._blank(position)
        self.failed = replace(receipt, state=PartitionState.FAILED, error=error, gaps=(), ranges=())

    def restore(self, record: GapRecord) -> None:
        """Start from the record of an earlier service; a failure lasts while the policy is `fail`."""
        if not self.policy.fails(record.last.kind):
            record = replace(record, failure=None)
        self.record = record
        self.newest.append(record.last)
        if record.failure is not None:
            self.fail(record.failure.position)

    def released(self, stored: int | None, origin: TopicIdPair) -> bool:
        """Whether the user has stored another offset since the failure. The first stored offset seen is the
        one to compare with: its own task may have stored it."""
        failure = self.record.failure if self.record is not None else None
        if self.record is None or failure is None:
            return False
        if self._unread:
            self._unread = False
            failure = replace(failure, stored=-1 if stored is None else stored)
            self.record = replace(self.record, failure=failure)
            return False
        if not failure.lifted_by(stored):
            return False
        self.failed, self.record = None, replace(self.record, failure=None)
        self.origin = self.confirmed = origin
        self.begin_generation()
        return True

    def begin_remote(self) -> None:
        """The remote topic was replaced: a new lease is needed, at the same position."""
        self.generation += 1
        self.acked_offsets = None

    def acked_before(self, position: int) -> AckedOffsets | None:
        """What the remote log must have of the records before this position, and how long it must be."""
        acked = self.acked_offsets
        return None if acked is None else acked._replace(upstream=min(acked.upstream, position))

    def begin_generation(
        self, mark: LeaderEpochMark | None = None, acked_offsets: AckedOffsets | None = None
    ) -> None:
        """Another position: nothing else known of the logs is valid."""
        self.generation += 1
        self.since = self.generation
        self.mark = mark
        self.receipt, self.acked_offsets = None, acked_offsets
        self.source_end = -1
        self.moving = True

    def forget_task(self) -> None:
        """Its task ended without a last receipt: earlier and later receipts of that task are ignored."""
        self.receipt = None
        self.generation += 1
        self.since = self.generation

    def _blank(self, position: int) -> Receipt:
        return Receipt(
            flow=self.flow,
            topic=self.partition.topic,
            partition=self.partition.partition,
            position=position,
            records=0,
            bytes=0,
            source_end=-1,
            stored=True,
            state=PartitionState.FAILED,
        )
