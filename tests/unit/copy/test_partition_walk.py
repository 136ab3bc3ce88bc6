"""Random walks through a partition's life, under the laws that hold in every state."""

from __future__ import annotations

from collections import deque
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.copy.partition import Partition
from heliograph.copy.prepare_batches import Prepared
from heliograph.copy.state.phases import TRANSITIONS, Arrow, Command, Phase
from heliograph.errors import CorruptRecords
from heliograph.mm2.quarantine import Oversize
from heliograph.model import Lease, ProducerIdentity, ProducerSnapshot
from heliograph.plan.resume import Landed

COUNTS = st.integers(1, 5)


class Walk(RuleBasedStateMachine):
    """A copy loop in small: it obeys commands, and everything that can happen may happen next. No change of
    phase but those of the table."""

    @initialize(snapshot=st.booleans(), transactional=st.booleans(), bounded=st.booleans())
    def start(self, snapshot: bool, transactional: bool, bounded: bool) -> None:
        base = ProducerSnapshot(10, 10, 0, ProducerIdentity(1, 0), (-1,))
        lease = Lease(
            flow="a->b",
            topic="t",
            partition=0,
            target_topic="a.t",
            start=10,
            end=60 if bounded else None,
            snapshot=base if snapshot else None,
        )
        self.copy = Partition(lease, transactional=transactional)
        if snapshot:
            self.copy.numbers.base = base._replace(isolation=self.copy.isolation)
        self.target_end = 10
        self.sent: deque[ProducerBatch] = deque()
        self.now = 0.0
        self.ids = 1
        self.renumbered = self.copy.acked
        #: Under each identity, which source offset has which number.
        self.given: dict[ProducerIdentity, dict[int, int]] = {}

    def event(self, name: str, *args: Any, **named: Any) -> Any:
        before = self.copy.phase
        result = getattr(self.copy, name)(*args, **named)
        if self.copy.phase is not before:
            assert Arrow(before, name, self.copy.phase) in TRANSITIONS
        return result

    # ── recovery ─────────────────────────────────────────────────────────────────────────────

    @precondition(lambda self: self.copy.may_recover(self.now))
    @rule(landed=st.integers(0, 3))
    def recover(self, landed: int) -> None:
        copy = self.copy
        end = max(self.target_end, copy.remote.floor)
        if copy.remote.lost_from is not None:
            self.event("settle_loss", copy.remote.lost_from)
            end = copy.remote.floor
        base = copy.numbers.base
        self.target_end = end + (landed if base is not None else 0)
        self.event("compare_target", self.target_end, None, None)
        if base is not None:
            self.event("resume_behind", Landed(landed, 0), None)
        if not copy.transactional and copy.numbers.identity is None:
            retired, self.ids = copy.numbers.retired, self.ids + 1
            identity = retired._replace(epoch=retired.epoch + 1) if retired else None
            self.event("introduce", identity or ProducerIdentity(self.ids, 0))
        self.event("recovered")

    @precondition(lambda self: self.copy.phase is Phase.RECOVERING)
    @rule()
    def delay(self) -> None:
        self.event("delay_recovery", "away", self.now)

    # ── the source ───────────────────────────────────────────────────────────────────────────

    @precondition(lambda self: self.copy.command is Command.FETCH)
    @rule(counts=st.lists(COUNTS, max_size=3), fate=st.sampled_from("......xoh"))
    def fetch(self, counts: list[int], fate: str) -> None:
        copy = self.copy
        there, batches, position = [], [], copy.position
        skip = copy.numbers.skip
        for count in counts:
            if skip:
                count = min(count, skip)
                skip -= count
                there.append(ProducerBatch(memoryview(b""), count, position, position + count))
            else:
                batches.append(ProducerBatch(memoryview(b""), count, position, position + count))
            position += count
        failure = CorruptRecords("damaged") if fate == "x" else None
        oversize = ()
        if fate == "o" and not skip:
            position += 1
            oversize = (Oversize(offset=position - 1, timestamp=0, key=None, size=9, limit=5),)
        renumbered = fate == "h" and not there and not batches
        prepared = Prepared(
            batches,
            copy.position if failure else position,
            failure,
            there,
            oversize=oversize,
            renumbered=renumbered,
        )
        self.event("answered", position + 5)
        self.event("read", prepared)
        self.event("fetched", prepared)
        if failure is not None:
            self.event("failed", str(failure), self.now)
        self._number(batches)

    def _number(self, batches: list[ProducerBatch]) -> None:
        """As the producer does, when it sends them."""
        numbers = self.copy.numbers
        following = numbers.sequence + sum(batch.record_count for batch in self.sent)
        for batch in batches:
            batch.sequence = following
            self.sent.append(batch)
            given = self.given.setdefault(numbers.identity or ProducerIdentity(0, 0), {})
            if not self.copy.transactional:
                for n in range(batch.record_count):
                    offset = given.setdefault(following + n, batch.first_offset + n)
                    assert offset == batch.first_offset + n, "one number means one record"
            following += batch.record_count

    @precondition(lambda self: self.copy.phase in (Phase.COPYING, Phase.WAITING))
    @rule(error=st.sampled_from([None, "out of range"]))
    def suspect_source(self, error: str | None) -> None:
        self.event("suspect_source", error)

    @precondition(lambda self: self.copy.may_check())
    @rule(elsewhere=st.sampled_from([None, None, -3, 4]), barrier=st.booleans())
    def confirm_source(self, elsewhere: int | None, barrier: bool) -> None:
        copy = self.copy
        if barrier and elsewhere is None and not copy.numbers.skip:
            self.event("renumber_from", copy.position + 2)
        position = None if elsewhere is None else max(copy.acked + elsewhere, 0)
        self.event("confirm_source", position)
        self.renumbered = copy.acked

    # ── the target ───────────────────────────────────────────────────────────────────────────

    @precondition(lambda self: self.sent)
    @rule(shift=st.sampled_from([0, 0, 0, 0, 3, -4]))
    def acknowledge(self, shift: int) -> None:
        batch = self.sent.popleft()
        base = max(self.target_end + shift, 0)
        self.target_end = base + batch.record_count
        self.event("acknowledged", batch, base, 1.0)

    @precondition(lambda self: self.sent and not self.copy.transactional)
    @rule(failing=st.booleans())
    def refuse(self, failing: bool) -> None:
        self.sent.clear()
        self.event("refused")
        if failing:
            self.event("failed", "not allowed", self.now)
        else:
            self.event("refuse_sequence", "out of order", self.now, fenced_seconds=None)

    @precondition(lambda self: self.copy.transactional)
    @rule(lost=st.booleans())
    def abort(self, lost: bool) -> None:
        self.sent.clear()
        if lost and self.copy.remote.floor > 0:
            self.copy.shows_loss(self.copy.remote.floor - 1)
        self.event("aborted")

    @precondition(lambda self: self.sent)
    @rule()
    def stall(self) -> None:
        self.event("stall", "no leader")

    @precondition(lambda self: self.sent and self.copy.stalled)
    @rule(keep=st.integers(0, 1))
    def release(self, keep: int) -> None:
        dropped = list(self.sent)[keep:]
        if dropped and self.copy.numbers.identity is not None and not self.copy.transactional:
            self.sent = deque(list(self.sent)[:keep])
            given = self.given[self.copy.numbers.identity]
            for batch in dropped:  # they were not sent: their numbers are free
                assert batch.sequence is not None
                for n in range(batch.record_count):
                    given.pop(batch.sequence + n, None)
            self.event("released", dropped, self.now + 1)

    # ── quarantine, trouble, time ────────────────────────────────────────────────────────────

    @precondition(lambda self: self.copy.command is Command.QUARANTINE)
    @rule(taken=st.booleans())
    def quarantine(self, taken: bool) -> None:
        self.event("quarantine")
        if not taken:
            self.event("refuse_held")
            return
        before = self.copy.phase
        self.copy.pass_held()
        assert (before, self.copy.phase) == (Phase.COPYING, Phase.RECOVERING)

    @precondition(lambda self: self.copy.phase is Phase.COPYING and not self.sent)
    @rule()
    def fail(self) -> None:
        self.event("failed", "not allowed", self.now)

    @precondition(lambda self: not self.sent and not self.copy.halted)
    @rule(position=st.integers(0, 30))
    def fall_back(self, position: int) -> None:
        self.event("renumber", position)

    @rule(seconds=st.sampled_from([0.1, 40.0]))
    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        if self.copy.may_retry(self.now):
            self.event("retried")

    @rule()
    def store(self) -> None:
        if self.copy.to_store:
            self.copy.store(self.copy.mark_to_store())
            self.copy.confirm_stored(self.copy.acked)

    @rule(event=st.sampled_from(["halt", "replaced"]), chance=st.integers(0, 9))
    def halt(self, event: str, chance: int) -> None:
        if chance == 0 and not self.copy.halted:
            self.event(event, "a user decides")

    # ── laws ─────────────────────────────────────────────────────────────────────────────────

    @invariant()
    def what_is_acknowledged_was_fetched(self) -> None:
        assert self.copy.acked <= self.copy.position

    @invariant()
    def what_is_under_way_is_counted(self) -> None:
        assert self.copy.outstanding == len(self.sent)
        if not self.sent:
            return
        assert self.copy.acked <= self.sent[0].first_offset, "acknowledged in order"

    @invariant()
    def nothing_is_fetched_but_while_copying(self) -> None:
        copy = self.copy
        if copy.command is Command.FETCH:
            assert copy.phase is Phase.COPYING
            assert not copy.stalled
            assert copy.held is None
        if copy.phase is Phase.RECOVERING:
            assert copy.command is Command.RECOVER

    @invariant()
    def nothing_is_stored_while_recovery_is_pending(self) -> None:
        assert not (self.copy.needs_recovery and self.copy.to_store)

    @invariant()
    def a_failure_is_tried_again_or_halted(self) -> None:
        copy = self.copy
        if copy.state == "FAILED":
            assert copy.halted or copy.health.retry_at is not None

    @invariant()
    def a_snapshot_names_what_is_acknowledged(self) -> None:
        snapshot = self.copy.snapshot
        if self.copy.remote.lost_from is not None:  # or what was, before a batch showed a loss
            assert snapshot is None or snapshot.upstream <= self.copy.acked
        elif snapshot is not None and snapshot is not self.copy.numbers.base:
            assert (snapshot.upstream, snapshot.sequence) == (
                self.copy.acked,
                self.copy.numbers.sequence,
            )


Walk.TestCase.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
TestWalk = Walk.TestCase
