"""Exactly once in a lane: records, marks and offsets of whole spans in one transaction (`copy/commits.py`).

The position of a partition is its stored offset, since both are committed together; the target is not read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from heliograph.client.net.backoff import Backoff
from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.client.produce.transactions import Transaction
from heliograph.copy.bookkeeping.offset_pace import OffsetsWithin
from heliograph.copy.commits import Commits
from heliograph.copy.delivery import MESSAGE_TOO_LARGE, LoopParts
from heliograph.copy.lane.outlet import Outlet
from heliograph.copy.lane.partition import LanePartition
from heliograph.copy.lane.target_events import LaneTarget
from heliograph.copy.lane.written import LaneWritten
from heliograph.copy.partition import Partition
from heliograph.copy.state.remote_log import Foreign
from heliograph.errors import BrokerError, ClientError
from heliograph.model import TopicPartition


class LaneExactlyOnce:
    def __init__(
        self,
        parts: LoopParts,
        transaction: Transaction,
        copies: Sequence[LanePartition],
        outlet: Outlet,
        target: LaneTarget,
    ) -> None:
        self._parts = parts
        self._flow = parts.flow
        self._transaction = transaction
        self._copies = copies
        self._outlet = outlet
        self._producer = parts.producers.records
        self._offsets_backoff = Backoff(first=0.5, most=30.0)
        self._written = LaneWritten(copies, self._producer, outlet, target)
        self._commits = Commits(
            parts.flow,
            self._written,
            producer=self._producer,
            transaction=transaction,
            offsets=parts.offsets,
            flush_delay=parts.flush_delay(),
            committed=parts.mirrored,
            voided=self._voided,
        )
        self._smaller = False  # aborted only to send the same records in smaller batches
        self._pace = OffsetsWithin(parts, self._commits, self._offsets_backoff)

    def recover(self, copies: Collection[Partition]) -> list[Partition]:
        self._transaction.start()
        self._outlet.learn_again()
        return list(copies)

    def send(self) -> None:
        reach = self._parts.reach
        count = self._commits.count
        self._commits.step(lambda action: reach(self._parts.target, action))
        if self._commits.count != count:
            self._outlet.open()
        if self._commits.sends:
            self._parts.producers.send(reach)

    def wait_seconds(self, now: float, most: float) -> float:
        return self._commits.wait_seconds(now, most)

    def acknowledged(
        self, partition: TopicPartition, batch: ProducerBatch, base_offset: int
    ) -> None:
        self._written.landed(partition, batch, base_offset)

    def refused(self, partition: TopicPartition, error: BrokerError) -> None:
        if error.code == MESSAGE_TOO_LARGE and self._outlet.learn_most(partition.topic):
            self._smaller = True
            self._commits.void(str(error))
        else:
            self._commits.refused(partition, error)

    def foreign(self, copy: Partition, foreign: Foreign) -> None:
        """Not looked for: a lane may share its remote topics."""

    def tick(self, now: float) -> None:
        self._pace.tick(now)

    def mark(self) -> None:
        self._parts.syncs.flush()

    def finish(self) -> None:
        self._pace.finish(self.send)

    def _voided(self, cause: str, failures: Mapping[Partition, ClientError]) -> None:
        """All partitions go back to their committed position; those that caused the abort wait first."""
        self._outlet.drop()
        subscription = self._parts.subscription
        for copy in self._copies:
            copy.aborted()
            subscription.obey(copy)
        for failed, error in failures.items():
            subscription.fail(failed, f"{self._flow.name}: {failed.source}: {error}")
        smaller, self._smaller = self._smaller, False
        if not failures and not smaller:  # the offsets topic or the transaction itself failed
            self._parts.reach.pause(self._parts.target, self._offsets_backoff, cause)
