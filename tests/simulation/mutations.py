"""Deliberate bugs, each of a kind that the copy loop once had or might get."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from heliograph.client.produce import producer, send_queues
from heliograph.copy import log_gaps as gaps
from heliograph.copy import partition, target_loss
from heliograph.copy import prepare_batches as forward
from heliograph.copy.bookkeeping import offset_store
from heliograph.copy.bookkeeping.producer_snapshots import ProducerSnapshots
from heliograph.copy.bookkeeping.written import RecordsWritten
from heliograph.copy.committed_log import CommittedLog
from heliograph.copy.lane.outlet import Outlet
from heliograph.copy.lane.partition import LanePartition
from heliograph.copy.lane.spans import Spans
from heliograph.copy.partition import Partition
from heliograph.copy.state.numbering import Numbering
from heliograph.copy.state.remote_log import RemoteLog
from heliograph.mm2.connect.offset_records import Logs
from heliograph.mm2.offset_map import OffsetMap
from heliograph.model import ProducerIdentity, ProducerSnapshot
from heliograph.plan.gap_verdict import Verdict
from heliograph.plan.resume import Landed, landed_since
from heliograph.runtime.flow.observed_flow import ObservedFlow
from simulation import scenarios
from simulation.scenarios import Delivery, Scenario
from simulation.simulate import simulate

#: Within so many seeds each must be found.
MOST_SEEDS = 200


def keep_numbers(patch: pytest.MonkeyPatch) -> None:
    """Records get other numbers of the same producer id and epoch."""
    renumber = Partition.renumber

    def kept(self: Partition, position: int) -> None:
        numbers = self.numbers
        identity, sequence = numbers.identity, numbers.sequence
        if identity is None and numbers.base is not None:
            identity, sequence = numbers.base.identity, numbers.base.sequence
        renumber(self, position)
        numbers.identity, numbers.sequence = identity, sequence

    patch.setattr(Partition, "renumber", kept)


def believe_the_count(patch: pytest.MonkeyPatch) -> None:
    """The last record counted off is not compared with the target's last."""
    patch.setattr(forward, "_same_record", lambda *_: True)


def count_across_isolation_levels(patch: pytest.MonkeyPatch) -> None:
    """Records are counted off whatever the isolation level was when they were numbered. It takes two bugs:
    the comparison of the last record would lead to a fallback."""
    believe_the_count(patch)
    post_init = Partition.__post_init__

    def same(self: Partition) -> None:
        post_init(self)
        base = self.numbers.base
        if base is not None:
            self.numbers.base = base._replace(isolation=self.isolation)

    patch.setattr(Partition, "__post_init__", same)


def count_one_more(patch: pytest.MonkeyPatch) -> None:
    """One record too many is skipped."""

    def more(*args: Any) -> Any:
        found = landed_since(*args)
        if isinstance(found, Landed) and found.records:
            return found._replace(records=found.records + 1)
        return found

    patch.setattr(partition, "landed_since", more)


def send_at_once_after_a_pause(patch: pytest.MonkeyPatch) -> None:
    """The first batch after an idle time does not go alone."""
    patch.setattr(send_queues, "_IDLE_SECONDS", math.inf)


def send_again_what_may_be_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Old records are sent again to a broker that may have forgotten their producer."""
    patch.setattr(producer, "_may_be_forgotten", lambda _: False)


def introduce_without_a_snapshot(patch: pytest.MonkeyPatch) -> None:
    """A producer id is used before the state topic names it."""
    patch.setattr(ProducerSnapshots, "settled", True)


def forget_the_mark(patch: pytest.MonkeyPatch) -> None:
    """After a jump, nothing is known of the log that was read."""
    patch.setattr(gaps, "mark_after", lambda *_: None)
    patch.setattr(gaps, "departure", lambda *_: None)


def stay_before_the_log_start(patch: pytest.MonkeyPatch) -> None:
    """A position that the source does not have any more is kept."""
    patch.setattr(gaps, "judge", lambda known, *_: Verdict(known.position))


def pass_over_losses(patch: pytest.MonkeyPatch) -> None:
    """What the target has lost is neither said nor copied again."""
    patch.setattr(target_loss.TargetLoss, "judge", lambda _, copy, __: Verdict(copy.acked))


def note_before_acknowledged(patch: pytest.MonkeyPatch) -> None:
    """Snapshots name what was sent, not what was acknowledged."""
    snapshot = Partition.snapshot.fget  # type: ignore[attr-defined]

    def early(self: Partition) -> ProducerSnapshot | None:
        found: ProducerSnapshot | None = snapshot(self)
        return found._replace(upstream=max(found.upstream, self.position)) if found else None

    patch.setattr(Partition, "snapshot", property(early))


def ignore_new_leaders(patch: pytest.MonkeyPatch) -> None:
    """A position is not confirmed with a new leader of the source."""
    patch.setattr(gaps.GapWatch, "on_leaders", lambda *_: None)


def reuse_a_lease(patch: pytest.MonkeyPatch) -> None:
    """The next epoch begins where the last one began."""
    patch.setattr(ObservedFlow, "settle", lambda *_: None)


def hand_on_unnoted_producers(patch: pytest.MonkeyPatch) -> None:
    """The next epoch goes on under a producer id of which the state topic does not know."""

    def introduce(self: Numbering, identity: ProducerIdentity) -> None:
        self.identity, self.sequence, self.skip, self.retired = identity, 0, 0, None

    patch.setattr(Numbering, "introduce", introduce)


def count_records_in_quarantine(patch: pytest.MonkeyPatch) -> None:
    """Numbers go on behind a record that was left out."""

    def passed(self: Partition) -> Any:
        held, self.held, self.quarantining = self.held, None, None
        assert held is not None
        self.quarantined += len(held.records)
        self.position = self.acked = held.position
        return held

    patch.setattr(Partition, "pass_held", passed)


def keep_what_was_held(patch: pytest.MonkeyPatch) -> None:
    """A copy that goes back jumps behind the record that it had come across before."""
    renumber = Partition.renumber

    def kept(self: Partition, position: int) -> None:
        held = self.held
        renumber(self, position)
        self.held = held

    patch.setattr(Partition, "renumber", kept)


def translate_by_a_stale_map(patch: pytest.MonkeyPatch) -> None:
    """The offset map keeps the places where records stood before they were copied again, neither dropped
    when the target loses them nor when they land elsewhere."""
    patch.setattr(OffsetMap, "_forget_upstream", lambda *_: None)
    patch.setattr(Partition, "forget_places", lambda *_: None)


def take_unplaced_records_for_unmirrored(patch: pytest.MonkeyPatch) -> None:
    """The offset map does not note that records stand at an unknown place."""
    patch.setattr(RemoteLog, "lose_places", lambda *_: None)


def forget_what_was_acknowledged(patch: pytest.MonkeyPatch) -> None:
    """The target's log is compared with an earlier look alone."""
    look = RemoteLog.observe_end

    def forgetful(self: RemoteLog, end: int, resumes_from: int | None) -> int | None:
        self.downstream = -1
        return look(self, end, resumes_from)

    patch.setattr(RemoteLog, "observe_end", forgetful)


def commit_without_offsets(patch: pytest.MonkeyPatch) -> None:
    """Records are committed, and the offset of them is not."""
    patch.setattr(RecordsWritten, "positions", lambda _: {})


def store_one_further(patch: pytest.MonkeyPatch) -> None:
    """The offset that a transaction stores is one too high."""
    positions = RecordsWritten.positions

    def further(self: RecordsWritten) -> dict[Partition, int]:
        return {copy: position + 1 for copy, position in positions(self).items()}

    patch.setattr(RecordsWritten, "positions", further)


def go_on_behind_an_abort(patch: pytest.MonkeyPatch) -> None:
    """What an aborted transaction held is not sent again."""
    aborted = Partition.aborted

    def kept(self: Partition) -> None:
        self.acked = self.position
        aborted(self)

    patch.setattr(Partition, "aborted", kept)


def trust_every_leader(patch: pytest.MonkeyPatch) -> None:
    """Under exactly once the target's log is not read when it has a new leader, which may lack records."""
    patch.setattr(CommittedLog, "_is_new", lambda *_: False)


def commit_behind_lost_markers(patch: pytest.MonkeyPatch) -> None:
    """The marker of a commit may also decide over older records that have lost theirs."""
    patch.setattr(CommittedLog, "vouch", lambda *_: None)


def write_on_while_a_transaction_ends(patch: pytest.MonkeyPatch) -> None:
    """What a lane prepares while its transaction is ended belongs to that one, and the offset does not."""
    patch.setattr(Outlet, "close", lambda _: None)


def store_what_is_on_its_way(patch: pytest.MonkeyPatch) -> None:
    """A lane's transaction stores the position of what was fetched."""
    patch.setattr(LanePartition, "committing", property(lambda copy: copy.position))


def pass_what_is_not_in_quarantine_yet(patch: pytest.MonkeyPatch) -> None:
    """A lane's records count once the first batch of their span does."""

    def advance(self: Spans, done: int) -> int:
        while self._spans and self._spans[0].open < 2:
            done = self._spans.popleft().end
        return done

    patch.setattr(Spans, "advance", advance)


def store_without_marks(patch: pytest.MonkeyPatch) -> None:
    """A lane without transactions stores bare offsets, so that its successor misses a truncation."""
    patch.setattr(offset_store, "Logs", lambda **_: Logs())


class Mutation(NamedTuple):
    apply: Callable[[pytest.MonkeyPatch], None]
    found_in: Scenario
    delivery: Delivery = Delivery.AT_LEAST_ONCE


MUTATIONS = (
    Mutation(keep_numbers, scenarios.KILLED_AND_OVERTAKEN),
    Mutation(keep_numbers, scenarios.QUARANTINE),
    Mutation(count_across_isolation_levels, scenarios.ISOLATION),
    Mutation(believe_the_count, scenarios.COMPACTION),
    Mutation(count_one_more, scenarios.RESTARTS),
    Mutation(send_at_once_after_a_pause, scenarios.EXPIRY),
    Mutation(send_again_what_may_be_forgotten, scenarios.TARGET_RESTARTS),
    Mutation(introduce_without_a_snapshot, scenarios.STATE_AWAY),
    Mutation(forget_the_mark, scenarios.SOURCE_TRUNCATES),
    Mutation(stay_before_the_log_start, scenarios.KILLED_AND_OVERTAKEN),
    Mutation(pass_over_losses, scenarios.TARGET_LOSES),
    Mutation(note_before_acknowledged, scenarios.EVERYTHING),
    Mutation(ignore_new_leaders, scenarios.EVERYTHING),
    Mutation(reuse_a_lease, scenarios.EPOCHS),
    Mutation(hand_on_unnoted_producers, scenarios.EPOCHS),
    Mutation(count_records_in_quarantine, scenarios.QUARANTINE),
    Mutation(keep_what_was_held, scenarios.EVERYTHING),
    Mutation(translate_by_a_stale_map, scenarios.TARGET_LOSES_AND_RESTARTS),
    Mutation(take_unplaced_records_for_unmirrored, scenarios.EVERYTHING),
    Mutation(forget_what_was_acknowledged, scenarios.TARGET_LOSES_AND_QUARANTINE),
    Mutation(commit_without_offsets, scenarios.RESTARTS, Delivery.EXACTLY_ONCE),
    Mutation(store_one_further, scenarios.RESTARTS, Delivery.EXACTLY_ONCE),
    Mutation(go_on_behind_an_abort, scenarios.QUARANTINE, Delivery.EXACTLY_ONCE),
    Mutation(trust_every_leader, scenarios.EVERYTHING, Delivery.EXACTLY_ONCE),
    Mutation(commit_behind_lost_markers, scenarios.EVERYTHING, Delivery.EXACTLY_ONCE),
    Mutation(write_on_while_a_transaction_ends, scenarios.RESTARTS, Delivery.LANE),
    Mutation(store_what_is_on_its_way, scenarios.RESTARTS, Delivery.LANE),
    Mutation(pass_what_is_not_in_quarantine_yet, scenarios.RESTARTS, Delivery.LANE),
    Mutation(store_without_marks, scenarios.SOURCE_TRUNCATES, Delivery.LANE_AT_LEAST_ONCE),
)


def seeds_to_find(mutation: Mutation) -> int | None:
    """How many seeds it takes until a law is violated; None: more than `MOST_SEEDS`."""
    with pytest.MonkeyPatch.context() as patch:
        mutation.apply(patch)
        for seed in range(MOST_SEEDS):
            if simulate(seed, mutation.found_in, mutation.delivery).violations:
                return seed + 1
    return None


def table() -> int:
    """Prints how many seeds each took; 1 if one was not found."""
    missed = 0
    for mutation in MUTATIONS:
        found = seeds_to_find(mutation)
        missed += found is None
        took = f"more than {MOST_SEEDS}" if found is None else str(found)
        print(f"{mutation.apply.__name__:32} {mutation.found_in.name:20} {took:>4}", flush=True)
    return bool(missed)
