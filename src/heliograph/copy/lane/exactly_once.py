"""Exactly once in a lane: records, marks and offsets of whole spans in one transaction (`copy/commits.py`).

The position of a partition is its stored offset, since both are committed together; the target is not read.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence

from heliograph.client.net.backoff import Backoff
from heliograph.client.net.poller import wait
from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.client.produce.transactions import Transaction
from heliograph.copy.commits import Commits
from heliograph.copy.delivery import MESSAGE_TOO_LARGE, SIDE_SECONDS, LoopParts
from heliograph.copy.lane.outlet import Outlet
from heliograph.copy.lane.partition import LanePartition
from heliograph.copy.lane.target_events import LaneTarget
from heliograph.copy.lane.written import LaneWritten
from heliograph.copy.partition import Partition
from heliograph.copy.state.remote_log import Foreign
from heliograph.errors import BrokerError, ClientError, HeliographError
from heliograph.model import TopicPartition

#: How long the end of an epoch waits for the last transaction; after half of this time it is aborted.
_END_SECONDS = 3.0
#: The offset map is valid once its transaction is committed, so it is written at most this long after it.
_FLUSH_SECONDS = 1.0
_WAIT_SECONDS = 0.1


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
        self._flushed = 0
        self._next_flush = 0.0

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
        """Offsets are committed with their records; syncs and the offset map follow."""
        if self._commits.count != self._flushed and now >= self._next_flush:
            self._flushed = self._commits.count
            self._next_flush = now + _FLUSH_SECONDS
            self._offsets_backoff.reset()
            self.mark()

    def mark(self) -> None:
        self._parts.syncs.flush()

    def finish(self) -> None:
        self._commits.hurry()
        began = time.monotonic()
        while not self._commits.done and time.monotonic() < began + _END_SECONDS:
            self._parts.require_leases()
            self.send()
            wait(self._producer.connections(), self.wait_seconds(time.monotonic(), _WAIT_SECONDS))
            self._producer.pump()
            if time.monotonic() > began + _END_SECONDS / 2:
                self._commits.void_unsettled("the epoch ends")
        if not self._commits.ended:
            # Whether it was committed is not known: the next epoch must read the stored offsets.
            raise HeliographError(
                f"flow {self._flow.name}: the target did not end the transaction within "
                f"{_END_SECONDS:.0f} s; resuming from the stored offsets"
            )
        self._parts.syncs.flush()
        self._parts.state.wait_idle(SIDE_SECONDS)

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
