"""Batches on their way to a target partition, in a queue of their own for each partition."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from heliograph.client.net.backoff import Backoff
from heliograph.errors import BrokerError, ClientError
from heliograph.model import ProducerIdentity, TopicPartition

#: About what a batch takes in memory beside its bytes.
_BATCH_OVERHEAD = 512


@dataclass(slots=True, eq=False)
class ProducerBatch:
    """A batch on its way to the target. `next_offset` is the upstream offset that follows it.

    `runs` are the upstream offsets of its records, as (first, number); None: all in one run.
    """

    data: memoryview
    record_count: int
    first_offset: int
    next_offset: int
    runs: tuple[tuple[int, int], ...] | None = None
    sequence: int | None = None  # given when it is first sent
    order: int = 0  # of `append`, within its partition
    size: int = 0
    newest_ms: int = -1  # the newest timestamp of its records
    maybe_appended: bool = False  # it was sent, and may be in the log

    @property
    def weight(self) -> int:
        return len(self.data) + _BATCH_OVERHEAD

    def detach(self) -> None:
        """Copy the bytes, so that the fetch response they are a view into can be freed."""
        self.data = memoryview(bytearray(self.data))


@dataclass(slots=True, eq=False)
class PartitionQueue:
    """What is queued and in flight for one target partition."""

    partition: TopicPartition
    batches: deque[ProducerBatch] = field(default_factory=deque)  # to be sent, in order
    failed: list[ProducerBatch] = field(default_factory=list)
    in_flight: int = 0
    node: int | None = (
        None  # the broker of requests in flight; a new leader waits for their answers
    )
    scheduled: bool = False
    appended: int = 0
    next_sequence: int = 0
    identity: ProducerIdentity | None = None  # its own; None: the one that all queues share
    introduced: bool = False  # whether the broker has appended a batch of the present producer id
    idle_since: float = 0.0  # when the last batch in flight was acknowledged
    retry_at: float | None = None
    refusal: BrokerError | None = None
    trouble: ClientError | None = None  # why it last had to wait
    backoff: Backoff = field(default_factory=Backoff)

    @property
    def troubled(self) -> bool:
        return self.retry_at is not None or self.refusal is not None

    @property
    def unsettled(self) -> bool:
        """Whether a batch was sent that may or may not have been appended."""
        return bool(
            self.in_flight
            or any(batch.sequence is not None for batch in self.failed)
            or (self.batches and self.batches[0].sequence is not None)
        )

    @property
    def may_send(self) -> bool:
        return bool(self.batches) and not self.troubled and (self.introduced or not self.in_flight)

    def drop_unsent(self) -> list[ProducerBatch]:
        """Remove the batches that were never sent."""
        unsent = [batch for batch in self.batches if batch.sequence is None]
        self.batches = deque(batch for batch in self.batches if batch.sequence is not None)
        return unsent

    def requeue_failed(self) -> None:
        """Put failed batches back in front, in the order in which they were first sent."""
        self.failed.sort(key=lambda batch: batch.order)
        self.batches.extendleft(reversed(self.failed))
        self.failed.clear()
