"""What one partition's copy has done so far, and how it looks from outside."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from heliograph.client.net.backoff import Backoff
from heliograph.mm2.offset_map_builder import OffsetMapBuilder
from heliograph.model import (
    Gap,
    IsolationLevel,
    Landmark,
    LeaderEpochMark,
    Lease,
    OffsetRange,
    PartitionState,
    ProducerIdentity,
    ProducerSnapshot,
    Receipt,
    TopicPartition,
)

#: Positions given to the offsets topic that a trail remembers: some may never have arrived there.
_STORES = 8


@dataclass(slots=True, eq=False)
class Partition:
    """`position` is the next upstream offset to fetch; everything below `acked` is on the target.

    `base` is the trail that the copy goes on from, until it has: until the target was looked at, and the
    `skip` records that follow the trail, and are on the target, are read and dropped.

    Law: under one `identity`, one sequence number means one record. Wherever records may get other numbers
    than they were sent with before (a jump, a record left out, holes that compaction has made since, another
    isolation level), the copy goes on under the next epoch of the producer id, from number 0 on.
    """

    lease: Lease
    position: int
    acked: int
    stored: int | None  # what the offsets topic knows
    isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED
    base: ProducerSnapshot | None = field(init=False)
    stores: tuple[int, ...] = field(init=False)  # what the offsets topic may say
    source_mark: LeaderEpochMark | None = field(init=False)  # of the newest record fetched
    identity: ProducerIdentity | None = None
    retired: ProducerIdentity | None = None  # the identity before, whose next epoch is to be used
    sequence: int = 0  # of the next record to be acknowledged
    #: Numbers of records below this upstream offset may have been given before, by this task or another.
    numbered_to: int = -1
    #: The copy reaches this upstream offset, with nothing under way, before it goes on under new numbers.
    barrier: int | None = None
    skip: int = 0
    skipped_to: int = -1  # downstream offset of the next record to skip; -1 if not known
    landed_last: bytes = b""  # the batch that the last of them stands in, on the target
    holes: bool = False  # whether compaction has been at them
    doubts: int = 0
    astray: int = 0  # how often in a row its numbers were out of order
    outstanding: int = 0
    records: int = 0
    bytes: int = 0
    source_end: int = -1
    max_bytes: int | None = None
    state: PartitionState = PartitionState.RUNNING
    error: str | None = None
    copied: float = 0.0  # seconds since 1970
    downstream: int = -1  # where the next batch will land if nobody else writes; -1 if not known
    floor: int = -1  # the target's log was at least so long once
    lost_from: int | None = None  # downstream; what was acknowledged from there on is gone
    copied_since: bool = False  # other records of ours stand there now
    voids: bool = False  # the first transaction that it is part of is to be aborted
    markers: int = 0  # ends of our transactions since the last batch that was acknowledged
    foreign: int = 0  # records that somebody else has written between ours
    ended: bool = False
    quarantined: int = 0  # records that were left out
    throttled: bool = False
    landing: OffsetMapBuilder | None = None  # if anybody wants to know where records land
    recovering: bool = False  # what of it is on the target is still to be found out
    suspected: bool = (
        False  # its log may not be the one it was: nothing is fetched until that is known
    )
    halted: bool = False  # waits for the driver, or for a user's word
    recheck: bool = False  # the driver has to look at its topics
    gaps: deque[Gap] = field(default_factory=deque)  # not reported yet
    retry_at: float | None = None
    backoff: Backoff = field(default_factory=lambda: Backoff(first=0.5, most=30.0))
    _told: tuple[tuple[object, ...], Receipt] | None = (
        None  # the last receipt, and what it was made of
    )

    def __post_init__(self) -> None:
        self.base = self.lease.trail
        self.stores = (self.lease.stored_offset,) if self.base is None else self.base.stored
        self.source_mark = self.lease.lineage.mark
        if self.lease.lineage.landmark is not None:
            self.floor = self.lease.lineage.landmark.downstream

    @property
    def trail(self) -> ProducerSnapshot | None:
        """What a successor may go on from."""
        if self.identity is None or self.skip:
            return self.base
        return ProducerSnapshot(
            *(self.acked, self.downstream, self.sequence, self.identity, self.stores),
            isolation=self.isolation,
            mark=self.source_mark,
        )

    @property
    def end(self) -> int | None:
        """Not to be read beyond, for now or under this lease."""
        ends = [end for end in (self.lease.end, self.barrier) if end is not None]
        return min(ends, default=None)

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

    @property
    def to_store(self) -> bool:
        """Not before the base is left: until then the trail does not move, and names no such offset. Nor
        while there is no trail at all."""
        return self.acked != self.stored and self.base is None and not self.recovering

    def mark(self) -> int:
        """The position that is to be stored now."""
        if len(self.stores) == _STORES:  # not the first: it is there for sure, the others may be
            self.stores = (self.stores[0], *self.stores[2:])
        self.stores = (*self.stores, _said(self.acked))
        return self.acked

    def confirm(self, position: int) -> None:
        """The offsets topic says this, or what was marked after it."""
        said = _said(position)
        if said in self.stores:
            self.stores = self.stores[self.stores.index(said) :]

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
        self.astray = 0

    def pass_over(self, count: int, position: int) -> None:
        """So many records up to `position` will never be on the target; nothing is under way."""
        self.quarantined += count
        self.position = self.acked = position
        self.state, self.error = PartitionState.RUNNING, None
        self.backoff.reset()

    def landed(self, base_offset: int, count: int) -> range:
        """What stands between our last record and a batch that was appended at `base_offset`, if that is more
        than our markers: brokers write them after a commit is answered, somebody else may come first."""
        expected = self.downstream
        self.forget_end()
        self.downstream = base_offset + count if base_offset >= 0 else -1
        return (
            range(expected - self.markers, base_offset) if 0 <= expected < base_offset else range(0)
        )

    def skipped(self, next_offset: int, records: int) -> int:
        """These are on the target already; at which offset is returned, -1 if nobody knows."""
        self.skip -= records
        self.acked = next_offset
        if not self.skip:
            self.base = None
        at = self.skipped_to
        if at >= 0:
            self.skipped_to += records
        return at

    def forget_end(self) -> None:
        """Where the next batch will land is not known any more; not before what has landed, though."""
        self.floor, self.downstream = max(self.floor, self.downstream), -1

    def shows_loss(self, base_offset: int) -> bool:
        """Whether a batch that landed there says that the target has lost what it had acknowledged."""
        return 0 <= base_offset < max(self.floor, self.downstream)

    def lose_from(self, base_offset: int) -> None:
        known = self.lost_from
        self.lost_from = base_offset if known is None else min(base_offset, known)

    @property
    def known_landing(self) -> Landmark | None:
        """What the offset map's last stretch goes up to, unless another has begun since it was written."""
        if self.base is not None:
            return Landmark(self.base.upstream, self.base.downstream)
        return self.lease.lineage.landmark

    def skip_deleted(self, start: int) -> None:
        """The source has deleted the first of the records to be skipped: count on at `start`. That there was
        one at each offset shows when the last of them is compared with the target's last."""
        deleted = start - self.position
        assert 0 < deleted < self.skip
        self._lose_places(start)
        self.skip -= deleted
        self.position = self.acked = start
        self.holes = True
        if self.skipped_to >= 0:
            self.skipped_to += deleted

    def _lose_places(self, position: int) -> None:
        """Records before `position` that are on the target, but not in the source any more: where each of
        them stands is not known. Without this the offset map would take them for unmirrored."""
        if self.landing is not None and position > self.acked:
            self.landing.lose(self.acked, position - self.acked)

    def adopt(self, identity: ProducerIdentity, sequence: int) -> None:
        """Go on with the numbers of a predecessor, who may have sent all that the source has."""
        self.identity, self.sequence = identity, sequence
        self.numbered_to = sys.maxsize

    def unsettle(self) -> None:
        """Go back to what is acknowledged. Whether what was sent behind it has landed is not known: the
        target has to be looked at, and what is read again was numbered before."""
        self.numbered_to = max(self.numbered_to, self.position)
        self.base, self.identity, self.position = self.trail, None, self.acked
        self.outstanding = 0

    def renumber(self, position: int) -> None:
        """Go on at `position` with numbers of its own; nothing is under way."""
        assert not self.outstanding
        if self.skip:
            self._lose_places(position)
        self.retired = self.identity or (
            self.base.identity if self.base is not None else self.retired
        )
        self.identity = self.base = self.barrier = None
        self.skip, self.numbered_to = 0, -1
        self.position = self.acked = position

    def pass_marker(self) -> None:
        """The end of a transaction takes an offset of its own."""
        if self.downstream >= 0:
            self.downstream += 1
            self.markers += 1

    def receipt(self, stretches: tuple[OffsetRange, ...] = ()) -> Receipt:
        """Without news, the very same object as before: most of thousands of partitions have none."""
        now = (self.acked, self.records, self.source_end, self.stored, self.state, self.error,
               self.copied, self.foreign, self.doubts, self.ended, self.source_mark,
               self.recheck, self.quarantined, self.throttled)  # fmt: skip
        if self._told is None or self._told[0] != now:
            self._told = (now, self._receipt())
        receipt = self._told[1]
        gaps = tuple(self._take_gaps())
        news = stretches or gaps
        return replace(receipt, stretches=stretches, gaps=gaps) if news else receipt

    def _receipt(self) -> Receipt:
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
            doubts=self.doubts,
            trail=self.trail if self.ended else None,
            mark=self.source_mark,
            turn=self.lease.lineage.turn,
            recheck=self.recheck,
            quarantined=self.quarantined,
            throttled=self.throttled,
        )

    def _take_gaps(self) -> Iterator[Gap]:
        while self.gaps:  # receipts are made in another thread
            yield self.gaps.popleft()


def _said(position: int) -> int:
    """What the offsets topic says of a position: of 0 nothing, since nothing is mirrored."""
    return position or -1
