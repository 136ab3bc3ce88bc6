"""Batches on their way to a target, and the lane of each target partition that they wait in."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from heliograph.client.net.backoff import Backoff
from heliograph.errors import BrokerError, ClientError
from heliograph.model import ProducerIdentity, TopicPartition

#: What a batch takes in memory beside its bytes, about.
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
    sequence: int | None = None
    order: int = 0
    size: int = 0

    @property
    def weight(self) -> int:
        return len(self.data) + _BATCH_OVERHEAD

    def detach(self) -> None:
        """Out of the answer that it came with, which would live as long as this batch does."""
        self.data = memoryview(bytearray(self.data))


@dataclass(slots=True, eq=False)
class PartitionQueue:
    """What is queued and under way for one target partition."""

    partition: TopicPartition
    queue: deque[ProducerBatch] = field(default_factory=deque)
    failed: list[ProducerBatch] = field(default_factory=list)
    in_flight: int = 0
    node: int | None = None  # where it is under way: nothing goes elsewhere before that is answered
    scheduled: bool = False
    appended: int = 0
    next_sequence: int = 0
    identity: ProducerIdentity | None = None  # its own; None: the one that lanes share
    introduced: bool = False  # whether the broker has appended a batch of our present producer id
    idle_since: float = 0.0  # when all that was sent had been acknowledged
    retry_at: float | None = None
    refusal: BrokerError | None = None
    trouble: ClientError | None = None  # why it last had to wait
    backoff: Backoff = field(default_factory=Backoff)

    @property
    def troubled(self) -> bool:
        return self.retry_at is not None or self.refusal is not None

    @property
    def unsettled(self) -> bool:
        return bool(
            self.in_flight
            or any(batch.sequence is not None for batch in self.failed)
            or (self.queue and self.queue[0].sequence is not None)
        )

    @property
    def may_send(self) -> bool:
        return bool(self.queue) and not self.troubled and (self.introduced or not self.in_flight)
