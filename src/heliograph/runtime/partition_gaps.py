"""What the driver knows of one partition's logs, and of the gaps in them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace

from heliograph.mm2.state_records import Failure, GapRecord
from heliograph.model import (
    Gap,
    GapKind,
    GapPolicies,
    Landmark,
    LeaderEpochMark,
    Lineage,
    PartitionState,
    Receipt,
    TopicIdPair,
    TopicPartition,
)
from heliograph.plan.gaps import Known, describe, outcome

#: Gaps of a receipt that were counted before are not counted again.
_RECENT = 8


@dataclass(slots=True)
class PartitionGaps:
    """`origin` is what leases get, `confirmed` what the stored offset is known to belong to: a service that
    comes next must find again what this one could not see through."""

    flow: str
    partition: TopicPartition
    policy: GapPolicies
    origin: TopicIdPair = field(default_factory=TopicIdPair)
    confirmed: TopicIdPair = field(default_factory=TopicIdPair)
    mark: LeaderEpochMark | None = None
    landmark: Landmark | None = None
    turn: int = 0
    since: int = 0  # the first turn whose positions hold
    receipt: Receipt | None = None
    source_end: int = -1
    record: GapRecord | None = None
    failed: Receipt | None = None
    moving: bool = False  # its flow has still to take over its new position
    _unread: bool = False  # what is stored is still to be read, for its failure to be compared with
    _recent: deque[Gap] = field(default_factory=lambda: deque(maxlen=_RECENT))

    def lineage(self) -> Lineage:
        return Lineage(self.origin, self.mark, self.turn, self.landmark)

    def known(self, position: int) -> Known:
        """With the position of its task, if it has one, and the given one, if not."""
        return Known(
            position=position if self.receipt is None else self.receipt.position,
            source_end=self.source_end,
            mark=self.mark,
            origin=self.origin,
        )

    def told_gone(self) -> bool:
        return self.record is not None and self.record.last.kind is GapKind.SOURCE_DELETED

    def hear(self, receipt: Receipt) -> None:
        if receipt.turn < self.since:
            return
        self.receipt, self.mark = receipt, receipt.mark
        if any(gap.kind is GapKind.TARGET_LOST for gap in receipt.gaps):
            self.landmark = None
        landed = [each for each in receipt.ranges if each.downstream >= 0]
        # Of an older turn: in the log of a remote topic that is not there any more.
        if landed and receipt.turn == self.turn:
            self.landmark = landed[-1].landmark
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
        """Because of the gap counted last: nothing is copied until `released`."""
        assert self.record is not None
        if self.record.failure is None:
            failure = Failure(position=position, stored=position)
            self.record, self._unread = replace(self.record, failure=failure), True
        last = self.record.last
        error = f"{self.partition}: {describe(last)}; {outcome(last, self.policy)}"
        receipt = self.receipt or self._blank(position)
        self.failed = replace(receipt, state=PartitionState.FAILED, error=error, gaps=(), ranges=())

    def restore(self, record: GapRecord) -> None:
        """As an earlier service left it; a failure holds as long as the policy does."""
        if not self.policy.fails(record.last.kind):
            record = replace(record, failure=None)
        self.record = record
        if record.failure is not None:
            self.fail(record.failure.position)

    def released(self, stored: int | None, origin: TopicIdPair) -> bool:
        """Whether a user has stored another offset since it failed. The first look is what later ones are
        compared with: what its own task stored last is no user's word."""
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
        self.begin_turn()
        return True

    def begin_remote(self) -> None:
        """The remote topic is another one: to be leased anew, where it stands."""
        self.turn += 1
        self.landmark = None

    def begin_turn(self, mark: LeaderEpochMark | None = None) -> None:
        """It gets another position: what was known of the log before it says nothing, but for the `mark`."""
        self.turn += 1
        self.since = self.turn
        self.mark = mark
        self.receipt = self.landmark = None
        self.source_end = -1
        self.moving = True

    def forget_task(self) -> None:
        """Its task is gone: what it said is not where the next one starts, what it still says is void."""
        self.receipt = None
        self.turn += 1
        self.since = self.turn

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
