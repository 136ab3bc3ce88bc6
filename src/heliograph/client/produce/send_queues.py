"""Decides which target partitions may send now, to which broker, and which have to wait.

    append ──► queue ──► ready, by leader ──► taken for a request
                 ▲                                  │
                 └── waiting, until `retry_at` ◄────┘ failed

No I/O but a refresh of metadata: `producer.py` sends the requests and reads the answers.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Container

from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.partition_queue import PartitionQueue, ProducerBatch
from heliograph.errors import ClientError
from heliograph.model import TopicPartition
from heliograph.wire import messages

#: Metadata are refreshed at most this often, however many partitions wait for a leader.
_REFRESH_SECONDS = 0.1
#: After so long a pause the broker may have forgotten our producer id (producer.id.expiration.ms).
_IDLE_SECONDS = 1.0


class SendQueues:
    """The queues of one producer. `on_retry(partition, error)` is called whenever one has to wait."""

    def __init__(
        self,
        cluster: ClusterClient,
        topics: frozenset[str],
        on_retry: Callable[[TopicPartition, ClientError], None],
    ) -> None:
        self.by_partition: dict[TopicPartition, PartitionQueue] = {}
        self.ready: dict[int, deque[PartitionQueue]] = {}  # by broker
        self.buffered_bytes = 0  # of all that is queued or in flight, by weight
        self._cluster = cluster
        self.topics = topics
        self._on_retry = on_retry
        self._waiting: list[PartitionQueue] = []
        self._held: Container[TopicPartition] = ()
        self._refreshed = 0.0

    def of(self, partition: TopicPartition) -> PartitionQueue:
        queue = self.by_partition.get(partition)
        if queue is None:
            queue = self.by_partition[partition] = PartitionQueue(partition)
        return queue

    def append(self, partition: TopicPartition, batch: ProducerBatch) -> None:
        queue = self.of(partition)
        if queue.introduced and not queue.batches and not queue.in_flight:
            queue.introduced = time.monotonic() - queue.idle_since < _IDLE_SECONDS
        self.buffered_bytes += batch.weight
        queue.appended += 1
        batch.order = queue.appended
        batch.size = len(batch.data)
        queue.batches.append(batch)
        self.schedule(queue)

    # ── scheduling ───────────────────────────────────────────────────────────────────────────

    def schedule(self, queue: PartitionQueue) -> None:
        if queue.scheduled or not queue.may_send:
            return
        if queue.batches[0].sequence is None and queue.partition in self._held:
            return
        leader = self._cluster.metadata.leaders.get(queue.partition)
        if leader is None:
            code = self._cluster.metadata.why_leaderless(queue.partition)
            self.retry(queue, messages.broker_error(code, f"target {queue.partition}"))
        elif not queue.in_flight or queue.node == leader:
            queue.introduced &= queue.node == leader
            queue.scheduled, queue.node = True, leader
            self.ready.setdefault(leader, deque()).append(queue)

    def introduce_again(self, node: int) -> None:
        """This broker may have restarted, and forgotten our producer id: the next batch goes alone."""
        for queue in self.by_partition.values():
            queue.introduced &= queue.node != node

    def schedule_all(self) -> None:
        self.ready = {}
        for queue in self.by_partition.values():
            queue.scheduled = False
            self.schedule(queue)

    def unschedule(self, queue: PartitionQueue) -> None:
        if queue.scheduled and queue.node is not None:
            self.ready[queue.node].remove(queue)
            queue.scheduled = False

    def retry(self, queue: PartitionQueue, error: ClientError) -> None:
        """Let it wait, longer each time."""
        queue.trouble = error
        self.wait(queue, queue.backoff.next())
        self._on_retry(queue.partition, error)

    def wait(self, queue: PartitionQueue, seconds: float) -> None:
        queue.retry_at = time.monotonic() + seconds
        self._waiting.append(queue)

    def wake(self, now: float) -> None:
        """Put queues whose wait is over back to work, their failed batches first."""
        due = {
            queue
            for queue in self._waiting
            if queue.retry_at is not None and queue.retry_at <= now and not queue.in_flight
        }
        if not due:
            return
        if now - self._refreshed > _REFRESH_SECONDS:
            self._cluster.refresh(self.topics)
            self._refreshed = now
        self._waiting = [queue for queue in self._waiting if queue not in due]
        for queue in due:
            queue.retry_at = None
            queue.requeue_failed()
        self.schedule_all()

    def hold(self, partitions: Container[TopicPartition]) -> None:
        """Send nothing new to these until `end_hold`; what was sent before is sent again if it fails."""
        self._held = partitions
        self.schedule_all()

    def end_hold(self) -> None:
        self._held = ()
        self.schedule_all()

    # ── dropping ─────────────────────────────────────────────────────────────────────────────

    def drop(self, queue: PartitionQueue) -> None:
        """Drop all of a queue; its next batch takes the sequence of the first one dropped."""
        queue.next_sequence = queue.failed[0].sequence or 0
        for batch in (*queue.failed, *queue.batches):
            self.buffered_bytes -= batch.weight
        queue.failed.clear()
        queue.batches.clear()
        queue.refusal = None

    def drop_all(self) -> None:
        for queue in self.by_partition.values():
            queue.failed.clear()
            queue.batches.clear()
            queue.retry_at = queue.refusal = None
        self._waiting = []
        self.buffered_bytes = 0
        self.schedule_all()

    def abandon(self, partitions: Container[TopicPartition]) -> None:
        """Drop what was never sent to these partitions. What was sent is sent until it is acknowledged: if a
        failed batch were dropped, an acknowledgement of the next one would hide the loss."""
        for queue in (queue for key, queue in self.by_partition.items() if key in partitions):
            self._subtract(queue.drop_unsent())
        self.schedule_all()

    def release(self, partition: TopicPartition) -> tuple[list[ProducerBatch], float | None]:
        """Drop what was never sent to a partition that waits for a retry; also returns when that is due."""
        queue = self.by_partition.get(partition)
        if queue is None or queue.retry_at is None:
            return [], None
        dropped = queue.drop_unsent()
        self._subtract(dropped)
        return dropped, queue.retry_at

    def _subtract(self, dropped: list[ProducerBatch]) -> None:
        self.buffered_bytes -= sum(batch.weight for batch in dropped)

    # ── state ────────────────────────────────────────────────────────────────────────────────

    @property
    def stuck_bytes(self) -> int:
        """The part of `buffered_bytes` that waits for a retry."""
        return sum(b.weight for queue in self._waiting for b in (*queue.failed, *queue.batches))

    def unsettled(self, partitions: Container[TopicPartition]) -> bool:
        """Whether anything was sent to these that may or may not have been appended."""
        return any(queue.unsettled for key, queue in self.by_partition.items() if key in partitions)

    def idle_but_for(self, partitions: Container[TopicPartition]) -> bool:
        """Whether nothing is queued or in flight, except to these."""
        return not any(
            queue.in_flight or queue.failed or queue.batches
            for key, queue in self.by_partition.items()
            if key not in partitions
        )

    def troubles(self) -> dict[TopicPartition, ClientError]:
        """The partitions that wait for a retry, and why."""
        return {q.partition: q.trouble for q in self._waiting if q.trouble is not None}
