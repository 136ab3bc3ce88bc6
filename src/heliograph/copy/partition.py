"""The state machine of one partition's copy: events in, a command out; no clock, no I/O.

                ┌─────────────── refused, renumbered, or the target lost records ────────────────┐
                ▼                                                                                │
    start ► RECOVERING ── recovered ─► COPYING ◄─────────── retried ──────── WAITING ──────────► ┤
                │                       │ │ │ ▲                                 ▲                │
                │                       │ │ │ └ fetched, acknowledged           │                │
                │                       │ │ └── failed, released ───────────────┘                │
                │                       │ └──── source suspect ─► CHECKING ─ confirmed ► COPYING │
                │                       └────────────────────────────┴──────────────────────────►┘
                └─► HALTED ◄─ a topic was replaced, or a gap under the policy `fail`: from every phase

Several may be due at once; they are handled in the order HALTED, RECOVERING, CHECKING, WAITING, and `phase`
is the first of them. `state/phases.py` lists every arrow.

Laws: what is acknowledged was fetched; what is stored was acknowledged; nothing is fetched unless the phase
is COPYING; the position changes by a jump only when no batch is in flight; one sequence number means one
record (`state/numbering.py`). Only this module assigns a partition's fields
(tests/unit/copy/test_ownership.py), and only the thread of its copy loop reads them: others get receipts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.copy.state.health import Health
from heliograph.copy.state.numbering import Numbering
from heliograph.copy.state.phases import Command, Held, Phase
from heliograph.copy.state.remote_log import Foreign, RemoteLog
from heliograph.copy.state.snapshots import snapshot_of
from heliograph.copy.state.stored_offset import StoredOffset
from heliograph.copy.state.tally import Tally
from heliograph.mm2.offset_map_builder import OffsetMapBuilder
from heliograph.model import (
    Gap,
    IsolationLevel,
    LastBatch,
    LeaderEpochMark,
    Lease,
    PartitionState,
    ProducerIdentity,
    ProducerSnapshot,
    TopicPartition,
)
from heliograph.plan.resume import Landed, TargetLost, Undetermined, landed_since

if TYPE_CHECKING:
    from heliograph.copy.prepare_batches import Prepared


@dataclass(slots=True, eq=False)
class Partition:
    """`position` is the next upstream offset to fetch; everything below `acked` is on the target."""

    lease: Lease
    isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED
    transactional: bool = False  # records have the numbers of the task's transactional producer
    source: TopicPartition = field(init=False)
    target: TopicPartition = field(init=False)

    position: int = field(init=False)
    acked: int = field(init=False)
    outstanding: int = 0  # batches in flight or queued for sending
    #: Upstream offset at which the copy waits until no batch is in flight, then continues with new numbers.
    barrier: int | None = None
    source_end: int = -1
    source_mark: LeaderEpochMark | None = field(init=False)  # of the newest record fetched
    numbers: Numbering = field(init=False)
    offset: StoredOffset = field(init=False)
    remote: RemoteLog = field(default_factory=RemoteLog)
    health: Health = field(default_factory=Health)
    max_bytes: int | None = None  # the target's limit for a batch, once it has refused one

    # ── why it waits ─────────────────────────────────────────────────────────────────────────
    needs_recovery: bool = True
    needs_check: bool = False
    halted: bool = False
    stalled: bool = False  # the target cannot be written to at the moment
    held: Held | None = None
    quarantining: Held | None = None  # its coordinates are in flight
    sequence_errors: int = 0  # consecutive sequence number errors
    in_doubt: bool = False  # the target may have forgotten its producer

    # ── for receipts ─────────────────────────────────────────────────────────────────────────
    tally: Tally = field(default_factory=Tally)
    fallbacks: int = 0
    foreign: int = 0  # records of other writers between ours
    quarantined: int = 0  # records that were not mirrored
    skipped: int = 0  # records left out because they failed in a lane
    recheck: bool = False  # the driver has to check the topics
    wanted: str | None = (
        None  # a topic that the driver has to create, for records that are routed to it
    )
    gaps: tuple[Gap, ...] = ()  # not reported yet

    def __post_init__(self) -> None:
        lease = self.lease
        self.source = TopicPartition(lease.topic, lease.partition)
        self.target = TopicPartition(lease.target_topic, lease.partition)
        self.position = self.acked = lease.start
        self.numbers = Numbering(self.isolation, lease.snapshot)
        self.offset = StoredOffset(
            lease.start if lease.stored else None,
            (lease.stored_offset,) if lease.snapshot is None else lease.snapshot.stored,
        )
        self.source_mark = lease.lineage.mark
        self.remote.begin(lease.lineage.acked_offsets, lease.snapshot)
        if lease.snapshot is not None and lease.snapshot.retired:
            self.numbers.retire()

    # ── the next command ─────────────────────────────────────────────────────────────────────

    @property
    def state(self) -> PartitionState:
        return self.health.state

    @property
    def error(self) -> str | None:
        return self.health.error

    @property
    def phase(self) -> Phase:
        if self.halted:
            return Phase.HALTED
        if self.needs_recovery:
            return Phase.RECOVERING
        if self.needs_check:
            return Phase.CHECKING
        return Phase.COPYING if self.health.retry_at is None else Phase.WAITING

    @property
    def command(self) -> Command:
        if self.halted:
            return Command.WAIT
        if self.needs_recovery:
            return Command.RECOVER
        if self.needs_check:
            return Command.CHECK
        if self.health.retry_at is not None or self.stalled:
            return Command.WAIT
        if self.held is not None:
            ready = not self.outstanding and self.quarantining is None
            return Command.QUARANTINE if ready else Command.WAIT
        end = self.end
        return Command.WAIT if end is not None and self.position >= end else Command.FETCH

    def may_recover(self, now: float) -> bool:
        due = self.health.may_retry(now)
        return self.phase is Phase.RECOVERING and due and not self.outstanding

    def may_check(self) -> bool:
        return self.phase is Phase.CHECKING and not self.outstanding

    def may_retry(self, now: float) -> bool:
        due = self.health.retry_at is not None and self.health.may_retry(now)
        return due and not self.outstanding and not self.needs_recovery

    @property
    def end(self) -> int | None:
        """The offset that fetches must not pass, at the moment or under this lease; None: no limit."""
        if self.barrier is None:
            return self.lease.end
        return self.barrier if self.lease.end is None else min(self.lease.end, self.barrier)

    @property
    def done(self) -> bool:
        return self.lease.end is not None and self.acked >= self.lease.end

    @property
    def finished(self) -> bool:
        """Whether a bounded lease is complete or has failed."""
        return self.done or (self.state is PartitionState.FAILED and not self.outstanding)

    # ── recovery: how much is on the target, and which producer id and sequence to resume ────

    def compare_target(
        self, end: int, last: LastBatch | None, unreadable: str | None
    ) -> Landed | Undetermined | TargetLost:
        """`end` is the target's log end, `last` the newest batch there of the snapshot's producer."""
        base = self.numbers.base
        found = Landed(0, 0) if base is None else landed_since(base, end, last, self.isolation)
        lost = self.remote.compare(end, found, None if base is None else base.downstream)
        if lost is not None:
            return lost
        return found if unreadable is None or base is None else Undetermined(unreadable)

    def resume_behind(self, landed: Landed, last: LastBatch | None) -> None:
        base = self.numbers.base
        if base is None:
            return
        if not self.numbers.resume(landed, last):
            self.renumber(base.upstream)
        elif not self.transactional:  # in transactions, the other records may be our own
            self.foreign += landed.foreign

    def introduce(self, identity: ProducerIdentity) -> None:
        self.numbers.introduce(identity)

    def recovered(self) -> None:
        if self.transactional:
            self.numbers.identity = None
            self.remote.forget_end()
        self.needs_recovery = self.in_doubt = False
        self.tally.resumes += 1
        self.numbers.begin()
        self.health.clear_if_retrying()
        self.health.retry()

    def delay_recovery(self, error: str, now: float) -> None:
        self.health.delay(error, now)

    def refuse_sequence(self, error: str, now: float, *, fenced_seconds: float | None) -> None:
        """The broker expects another sequence number: recover after a growing pause, or `fenced_seconds`."""
        self.sequence_errors += 1
        self.health.delay(error, now, fenced_seconds)

    def fall_back(self, position: int | None, *, fenced: bool = False) -> int:
        """Resume at least once: at `position`, or behind the last record known to be on the target. Returns
        the position. If `fenced`, the next epoch of the producer id belongs to another task."""
        if position is None:
            base = self.numbers.base
            position = self.acked if base is None else base.upstream
        self.fallbacks += 1
        self.sequence_errors = 0
        self.renumber(position)
        if fenced:
            self.numbers.retired = None
        return position

    def renumber(self, position: int) -> None:
        """Continue at `position` under the next producer epoch; no batch may be in flight."""
        assert not self.outstanding
        if self.numbers.skip:
            self.remote.lose_places(self.acked, position)
        self.numbers.retire()
        self.barrier = self.held = None
        self.position = self.acked = position
        self.needs_recovery = True

    @property
    def snapshot(self) -> ProducerSnapshot | None:
        return snapshot_of(self)

    # ── events of the source ─────────────────────────────────────────────────────────────────

    def answered(self, source_end: int) -> None:
        """A fetch succeeded; the source's log ends at `source_end`."""
        self.source_end = source_end
        if not self.outstanding:
            self.health.clear_if_retrying()

    def read(self, prepared: Prepared) -> None:
        """For every fetch, also one whose records are not sent."""
        self.numbers.holes |= prepared.holes
        if prepared.mark is not None:
            self.source_mark = prepared.mark

    def fetched(self, prepared: Prepared) -> None:
        """The batches of `prepared` are about to be sent. If it ends with a failure, `failed` follows."""
        self.numbers.check_places(sum(batch.record_count for batch in prepared.there))
        for batch in prepared.there:
            at = self.numbers.skipped(batch.record_count)
            self.acked = batch.next_offset
            self.remote.note_place(batch, at)
        if prepared.renumbered:
            self.barrier = prepared.position
        self.outstanding += len(prepared.batches)
        self.tally.batches = self.tally.batches.plus(prepared.counts)
        for batch in (*prepared.there, *prepared.batches)[-1:]:
            self.position = batch.next_offset
        if prepared.failure is not None:
            return
        if prepared.oversize:
            self.held = Held(prepared.oversize, prepared.position)
            self._pass_barrier()
        else:
            self.read_to(prepared.position)

    def measure_age(self, batches: Sequence[ProducerBatch], wall: float) -> None:
        """These batches were fetched now."""
        self.tally.fetched(batches, wall)

    def read_to(self, position: int) -> None:
        """All records before `position` are in flight, or are not mirrored."""
        self.position = position
        if not self.outstanding:
            self.acked = position
        self._pass_barrier()

    def skip_deleted(self, start: int) -> None:
        """The source has deleted the first of the records to skip: continue to skip at `start`."""
        self.remote.lose_places(self.acked, start)
        self.numbers.skip_deleted(start - self.position)
        self.position = self.acked = start

    def suspect_source(self, error: str | None = None) -> None:
        """The source's log may have changed. Recovery comes first, and ends with the same check."""
        if self.needs_recovery or self.halted:
            return
        self.needs_check = True
        if error is not None:
            self.retrying(error)

    def renumber_from(self, offset: int) -> None:
        """The log was truncated at `offset`: records from there on must get new sequence numbers."""
        self.barrier = offset

    def set_mark(self, mark: LeaderEpochMark | None) -> None:
        self.source_mark = mark

    def confirm_source(self, position: int | None = None) -> None:
        """The copy may continue: at its position, or at `position` because the log has changed."""
        self.needs_check = False
        self.health.clear_unless_failed()
        if position is not None:
            self.renumber(position)
        self._pass_barrier()

    def _pass_barrier(self) -> None:
        if self.barrier is not None and self.position >= self.barrier and not self.outstanding:
            self.renumber(self.position)

    # ── events of the target ─────────────────────────────────────────────────────────────────

    def acknowledged(self, batch: ProducerBatch, base_offset: int, wall: float) -> Foreign | None:
        """A batch was appended, or committed. Returns the offsets between it and our previous batch, if other
        writers or our markers took any."""
        assert batch.sequence is not None
        before = self.snapshot if self.remote.shows_loss(base_offset) else None
        self.stalled = False
        self.outstanding -= 1
        self.tally.acknowledged(batch, wall)
        # With no batch in flight, dropped batches after this one (markers, aborted data) are done.
        self.acked = max(batch.next_offset, 0 if self.outstanding else self.position)
        self.health.succeeded()
        self.sequence_errors = 0
        self.numbers.acknowledged(batch.sequence, batch.record_count)
        foreign = self.remote.land(base_offset, batch.record_count, before)
        if self.transactional:
            self.remote.last = base_offset + batch.record_count - 1 if base_offset >= 0 else -1
        if self.remote.lost_from is None:
            self.remote.note_place(batch, base_offset)
        else:  # the map keeps the offsets of what was lost; this batch may not be copied again
            self.remote.lose_places(batch.first_offset, batch.next_offset)
            self.needs_recovery = True
        self._pass_barrier()
        return foreign

    def shows_loss(self, base_offset: int) -> bool:
        """Whether a batch at this offset shows that the target has lost acknowledged records."""
        if not self.remote.shows_loss(base_offset):
            return False
        self.remote.lose_from(base_offset)
        return True

    def settle_loss(self, end: int) -> None:
        """The loss is reported; the position is set back if it is to be copied again."""
        self.remote.settle_loss(end)

    def confirm_target(self, leader_epoch: int | None, last: int | None = None) -> None:
        """Exactly once: under this leader epoch all that was committed is there, the newest at `last`."""
        self.remote.confirm(leader_epoch)
        self.remote.last = self.remote.last if last is None else last

    def doubt_target(self) -> None:
        """Exactly once: the target's log is to be read before the next transaction counts."""
        self.remote.confirm(None)

    def forget_places(self, first: int) -> None:
        """The target has lost records from source offset `first` on: the offset map must not translate to
        where they were, also if they are not copied again."""
        self.remote.lose_places(first, self.acked)

    def refused(self, *, in_doubt: bool = False) -> None:
        """Go back to the acknowledged position. Whether batches sent after it were appended is not known: the
        target has to be read, and records fetched again had sequence numbers before."""
        self.in_doubt = in_doubt
        self.numbers.suspend(self.snapshot, read_to=self.position)
        self.position, self.outstanding, self.stalled, self.held = self.acked, 0, False, None
        self.needs_recovery = True

    def aborted(self) -> None:
        """The transaction was aborted: go back to the committed position."""
        self.position, self.outstanding, self.stalled = self.acked, 0, False
        self.refuse_held()
        self.remote.forget_end()
        self.needs_recovery |= self.remote.lost_from is not None or self.remote.leader_epoch is None

    def released(self, batches: Sequence[ProducerBatch], retry_at: float) -> None:
        """These batches were queued but not sent; they are dropped, and fetched again at `retry_at`."""
        self.outstanding -= len(batches)
        self.position = batches[0].first_offset
        self.held = None  # it follows what was dropped
        if not self.outstanding:
            self.health.retry_at = retry_at

    def pass_marker(self) -> None:
        """The transaction was committed; its marker takes one offset of the remote partition."""
        self.remote.pass_marker()

    def learn_max_bytes(self, limit: int | None) -> bool:
        """Whether the limit is new, so that batches can be split to fit it."""
        known, self.max_bytes = self.max_bytes, limit
        return limit is not None and limit != known

    # ── quarantine ───────────────────────────────────────────────────────────────────────────

    def quarantine(self) -> None:
        """The coordinates of `held` are in flight."""
        self.quarantining = self.held

    def pass_held(self) -> Held | None:
        """The coordinates are in the quarantine topic: skip the records. None if the copy has moved elsewhere
        since; it may fetch the same records again."""
        held, self.quarantining = self.quarantining, None
        if held is None or held is not self.held:
            return None
        self.quarantined += len(held.records)
        self.health.clear()
        self.health.succeeded()
        # A successor counts mirrored records from the snapshot on: no quarantined record may be among them.
        self.renumber(held.position)
        return held

    def refuse_held(self) -> None:
        """The coordinates were not written: the same records will be fetched again."""
        self.held = self.quarantining = None

    # ── errors ───────────────────────────────────────────────────────────────────────────────

    def retrying(self, error: str) -> None:
        """A request failed and is repeated by its sender."""
        self.health.retrying(error)

    def stall(self, error: str) -> None:
        """The target cannot be written to; the producer repeats what is in flight."""
        self.stalled = True
        self.retrying(error)

    def failed(self, error: str, now: float) -> None:
        self.health.fail(error, now)

    def retried(self) -> None:
        """Go back to the acknowledged position and fetch from there."""
        self.health.retry()
        self.stalled = False
        self.position = self.acked

    def halt(self, error: str) -> None:
        """Stop under this lease: the driver, or a user, decides how to continue."""
        self.halted, self.needs_check = True, False
        self.health.halt(error)

    def replaced(self, error: str) -> None:
        """The source or the remote topic is not the one of the lease."""
        self.recheck = True
        self.halt(error)

    # ── offsets and receipts ─────────────────────────────────────────────────────────────────

    @property
    def to_store(self) -> bool:
        """Whether `acked` should be stored. Not while `numbers.base` is in use: `snapshot` is still the one
        before, and does not name the new offset."""
        unlike = self.acked != self.offset.position
        return unlike and self.numbers.base is None and not self.needs_recovery

    def mark_to_store(self) -> int:
        """Returns the position to store now."""
        self.offset.mark(self.acked)
        return self.acked

    def store(self, position: int | None) -> None:
        """This position was given to the offsets topic; None: what the topic has is not known."""
        self.offset.position = position

    def confirm_stored(self, position: int) -> None:
        self.offset.confirm(position)

    def map_offsets(self) -> None:
        """Record the offsets at which records land."""
        self.remote.landing = OffsetMapBuilder(self.lease.start)

    def report_gap(self, gap: Gap) -> None:
        self.gaps = (*self.gaps, gap)

    def take_gaps(self) -> tuple[Gap, ...]:
        gaps, self.gaps = self.gaps, ()
        return gaps

    def find_foreign(self, records: int) -> None:
        self.foreign += records

    def miss_topic(self, missing: bool) -> None:
        self.recheck = missing
