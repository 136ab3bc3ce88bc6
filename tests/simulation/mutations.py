"""Deliberate bugs, each of a kind that the copy loop once had or might get."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from heliograph.client.produce import send_queues
from heliograph.copy import log_gaps as gaps
from heliograph.copy import partition, target_loss
from heliograph.copy import prepare_batches as forward
from heliograph.copy.bookkeeping.producer_snapshots import ProducerSnapshots
from heliograph.copy.partition import Partition
from heliograph.plan.gap_verdict import Verdict
from heliograph.plan.resume import Landed, landed_since
from simulation import scenarios
from simulation.scenarios import Scenario


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
    the comparison of the last record would say a doubt."""
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


class Mutation(NamedTuple):
    apply: Callable[[pytest.MonkeyPatch], None]
    found_in: Scenario


MUTATIONS = (
    Mutation(keep_numbers, scenarios.KILLED_REFUSED_AND_OVERTAKEN),
    Mutation(keep_numbers, scenarios.QUARANTINE),
    Mutation(count_across_isolation_levels, scenarios.ISOLATION),
    Mutation(believe_the_count, scenarios.COMPACTION),
    Mutation(count_one_more, scenarios.RESTARTS),
    Mutation(send_at_once_after_a_pause, scenarios.EXPIRY),
    Mutation(introduce_without_a_snapshot, scenarios.STATE_AWAY),
    Mutation(forget_the_mark, scenarios.SOURCE_TRUNCATES),
    Mutation(stay_before_the_log_start, scenarios.KILLED_AND_OVERTAKEN),
    Mutation(pass_over_losses, scenarios.TARGET_LOSES),
)
