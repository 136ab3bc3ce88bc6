"""The target side of a flow: an idempotent producer of whole batches, in order per partition.

    append ──► queue ──► request (one batch of each queue) ──► in flight ──► acknowledged
                 ▲                                                 │
                 └────────────── again, same sequence ◄─ retriable ┘

Each target partition has a queue (`send_queues.py`). A request takes at most one batch of a queue, and queues
take turns, so that a partition is never twice in a request. A batch keeps its sequence number through every
retry: the broker recognises what it already has. It remembers the last five batches of a producer, so at most
five requests are in flight on a connection.

A queue with an identity of its own (`adopt`) continues another writer's sequence: if requests of that writer
are still in flight, the broker sees the same sequence twice and appends once. If it finds the sequence out
of order, the queue is dropped as if refused, and its owner has to look at the target's log.

The first batch that a producer id sends to a partition goes alone. A broker that does not know the producer
accepts any sequence as its first, so a second batch in flight would be appended although the first was
refused; once one is acknowledged, a gap is answered with OUT_OF_ORDER_SEQUENCE_NUMBER. Brokers forget
producers that have been idle (producer.id.expiration.ms), so the same holds for the first batch after a
pause. Kafka measures that time by the timestamps of the records, not by when they were written: a broker that
restarts has forgotten a producer whose newest batch has records that are a day old. So

- the first batch on a new connection, or to a new leader, goes alone, too;
- if the response to old records is lost, they are not sent again, since the broker may append them a second
  time: the queue is dropped, and its owner has to look at the target's log (`on_doubt`). This needs a queue
  with an identity of its own.

With a transaction, all queues write as parts of it. `hold` keeps back what was not sent yet, so that
everything sent can be acknowledged; then the owner ends the transaction and calls `go_on`.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field

from heliograph.client.admin.topics import init_producer_id
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.net.connection import Connection
from heliograph.client.net.log_throttle import LogThrottle
from heliograph.client.produce.partition_queue import PartitionQueue, ProducerBatch
from heliograph.client.produce.send_queues import SendQueues
from heliograph.client.produce.transactions import FENCING, Transaction, fenced
from heliograph.errors import BrokerError, ClientError, HeliographError, MalformedResponse
from heliograph.model import ProducerIdentity, TopicPartition
from heliograph.records.batch import SEQUENCES, rewrite
from heliograph.wire import messages, produce
from heliograph.wire.error_codes import ErrorCode

log = logging.getLogger(__name__)

MAX_IN_FLIGHT = 5
#: Java's default of max.request.size.
REQUEST_BYTES = 1 << 20
_TIMEOUT_MS = 30_000
#: As long as Java's producer waits (TransactionManager.ADD_PARTITIONS_RETRY_BACKOFF_MS).
_MARKERS_SECONDS = 0.02

#: A duplicate is a batch that the broker had appended before, under the same sequence.
_APPENDED = frozenset({0, ErrorCode.DUPLICATE_SEQUENCE_NUMBER})
#: Brokers answer with these before they append anything.
_NOT_APPENDED = frozenset(
    {
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_ENOUGH_REPLICAS,
    }
)
#: Records older than this may be older than producer.id.expiration.ms (a day, unless it was lowered).
_OLD_SECONDS = 3600.0
#: The broker does not know our producer id or our sequence any more.
IDENTITY_ERRORS = frozenset(
    {
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.UNKNOWN_PRODUCER_ID,
        ErrorCode.PRODUCER_FENCED,
    }
)


@dataclass(slots=True, eq=False)
class _Pipe:
    """A connection and the requests in flight on it, oldest first."""

    connection: Connection
    requests: deque[list[tuple[PartitionQueue, ProducerBatch]]] = field(default_factory=deque)


class Producer:
    """`on_ack(partition, batch, base_offset)` is called in order per partition; `on_refused(partition,
    error)` once nothing of that partition is in flight any more and its queue has been dropped;
    `on_retry(partition, error)` whenever a partition has to wait; `on_doubt(partition, error)` as
    `on_refused`, if it is not known which batches were appended, and the broker may not know either (None:
    batches are sent again). For one thread."""

    def __init__(
        self,
        cluster: ClusterClient,
        topics: Iterable[str],
        *,
        on_ack: Callable[[TopicPartition, ProducerBatch, int], None],
        on_refused: Callable[[TopicPartition, BrokerError], None],
        on_retry: Callable[[TopicPartition, ClientError], None],
        on_doubt: Callable[[TopicPartition, ClientError], None] | None = None,
        transaction: Transaction | None = None,
        request_bytes: int = REQUEST_BYTES,
    ) -> None:
        self.cluster = cluster
        self.topics = frozenset(topics)
        self._queues = SendQueues(cluster, self.topics, on_retry)
        self._request_bytes = request_bytes
        self._on_ack = on_ack
        self._on_refused = on_refused
        self._on_doubt = on_doubt
        self._transaction = transaction
        self._transactional_id = transaction.transactional_id if transaction is not None else None
        self._identity = transaction.identity if transaction is not None else None
        self._identity_lost = False
        self._pipes: dict[int, _Pipe] = {}
        self._repeats = LogThrottle()
        # The queues' own: no call in between, `append` is called with every batch.
        self.append = self._queues.append
        self.abandon = self._queues.abandon
        self.release = self._queues.release
        self.hold = self._queues.hold
        self.unsettled = self._queues.unsettled
        self.idle_but_for = self._queues.idle_but_for
        self.troubles = self._queues.troubles

    @property
    def buffered_bytes(self) -> int:
        return self._queues.buffered_bytes

    @property
    def stuck_bytes(self) -> int:
        return self._queues.stuck_bytes

    @property
    def idle(self) -> bool:
        return not self._queues.buffered_bytes

    @property
    def in_flight(self) -> bool:
        return any(pipe.requests for pipe in self._pipes.values())

    @property
    def requests_in_flight(self) -> int:
        return sum(len(pipe.requests) for pipe in self._pipes.values())

    def connections(self) -> list[Connection]:
        return [pipe.connection for pipe in self._pipes.values() if pipe.requests]

    def adopt(self, partition: TopicPartition, identity: ProducerIdentity, sequence: int) -> None:
        """Continue with this sequence of this producer; nothing of the partition may be in flight."""
        queue = self._queues.of(partition)
        assert not queue.in_flight
        queue.identity, queue.next_sequence, queue.introduced = identity, sequence, False

    def also_to(self, topic: str) -> None:
        """Write to this topic, too, so that its leaders are looked up with the others'."""
        if topic not in self.topics:
            self.topics |= {topic}
            self._queues.topics = self.topics

    def send(self) -> None:
        """Fill requests, queue by queue, as long as there is something to send and room to send it."""
        self._queues.wake(time.monotonic())
        if self._identity_lost or self._identity is None:
            if self.in_flight:
                return
            self._renew_identity()
        if self._transaction is not None:
            self._join(self._transaction)
        for node in list(self._queues.ready):
            try:
                pipe = self._pipe(node)
                while self._queues.ready.get(node) and len(pipe.requests) < MAX_IN_FLIGHT:
                    self._send(node, pipe)
            except ClientError as e:
                self._lost(node, e)

    def pump(self) -> None:
        for node, pipe in list(self._pipes.items()):
            if pipe.requests:
                try:
                    pipe.connection.pump()
                except ClientError as e:
                    self._lost(node, e)

    # ── transactions ─────────────────────────────────────────────────────────────────────────

    @property
    def _version(self) -> int:
        if self._transaction is not None and self._transaction.version == 2:
            return produce.VERSION_WITH_TRANSACTIONS_2
        return produce.VERSION

    def go_on(self) -> None:
        """The transaction has been committed: what was held back belongs to the next one."""
        assert self._transaction is not None
        assert not self.in_flight
        before, self._identity = self._identity, self._transaction.identity
        if before != self._identity:
            for queue in self._queues.by_partition.values():
                queue.next_sequence = 0
                queue.introduced &= before is not None and before[0] == self._identity[0]
        self._queues.end_hold()

    def drop_all(self) -> None:
        """The transaction is aborted: its owner reads every partition again."""
        assert not self.in_flight
        self._queues.drop_all()

    def _join(self, transaction: Transaction) -> None:
        """A partition must belong to the transaction before anything is written to it."""
        ready = [queue for queues in self._queues.ready.values() for queue in queues]
        for partition, error in transaction.join(queue.partition for queue in ready).items():
            queue = self._queues.by_partition[partition]
            self._queues.unschedule(queue)
            self._failed(queue, queue.batches.popleft(), error)

    # ── sending ──────────────────────────────────────────────────────────────────────────────

    def _pipe(self, node: int) -> _Pipe:
        pipe = self._pipes.get(node)
        if pipe is not None and pipe.requests:
            return pipe
        connection = self.cluster.connection(node)
        if pipe is None or pipe.connection is not connection:
            wanted = range(self._version, self._version + 1)
            messages.pick_version("Produce", produce.API_KEY, wanted, connection.versions)
            pipe = self._pipes[node] = _Pipe(connection)
            self._queues.introduce_again(node)
        return pipe

    def _send(self, node: int, pipe: _Pipe) -> None:
        taken = self._take(self._queues.ready[node])
        batches = {queue.partition: batch.data for queue, batch in taken}
        pipe.requests.append(taken)
        if self._transaction is not None:
            self._transaction.sending(batches)
        pipe.connection.send(
            produce.API_KEY,
            self._version,
            produce.encode_request(
                batches,
                timeout_ms=_TIMEOUT_MS,
                transactional_id=self._transactional_id,
                version=self._version,
            ),
            lambda body: self._answered(pipe, body),
        )

    def _take(self, ready: deque[PartitionQueue]) -> list[tuple[PartitionQueue, ProducerBatch]]:
        """One batch of each queue in turn, up to the size of a request."""
        taken: list[tuple[PartitionQueue, ProducerBatch]] = []
        size = 0
        for _ in range(len(ready)):
            queue = ready[0]
            batch = queue.batches[0]
            if taken and size + len(batch.data) > self._request_bytes:
                break
            ready.popleft()
            queue.scheduled = False
            queue.batches.popleft()
            queue.in_flight += 1
            size += len(batch.data)
            self._number(queue, batch)
            taken.append((queue, batch))
        for queue, _batch in taken:
            self._queues.schedule(queue)
        return taken

    def _number(self, queue: PartitionQueue, batch: ProducerBatch) -> None:
        if batch.sequence is None:
            identity = queue.identity or self._identity
            assert identity is not None
            batch.sequence = queue.next_sequence
            queue.next_sequence = (queue.next_sequence + batch.record_count) % SEQUENCES
            rewrite(
                batch.data,
                producer_id=identity.producer_id,
                producer_epoch=identity.epoch,
                sequence=batch.sequence,
                transactional=self._transaction is not None,
            )

    # ── answers ──────────────────────────────────────────────────────────────────────────────

    def _answered(self, pipe: _Pipe, body: memoryview) -> None:
        taken = {queue.partition: (queue, batch) for queue, batch in pipe.requests[0]}
        answers = _answers(body, taken, self._version)
        pipe.requests.popleft()  # only now: after a malformed answer its batches are sent again
        for answer in answers:
            queue, batch = taken.pop(answer.partition)
            queue.in_flight -= 1
            if answer.error in _APPENDED:
                self._acknowledged(queue, batch, answer.base_offset)
            else:
                subject = f"target {queue.partition}: source offset {batch.first_offset}"
                error = messages.broker_error(answer.error, subject, answer.message)
                self._failed(queue, batch, error)
        for queue, batch in taken.values():  # an answer that leaves a partition out
            queue.in_flight -= 1
            code = ErrorCode.UNKNOWN_SERVER_ERROR
            self._failed(queue, batch, messages.broker_error(code, f"target {queue.partition}"))

    def _acknowledged(self, queue: PartitionQueue, batch: ProducerBatch, base_offset: int) -> None:
        if queue.refusal is not None:  # the sequence rules this out; it would mean a lost batch
            raise HeliographError(
                f"target {queue.partition}: the batch at source offset {batch.first_offset} was accepted "
                f"although the one before it was refused ({queue.refusal}); restarting at the stored "
                "offsets"
            )
        if queue.failed:
            # The batch before was appended, too, but answered with an error
            # (NOT_ENOUGH_REPLICAS_AFTER_APPEND): both are sent again, recognised, and acknowledged in order.
            batch.detach()
            batch.maybe_appended = True
            queue.failed.append(batch)
            self._drop_if_refused(queue)
            return
        self._queues.buffered_bytes -= batch.weight
        queue.backoff.reset()
        queue.introduced = True
        if queue.batches:
            self._queues.schedule(queue)
        elif not queue.in_flight:
            queue.idle_since = time.monotonic()
        self._on_ack(queue.partition, batch, base_offset)

    def _failed(self, queue: PartitionQueue, batch: ProducerBatch, error: ClientError) -> None:
        batch.detach()
        batch.maybe_appended |= not (isinstance(error, BrokerError) and error.code in _NOT_APPENDED)
        queue.failed.append(batch)
        if not queue.troubled:  # the batches after a failed one fail, too: out of sequence
            self._queues.unschedule(queue)
            self._judge(queue, error)
        self._drop_if_refused(queue)

    def _judge(self, queue: PartitionQueue, error: ClientError) -> None:
        if self._transaction is not None and isinstance(error, BrokerError):
            self._judge_transactional(queue, error, self._transaction)
        elif isinstance(error, BrokerError) and error.code in IDENTITY_ERRORS and queue.identity:
            queue.refusal = error
        elif isinstance(error, BrokerError) and error.code in IDENTITY_ERRORS:
            log.warning("%s; taking a new producer id", error)
            self._identity_lost = True
            self._queues.retry(queue, error)
        elif error.retriable or not isinstance(error, BrokerError):
            self._queues.retry(queue, error)
        else:
            queue.refusal = error

    def _judge_transactional(
        self, queue: PartitionQueue, error: BrokerError, transaction: Transaction
    ) -> None:
        if error.code in FENCING:
            raise fenced(transaction.transactional_id, error)
        if error.code == ErrorCode.CONCURRENT_TRANSACTIONS:
            # The markers of the transaction before are still being written.
            self._queues.wait(queue, _MARKERS_SECONDS)
        elif error.retriable:
            self._queues.retry(queue, error)
        else:
            queue.refusal = error

    def _drop_if_refused(self, queue: PartitionQueue) -> None:
        """The whole queue goes with a refused batch: its owner reads the partition again from there. So it
        does if the broker may append batches a second time."""
        if queue.in_flight:
            return
        if (refusal := queue.refusal) is not None:
            self._queues.drop(queue)
            self._on_refused(queue.partition, refusal)
        elif self._on_doubt is not None and _may_be_forgotten(queue):
            assert queue.trouble is not None
            self._queues.drop(queue)
            self._on_doubt(queue.partition, queue.trouble)

    def _lost(self, node: int, error: ClientError) -> None:
        if self._repeats.is_news(node, str(error)):
            log.warning("target %s: broker %d: %s", self.cluster.config.alias, node, error)
        self.cluster.disconnect(node)
        pipe = self._pipes.pop(node, None)
        for taken in pipe.requests if pipe is not None else ():
            for queue, batch in taken:
                queue.in_flight -= 1
                self._failed(queue, batch, error)
        for queue in self._queues.ready.pop(node, ()):
            queue.scheduled = False
            self._queues.retry(queue, error)

    def _renew_identity(self) -> None:
        self._identity = init_producer_id(self.cluster)
        self._identity_lost = False
        for queue in self._queues.by_partition.values():
            if queue.identity is not None:
                continue
            queue.next_sequence = 0
            queue.introduced = False
            for batch in (*queue.failed, *queue.batches):
                batch.sequence = None


def _may_be_forgotten(queue: PartitionQueue) -> bool:
    """Whether the broker may have appended a failed batch, and have forgotten its producer since. It would do
    that by the newest timestamp of the last batch that was appended: any of them."""
    if queue.identity is None or not any(batch.maybe_appended for batch in queue.failed):
        return False
    old = (time.time() - _OLD_SECONDS) * 1000
    return any(0 <= batch.newest_ms < old for batch in queue.failed)


def _answers(
    body: memoryview, asked: Container[TopicPartition], version: int
) -> list[produce.ProducedPartition]:
    """The response, checked: each partition at most once, and none that was not in the request."""
    answers = produce.decode_response(body, version)
    named = {answer.partition for answer in answers}
    if len(named) < len(answers) or any(partition not in asked for partition in named):
        raise MalformedResponse(
            "produce response: names a partition twice, or one that was not in the request"
        )
    return answers
