"""One partition's copy: its whole life, as a state machine. Events in, a command out; no clock, no I/O.

                ┌─────────────── refused, renumbered, or the target lost records ────────────────┐
                ▼                                                                                │
    start ► RECOVERING ── recovered ─► COPYING ◄─────────── retried ──────── WAITING ──────────► ┤
                │                       │ │ │ ▲                                 ▲                │
                │                       │ │ │ └ fetched, acknowledged           │                │
                │                       │ │ └── failed, released ───────────────┘                │
                │                       │ └──── source suspect ─► CHECKING ─ confirmed ► COPYING │
                │                       └────────────────────────────┴──────────────────────────►┘
                └─► HALTED ◄─ a topic was replaced, or a gap under the policy `fail`: from every phase

Several may be due at once; they are done in the order HALTED, RECOVERING, CHECKING, WAITING, and `phase` is
the first of them. `state/phases.py` lists every arrow.

Laws: what is acknowledged was fetched; what is stored was acknowledged; nothing is fetched unless the phase
is COPYING; a position is left only when nothing is under way; one sequence number means one record
(`state/numbering.py`). Only this module assigns a partition's fields (tests/unit/copy/test_ownership.py), and
only the thread of its copy loop reads them: others get receipts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from heliograph.client.net.backoff import Backoff
from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.copy.state.numbering import Numbering
from heliograph.copy.state.phases import Command, Held, Phase
from heliograph.copy.state.remote_log import Foreign, RemoteLog
from heliograph.copy.state.stored_offset import StoredOffset
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
    transactional: bool = False  # its records have the numbers of a transaction's producer
    source: TopicPartition = field(init=False)
    target: TopicPartition = field(init=False)

    position: int = field(init=False)
    acked: int = field(init=False)
    outstanding: int = 0  # batches sent, or about to be, and not acknowledged
    #: The copy reaches this upstream offset, with nothing under way, before it goes on under new numbers.
    barrier: int | None = None
    source_end: int = -1
    source_mark: LeaderEpochMark | None = field(init=False)  # of the newest record fetched
    numbers: Numbering = field(init=False)
    offset: StoredOffset = field(init=False)
    remote: RemoteLog = field(default_factory=RemoteLog)
    max_bytes: int | None = None  # of a batch, as far as the target has said
    voids: bool = False  # the first transaction that it is part of is to be aborted

    # ── why it waits ─────────────────────────────────────────────────────────────────────────
    needs_recovery: bool = True
    needs_check: bool = False
    halted: bool = False
    stalled: bool = False  # the target cannot be written to just now
    held: Held | None = None
    quarantining: Held | None = None  # whose coordinates are under way
    retry_at: float | None = None
    backoff: Backoff = field(default_factory=lambda: Backoff(first=0.5, most=30.0))
    sequence_errors: int = 0  # how often in a row its numbers were out of order

    # ── what is told of it ───────────────────────────────────────────────────────────────────
    state: PartitionState = PartitionState.RUNNING
    error: str | None = None
    records: int = 0
    bytes: int = 0
    copied: float = 0.0  # seconds since 1970
    fallbacks: int = 0
    foreign: int = 0  # records that other writers have put between ours
    quarantined: int = 0  # records that were left out
    recheck: bool = False  # the driver has to look at its topics
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
        if lease.lineage.landmark is not None:
            self.remote.floor = lease.lineage.landmark.downstream

    # ── what is to be done ───────────────────────────────────────────────────────────────────

    @property
    def phase(self) -> Phase:
        if self.halted:
            return Phase.HALTED
        if self.needs_recovery:
            return Phase.RECOVERING
        if self.needs_check:
            return Phase.CHECKING
        return Phase.COPYING if self.retry_at is None else Phase.WAITING

    @property
    def command(self) -> Command:
        if self.halted:
            return Command.WAIT
        if self.needs_recovery:
            return Command.RECOVER
        if self.needs_check:
            return Command.CHECK
        if self.retry_at is not None or self.stalled:
            return Command.WAIT
        if self.held is not None:
            ready = not self.outstanding and self.quarantining is None
            return Command.QUARANTINE if ready else Command.WAIT
        end = self.end
        return Command.WAIT if end is not None and self.position >= end else Command.FETCH

    def may_recover(self, now: float) -> bool:
        due = self.retry_at is None or self.retry_at <= now
        return self.phase is Phase.RECOVERING and due and not self.outstanding

    def may_check(self) -> bool:
        return self.phase is Phase.CHECKING and not self.outstanding

    def may_retry(self, now: float) -> bool:
        due = self.retry_at is not None and self.retry_at <= now
        return due and not self.outstanding and not self.needs_recovery

    @property
    def end(self) -> int | None:
        """Not to be read beyond, for now or under this lease."""
        if self.barrier is None:
            return self.lease.end
        return self.barrier if self.lease.end is None else min(self.lease.end, self.barrier)

    @property
    def done(self) -> bool:
        return self.lease.end is not None and self.acked >= self.lease.end

    @property
    def finished(self) -> bool:
        """Whether a bounded lease has nothing more to do, be it well or badly."""
        return self.done or (self.state is PartitionState.FAILED and not self.outstanding)

    # ── recovery: how much is on the target, and whose numbers go on ─────────────────────────

    def look_at_target(
        self, end: int, last: LastBatch | None, unreadable: str | None
    ) -> Landed | Undetermined | TargetLost:
        """`end` is the target's log end, `last` the newest batch there of the producer of the snapshot."""
        base = self.numbers.base
        lost_from = self.remote.look(end, None if base is None else base.downstream)
        found = Landed(0, 0) if base is None else landed_since(base, end, last, self.isolation)
        if self.remote.lost_from is None and isinstance(found, TargetLost):
            return self.remote.compare(found)  # it tells more than the length of the log
        if lost_from is not None:
            return TargetLost(lost_from)
        return found if unreadable is None or base is None else Undetermined(unreadable)

    def resume_behind(self, landed: Landed, last: LastBatch | None) -> None:
        base = self.numbers.base
        if base is None:
            return
        if not self.numbers.resume(landed, last):
            self.renumber(base.upstream)
        elif not self.transactional:  # there, what follows may be of our own transactions
            self.foreign += landed.foreign

    def introduce(self, identity: ProducerIdentity) -> None:
        self.numbers.introduce(identity)

    def recovered(self) -> None:
        if self.transactional:
            self.numbers.identity, self.remote.downstream = None, -1
        self.needs_recovery, self.retry_at = False, None
        self.numbers.begin()
        if self.state is PartitionState.RETRYING:
            self._clear_error()
        elif self.state is PartitionState.FAILED:
            self.state = PartitionState.RETRYING

    def delay_recovery(self, error: str, now: float) -> None:
        self.retry_at = now + self.backoff.next()
        self.state, self.error = PartitionState.RETRYING, error

    def refuse_sequence(self, error: str, now: float, *, fenced_seconds: float | None) -> None:
        """Its numbers are not what the broker expects: look again, a bit later each time. `fenced_seconds`:
        the broker knows a newer epoch of its producer; wait for as long."""
        self.sequence_errors += 1
        self.delay_recovery(error, now)
        if fenced_seconds is not None:
            self.retry_at = now + fenced_seconds

    def fall_back(self, position: int | None, *, fenced: bool = False) -> int:
        """Go on at least once: at `position`, or the last that is known to be on the target as a whole.
        The position is returned. The next epoch of a `fenced` identity belongs to another task."""
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
        """Go on at `position` with numbers of its own; nothing is under way."""
        assert not self.outstanding
        if self.numbers.skip:
            self.remote.lose_places(self.acked, position)
        self.numbers.retire()
        self.barrier = self.held = None
        self.position = self.acked = position
        self.needs_recovery = True

    @property
    def snapshot(self) -> ProducerSnapshot | None:
        """What a successor may resume from."""
        numbers = self.numbers
        if self.remote.lost_from is not None:
            return self.remote.before_loss
        if numbers.identity is None or numbers.skip:
            return numbers.base
        return ProducerSnapshot(
            upstream=self.acked,
            downstream=self.remote.downstream,
            sequence=numbers.sequence,
            identity=numbers.identity,
            stored=self.offset.possible,
            isolation=self.isolation,
            mark=self.source_mark,
        )

    # ── the source's side ────────────────────────────────────────────────────────────────────

    def answered(self, source_end: int) -> None:
        """A fetch was answered: the source's log ends there."""
        self.source_end = source_end
        if self.state is PartitionState.RETRYING and not self.outstanding:
            self._clear_error()

    def read(self, prepared: Prepared) -> None:
        """What every fetch tells, also one whose records are not sent."""
        self.numbers.holes |= prepared.holes
        if prepared.mark is not None:
            self.source_mark = prepared.mark

    def fetched(self, prepared: Prepared, now: float) -> None:
        """Its batches are about to be sent."""
        for batch in prepared.there:
            at = self.numbers.skipped(batch.record_count)
            self.acked = batch.next_offset
            self.remote.note_place(batch, at)
        if prepared.renumbered:
            self.barrier = prepared.position
        self.outstanding += len(prepared.batches)
        for batch in (*prepared.there, *prepared.batches)[-1:]:
            self.position = batch.next_offset
        if prepared.failure is not None:
            self.failed(str(prepared.failure), now)
            return
        if prepared.oversize:
            self.held = Held(prepared.oversize, prepared.position)
            self._pass_barrier()
        else:
            self.read_to(prepared.position)

    def read_to(self, position: int) -> None:
        """All that the source has before `position` is on its way, or is not to be sent."""
        self.position = position
        if not self.outstanding:
            self.acked = position
        self._pass_barrier()

    def skip_deleted(self, start: int) -> None:
        """The source has deleted the first of the records to be skipped: count on at `start`."""
        self.remote.lose_places(self.acked, start)
        self.numbers.skip_deleted(start - self.position)
        self.position = self.acked = start

    def suspect_source(self, error: str | None = None) -> None:
        """Its log may not be the one it was. Recovery comes first, and is followed by the same question."""
        if self.needs_recovery or self.halted:
            return
        self.needs_check = True
        if error is not None:
            self.trouble(error)

    def number_anew_from(self, offset: int) -> None:
        """What was read from there on is not in the log any more: no record there may get its numbers."""
        self.barrier = offset

    def set_mark(self, mark: LeaderEpochMark | None) -> None:
        self.source_mark = mark

    def confirm_source(self, position: int | None = None) -> None:
        """The copy may go on: where it is, or, since its log is not what it was, at `position`."""
        self.needs_check = False
        if self.state is not PartitionState.FAILED:
            self._clear_error()
        if position is not None:
            self.renumber(position)
        self._pass_barrier()

    def _pass_barrier(self) -> None:
        if self.barrier is not None and self.position >= self.barrier and not self.outstanding:
            self.renumber(self.position)

    # ── the target's side ────────────────────────────────────────────────────────────────────

    def acknowledged(self, batch: ProducerBatch, base_offset: int, wall: float) -> Foreign | None:
        """Appended, or committed. What stands between it and the batch before, if that is more than ours."""
        assert batch.sequence is not None
        before = self.snapshot if self.remote.shows_loss(base_offset) else None
        self.stalled = False
        self.outstanding -= 1
        self.records += batch.record_count
        self.bytes += batch.size
        self.copied = wall
        # Past the last batch under way, what was dropped behind it (markers, aborted data) is done too.
        self.acked = (
            batch.next_offset if self.outstanding else max(batch.next_offset, self.position)
        )
        if self.state is not PartitionState.FAILED:
            self._clear_error()
        self.backoff.reset()
        self.sequence_errors = 0
        self.numbers.acknowledged(batch.sequence, batch.record_count)
        foreign = self.remote.land(base_offset, batch.record_count, before)
        if self.remote.lost_from is None:
            self.remote.note_place(batch, base_offset)
        else:  # if it is not copied again, it stands there: the map must still tell where what was lost stood
            self.remote.lose_places(batch.first_offset, batch.next_offset)
            self.needs_recovery = True
        self._pass_barrier()
        return foreign

    def shows_loss(self, base_offset: int) -> bool:
        """Whether a batch that landed there says that the target has lost what it had acknowledged."""
        if not self.remote.shows_loss(base_offset):
            return False
        self.remote.lose_from(base_offset)
        return True

    def settle_loss(self, end: int) -> None:
        """What the target lost is reported, and copied again if it is to be."""
        self.remote.settle_loss(end)

    def void_next_transaction(self, voids: bool) -> None:
        self.voids = voids

    def refused(self) -> None:
        """Go back to what is acknowledged. Whether what was sent behind it has landed is not known: the
        target has to be looked at, and what is read again was numbered before."""
        self.numbers.suspend(self.snapshot, read_to=self.position)
        self.position, self.outstanding, self.stalled, self.held = self.acked, 0, False, None
        self.needs_recovery = True

    def aborted(self) -> None:
        """Its transaction is: go back to what is committed."""
        self.position, self.outstanding, self.stalled = self.acked, 0, False
        self.refuse_held()
        self.remote.forget_end()
        self.needs_recovery |= self.remote.lost_from is not None

    def released(self, batches: Sequence[ProducerBatch], retry_at: float) -> None:
        """These were not sent yet, and are dropped: they are read again when the target takes some."""
        self.outstanding -= len(batches)
        self.position = batches[0].first_offset
        self.held = None  # it comes behind what was dropped
        if not self.outstanding:
            self.retry_at = retry_at

    def pass_marker(self) -> None:
        """Its transaction is committed, which takes an offset of its own."""
        self.remote.pass_marker()

    def learn_max_bytes(self, limit: int | None) -> bool:
        """Whether that lets us cut batches to size; false if we already did."""
        known, self.max_bytes = self.max_bytes, limit
        return limit is not None and limit != known

    # ── quarantine ───────────────────────────────────────────────────────────────────────────

    def quarantine(self) -> None:
        """The coordinates of what is held are under way."""
        self.quarantining = self.held

    def pass_held(self) -> Held | None:
        """They are in the quarantine topic: these records will never be on the target. None: the copy is
        elsewhere by now, and may come across them again."""
        held, self.quarantining = self.quarantining, None
        if held is None or held is not self.held:
            return None
        self.quarantined += len(held.records)
        self._clear_error()
        self.backoff.reset()
        # A successor counts mirrored records from a snapshot on: none may be one that was left out.
        self.renumber(held.position)
        return held

    def refuse_held(self) -> None:
        """They will not be there: the partition comes across the same records again."""
        self.held = self.quarantining = None

    # ── trouble ──────────────────────────────────────────────────────────────────────────────

    def trouble(self, error: str) -> None:
        """It is tried again without more ado; a failure stays one until its retry."""
        if self.state is not PartitionState.FAILED:
            self.state, self.error = PartitionState.RETRYING, error

    def stall(self, error: str) -> None:
        """The target takes nothing just now; what is under way is sent again by the producer."""
        self.stalled = True
        self.trouble(error)

    def failed(self, error: str, now: float) -> None:
        self.state, self.error = PartitionState.FAILED, error
        self.retry_at = now + self.backoff.next()

    def retried(self) -> None:
        """Go back to what is acknowledged and try again from there."""
        if self.state is PartitionState.FAILED:
            self.state = PartitionState.RETRYING
        self.retry_at, self.stalled = None, False
        self.position = self.acked

    def halt(self, error: str) -> None:
        """The driver, or a user, decides how it goes on."""
        self.halted, self.needs_check, self.retry_at = True, False, None
        self.state, self.error = PartitionState.FAILED, error

    def replaced(self, error: str) -> None:
        """One of its topics is another than that of the lease."""
        self.recheck = True
        self.halt(error)

    def _clear_error(self) -> None:
        self.state, self.error = PartitionState.RUNNING, None

    # ── what is stored and told of it ────────────────────────────────────────────────────────

    @property
    def to_store(self) -> bool:
        """Not before the snapshot that it resumes from is left: no newer one could name the offset."""
        unlike = self.acked != self.offset.position
        return unlike and self.numbers.base is None and not self.needs_recovery

    def mark_to_store(self) -> int:
        """The position that is to be stored now."""
        self.offset.mark(self.acked)
        return self.acked

    def store(self, position: int | None) -> None:
        """What the offsets topic is going to say; None: that is not known."""
        self.offset.position = position

    def confirm_stored(self, position: int) -> None:
        self.offset.confirm(position)

    def map_offsets(self) -> None:
        """Where records land is asked for."""
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
