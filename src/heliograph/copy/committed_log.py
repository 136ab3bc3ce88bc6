"""Checks under exactly once that the target's log still has what was committed, and nothing else of ours.

    epoch of the target's leader as it was     nothing was lost: a leader does not truncate its own log
    another one                                the log is read, from our newest committed record on
        that record is committed               all of them are
        older records of ours have no marker   the transaction is aborted: its marker ends them, too
        it is aborted, or another's            lost, from the last record on that is still committed

An unclean leader election may cost the target records, or only the marker behind them: then our next marker
would decide over records of an older transaction. So the epoch is compared at the start of a lease and before
each commit. The epoch of the last check is stored with each offset.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping

from heliograph.client.admin.topics import LATEST, available_offsets
from heliograph.client.fetch.own_batches import OwnEnd
from heliograph.client.fetch.own_transactions import (
    FoundTransactions,
    Outcome,
    Since,
    committed_before,
    transactions_since,
)
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.transactions import Transaction
from heliograph.copy.partition import Partition
from heliograph.errors import ClientError
from heliograph.model import TopicPartition

log = logging.getLogger(__name__)

_GONE = frozenset({Outcome.ABORTED, Outcome.REPLACED, Outcome.OPEN})


class CommittedLog:
    """Part of one copy loop. `probe_client` is a client that nothing else uses; `on_loss(copy, left)` is
    called when the target has lost committed records: all from the end of `left` on."""

    def __init__(
        self,
        flow: str,
        *,
        target: ClusterClient,
        probe_client: ClusterClient,
        transaction: Transaction,
        on_loss: Callable[[Partition, OwnEnd], None],
    ) -> None:
        self._flow = flow
        self._target = target
        self._probe_client = probe_client
        self._transaction = transaction
        self._on_loss = on_loss
        self._unreadable: set[Partition] = set()

    def recover(self, copies: Collection[Partition]) -> list[Partition]:
        """Returns those that may be copied now. Raises ClientError."""
        shorter = self._shorter(copies)
        doubtful = {
            copy: self._epoch(copy)
            for copy in copies
            if copy in shorter or copy.remote.lost_from is not None or self._is_new(copy)
        }
        found, missing = self._look(doubtful)
        for copy, problem in missing.items():
            if copy.error != problem:
                log.warning("flow %s: %s", self._flow, problem)
            copy.delay_recovery(problem, time.monotonic())
        ready = [copy for copy in copies if copy not in doubtful]
        return ready + [c for c in found if self._resumes(c, found[c], doubtful[c])]

    def vouch(self, firsts: Mapping[Partition, int]) -> str | None:
        """Before a commit; `firsts` are the target offsets of the partitions' first records in it. Returns
        why it must be aborted. Raises ClientError if the target cannot be read now."""
        doubtful = {
            copy: self._epoch(copy)
            for copy, first in firsts.items()
            if self._is_new(copy) or copy.remote.downstream != first
        }
        found, missing = self._look(doubtful)
        for problem in missing.values():
            raise ClientError(problem)
        for copy, each in found.items():
            unended = each.open_from is not None and each.open_from < firsts[copy]
            if unended or each.last in _GONE:
                copy.doubt_target()
                return f"{copy.target}: the target may have lost records, or the marker behind them"
            self._confirm(copy, each, doubtful[copy])
        return None

    def _confirm(self, copy: Partition, found: FoundTransactions, epoch: int | None) -> None:
        if found.last is not Outcome.UNREADABLE:
            copy.confirm_target(epoch)
        elif copy not in self._unreadable:
            self._unreadable.add(copy)
            log.warning(
                "flow %s: %s cannot be read (the right READ is missing?): records that it loses may go "
                "unnoticed",
                self._flow,
                copy.target,
            )

    def _is_new(self, copy: Partition) -> bool:
        return self._epoch(copy) is None or self._epoch(copy) != copy.remote.leader_epoch

    def _epoch(self, copy: Partition) -> int | None:
        return self._target.metadata.leader_epochs.get(copy.target)

    def _shorter(self, copies: Collection[Partition]) -> list[Partition]:
        """Those whose remote log is shorter than it was once. A restored backup of a whole cluster has its
        old leader epochs."""
        known = [copy for copy in copies if copy.remote.floor > 0]
        ends, _ = available_offsets(self._probe_client, [c.target for c in known], LATEST)
        return [c for c in known if ends.get(c.target, c.remote.floor) < c.remote.floor]

    def _look(
        self, copies: Collection[Partition]
    ) -> tuple[dict[Partition, FoundTransactions], dict[Partition, str]]:
        if not copies:
            return {}, {}
        producer_id = self._transaction.identity.producer_id
        by_target: dict[TopicPartition, Partition] = {copy.target: copy for copy in copies}
        found, missing = transactions_since(
            self._probe_client,
            {key: Since(producer_id, copy.remote.last) for key, copy in by_target.items()},
        )
        return (
            {by_target[key]: each for key, each in found.items()},
            {by_target[key]: each for key, each in missing.items()},
        )

    def _resumes(self, copy: Partition, found: FoundTransactions, epoch: int | None) -> bool:
        """Whether the position to resume at is known. Records without a marker are judged before the next
        commit: a marker may still be on its way, but brokers take no record of the next transaction before
        it is written."""
        last, ours_open = copy.remote.last, found.open_from is not None
        undecided = found.last is Outcome.OPEN and ours_open
        shorter = last < 0 and found.end < copy.remote.floor
        if undecided or not (shorter or found.last in _GONE):
            copy.settle_loss(found.end)
            if ours_open:
                copy.doubt_target()
            else:
                self._confirm(copy, found, epoch)
            return True
        before = last + 1 if last >= 0 else found.end
        left = committed_before(self._probe_client, copy.target, before)
        self._on_loss(copy, left)
        copy.settle_loss(found.end)
        copy.confirm_target(None if ours_open else epoch, left.offset - 1 if left.proven else -1)
        return False
