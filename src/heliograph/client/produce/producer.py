"""The target side of a flow: an idempotent producer of whole batches, in order per partition.

    append ──► lane.queue ──► request (one batch of each lane) ──► in flight ──► acknowledged
                   ▲                                                   │
                   └────────────── again, same sequence ◄── retriable ─┘

A *lane* is a target partition. A request takes at most one batch of a lane, and lanes take turns, so
that a partition never stands twice in a request. A batch keeps its sequence number through every retry:
the broker recognises what it already has (it remembers the last five batches of a producer, which is why
at most five requests are under way on a connection).

A lane that was given an identity of its own goes on with another writer's numbers: what that one's last
requests still do, the broker sees the same numbers and takes them once. If it finds them out of order, the
lane is dropped as if refused, for its owner to look at the target.

The first batch that a producer id sends to a partition goes alone. A broker that does not know the
producer yet takes whatever sequence comes first, so a second batch under way would be appended although
the first was refused; once one is acknowledged, a gap is answered with OUT_OF_ORDER_SEQUENCE_NUMBER. Brokers
forget producers that have been idle for some time (producer.id.expiration.ms), so the same holds for the
first batch after a pause.

With a transaction, all lanes write as parts of it. `hold` keeps back what was not sent before, so that what
was can be acknowledged to the last batch; then its owner ends the transaction and says `go_on`.
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
#: Leaders are asked for at most this often, however many lanes wait for theirs.
_REFRESH_SECONDS = 0.1
#: A partition that was idle for so long may have a broker that has forgotten our producer id.
_IDLE_SECONDS = 1.0

#: As long as Java's producer waits (TransactionManager.ADD_PARTITIONS_RETRY_BACKOFF_MS).
_MARKERS_SECONDS = 0.02

#: A duplicate is a batch that the broker had appended before, under the same sequence.
_APPENDED = frozenset({0, ErrorCode.DUPLICATE_SEQUENCE_NUMBER})
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
    """A connection and the requests under way on it, oldest first."""

    connection: Connection
    requests: deque[list[tuple[PartitionQueue, ProducerBatch]]] = field(default_factory=deque)


class Producer:
    """`on_ack(partition, batch, base_offset)` in order per partition; `on_refused(partition, batch,
    error)` once nothing of that partition is under way any more and its queue has been dropped;
    `on_retry(partition, error)` whenever a partition has to wait."""

    def __init__(
        self,
        cluster: ClusterClient,
        topics: Iterable[str],
        *,
        on_ack: Callable[[TopicPartition, ProducerBatch, int], None],
        on_refused: Callable[[TopicPartition, BrokerError], None],
        on_retry: Callable[[TopicPartition, ClientError], None],
        transaction: Transaction | None = None,
        request_bytes: int = REQUEST_BYTES,
    ) -> None:
        self.cluster = cluster
        self.topics = frozenset(topics)
        self.buffered_bytes = 0  # of all that is queued or under way, by weight
        self._request_bytes = request_bytes
        self._on_ack = on_ack
        self._on_refused = on_refused
        self._on_retry = on_retry
        self._transaction = transaction
        self._transactional_id = transaction.transactional_id if transaction is not None else None
        self._held: Container[TopicPartition] = ()
        self._identity = transaction.identity if transaction is not None else None
        self._identity_lost = False
        self._lanes: dict[TopicPartition, PartitionQueue] = {}
        self._ready: dict[int, deque[PartitionQueue]] = {}
        self._pipes: dict[int, _Pipe] = {}
        self._waiting: list[PartitionQueue] = []
        self._refreshed = 0.0
        self._repeats = LogThrottle()

    def adopt(self, partition: TopicPartition, identity: ProducerIdentity, sequence: int) -> None:
        """The lane's next record has this number of this producer; nothing of it may be under way."""
        lane = self._lane(partition)
        assert not lane.in_flight
        lane.identity, lane.next_sequence, lane.introduced = identity, sequence, False

    def append(self, partition: TopicPartition, batch: ProducerBatch) -> None:
        lane = self._lane(partition)
        if lane.introduced and not lane.queue and not lane.in_flight:
            lane.introduced = time.monotonic() - lane.idle_since < _IDLE_SECONDS
        self.buffered_bytes += batch.weight
        lane.appended += 1
        batch.order = lane.appended
        batch.size = len(batch.data)
        lane.queue.append(batch)
        self._schedule(lane)

    @property
    def idle(self) -> bool:
        return not self.buffered_bytes

    def connections(self) -> list[Connection]:
        return [pipe.connection for pipe in self._pipes.values() if pipe.requests]

    def send(self) -> None:
        """Fill requests, lane by lane, as long as there is something to send and room to send it."""
        self._wake(time.monotonic())
        if self._identity_lost or self._identity is None:
            if self.in_flight:
                return
            self._renew_identity()
        if self._transaction is not None:
            self._join(self._transaction)
        for node in list(self._ready):
            try:
                pipe = self._pipe(node)
                while self._ready.get(node) and len(pipe.requests) < MAX_IN_FLIGHT:
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

    def abandon(self, partitions: Container[TopicPartition]) -> None:
        """Drop what was never sent to these partitions. What was, is seen through: were a batch that
        failed dropped, the one behind it could still be acknowledged and hide the loss."""
        for lane in (lane for key, lane in self._lanes.items() if key in partitions):
            for batch in lane.queue:
                if batch.sequence is None:
                    self.buffered_bytes -= batch.weight
            lane.queue = deque(batch for batch in lane.queue if batch.sequence is not None)
        self._schedule_all()

    def _lane(self, partition: TopicPartition) -> PartitionQueue:
        lane = self._lanes.get(partition)
        if lane is None:
            lane = self._lanes[partition] = PartitionQueue(partition)
        return lane

    # ── transactions ─────────────────────────────────────────────────────────────────────────

    @property
    def _version(self) -> int:
        if self._transaction is not None and self._transaction.version == 2:
            return produce.VERSION_WITH_TRANSACTIONS_2
        return produce.VERSION

    @property
    def in_flight(self) -> bool:
        return any(pipe.requests for pipe in self._pipes.values())

    def unsettled(self, partitions: Container[TopicPartition]) -> bool:
        """Whether anything was sent to these of which nobody knows if it was appended."""
        return any(lane.unsettled for key, lane in self._lanes.items() if key in partitions)

    def idle_but_for(self, partitions: Container[TopicPartition]) -> bool:
        """Whether nothing is queued or under way, except to these."""
        return not any(
            lane.in_flight or lane.failed or lane.queue
            for key, lane in self._lanes.items()
            if key not in partitions
        )

    def troubles(self) -> dict[TopicPartition, ClientError]:
        """Why those wait that do."""
        return {lane.partition: lane.trouble for lane in self._waiting if lane.trouble is not None}

    def hold(self, partitions: Container[TopicPartition]) -> None:
        """Send nothing new to these from now on; what was sent before is seen through."""
        self._held = partitions
        self._schedule_all()

    def go_on(self) -> None:
        """The transaction has been committed: what was held back belongs to the next one."""
        assert self._transaction is not None
        assert not self.in_flight
        before, self._identity = self._identity, self._transaction.identity
        if before != self._identity:
            for lane in self._lanes.values():
                lane.next_sequence = 0
                lane.introduced &= before is not None and before[0] == self._identity[0]
        self._held = ()
        self._schedule_all()

    def drop_all(self) -> None:
        """The transaction is aborted: its owner goes back with every lane."""
        assert not self.in_flight
        for lane in self._lanes.values():
            lane.failed.clear()
            lane.queue.clear()
            lane.retry_at = lane.refusal = None
        self._waiting = []
        self.buffered_bytes = 0
        self._schedule_all()

    def _join(self, transaction: Transaction) -> None:
        """A partition must belong to the transaction before anything is written to it."""
        ready = [lane for lanes in self._ready.values() for lane in lanes]
        for partition, error in transaction.join(lane.partition for lane in ready).items():
            lane = self._lanes[partition]
            self._unschedule(lane)
            self._failed(lane, lane.queue.popleft(), error)

    # ── room ────────────────────────────────────────────────────────────────────────────────

    @property
    def stuck_bytes(self) -> int:
        """What partitions that wait to be tried again hold of `buffered_bytes`."""
        return sum(b.weight for lane in self._waiting for b in (*lane.failed, *lane.queue))

    def release(self, partition: TopicPartition) -> tuple[list[ProducerBatch], float | None]:
        """Drop what was never sent to a partition that waits to be tried again, and say when it will be."""
        lane = self._lanes.get(partition)
        if lane is None or lane.retry_at is None:
            return [], None
        dropped = [batch for batch in lane.queue if batch.sequence is None]
        lane.queue = deque(batch for batch in lane.queue if batch.sequence is not None)
        self.buffered_bytes -= sum(batch.weight for batch in dropped)
        return dropped, lane.retry_at

    # ── sending ──────────────────────────────────────────────────────────────────────────────

    def _schedule(self, lane: PartitionQueue) -> None:
        if lane.scheduled or not lane.may_send:
            return
        if lane.queue[0].sequence is None and lane.partition in self._held:
            return
        leader = self.cluster.metadata.leaders.get(lane.partition)
        if leader is None:
            code = self.cluster.metadata.why_leaderless(lane.partition)
            self._retry(lane, messages.broker_error(code, f"target {lane.partition}"))
        elif not lane.in_flight or lane.node == leader:
            lane.scheduled, lane.node = True, leader
            self._ready.setdefault(leader, deque()).append(lane)

    def _schedule_all(self) -> None:
        self._ready = {}
        for lane in self._lanes.values():
            lane.scheduled = False
            self._schedule(lane)

    def _pipe(self, node: int) -> _Pipe:
        pipe = self._pipes.get(node)
        if pipe is not None and pipe.requests:
            return pipe
        connection = self.cluster.connection(node)
        if pipe is None or pipe.connection is not connection:
            wanted = range(self._version, self._version + 1)
            messages.pick_version("Produce", produce.API_KEY, wanted, connection.versions)
            pipe = self._pipes[node] = _Pipe(connection)
        return pipe

    def _send(self, node: int, pipe: _Pipe) -> None:
        taken = self._take(self._ready[node])
        batches = {lane.partition: batch.data for lane, batch in taken}
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
        """One batch of each lane in turn, up to the size of a request."""
        taken: list[tuple[PartitionQueue, ProducerBatch]] = []
        size = 0
        for _ in range(len(ready)):
            lane = ready[0]
            batch = lane.queue[0]
            if taken and size + len(batch.data) > self._request_bytes:
                break
            ready.popleft()
            lane.scheduled = False
            lane.queue.popleft()
            lane.in_flight += 1
            size += len(batch.data)
            self._number(lane, batch)
            taken.append((lane, batch))
        for lane, _batch in taken:
            self._schedule(lane)
        return taken

    def _number(self, lane: PartitionQueue, batch: ProducerBatch) -> None:
        if batch.sequence is None:
            identity = lane.identity or self._identity
            assert identity is not None
            batch.sequence = lane.next_sequence
            lane.next_sequence = (lane.next_sequence + batch.record_count) % SEQUENCES
            rewrite(
                batch.data,
                producer_id=identity.producer_id,
                producer_epoch=identity.epoch,
                sequence=batch.sequence,
                transactional=self._transaction is not None,
            )

    # ── answers ──────────────────────────────────────────────────────────────────────────────

    def _answered(self, pipe: _Pipe, body: memoryview) -> None:
        taken = {lane.partition: (lane, batch) for lane, batch in pipe.requests[0]}
        answers = _answers(body, taken, self._version)
        pipe.requests.popleft()  # not before: what a malformed answer leaves open is sent again
        for answer in answers:
            lane, batch = taken.pop(TopicPartition(answer.topic, answer.partition))
            lane.in_flight -= 1
            if answer.error in _APPENDED:
                self._acknowledged(lane, batch, answer.base_offset)
            else:
                subject = f"target {lane.partition}: source offset {batch.first_offset}"
                error = messages.broker_error(answer.error, subject, answer.message)
                self._failed(lane, batch, error)
        for lane, batch in taken.values():  # an answer that leaves a partition out
            lane.in_flight -= 1
            self._failed(
                lane,
                batch,
                messages.broker_error(ErrorCode.UNKNOWN_SERVER_ERROR, f"target {lane.partition}"),
            )

    def _acknowledged(self, lane: PartitionQueue, batch: ProducerBatch, base_offset: int) -> None:
        if (
            lane.refusal is not None
        ):  # sequence numbers forbid it; were it so, a batch would be lost
            raise HeliographError(
                f"target {lane.partition}: source offset {batch.first_offset} was accepted although what "
                f"stands before it was refused ({lane.refusal}); going back to the stored offsets"
            )
        if lane.failed:
            # The one before was appended, too, but its broker could not say so
            # (NOT_ENOUGH_REPLICAS_AFTER_APPEND): both are sent again, recognised, and told in order.
            batch.detach()
            lane.failed.append(batch)
            return
        self.buffered_bytes -= batch.weight
        lane.backoff.reset()
        lane.introduced = True
        if lane.queue:
            self._schedule(lane)
        elif not lane.in_flight:
            lane.idle_since = time.monotonic()
        self._on_ack(lane.partition, batch, base_offset)

    def _failed(self, lane: PartitionQueue, batch: ProducerBatch, error: ClientError) -> None:
        batch.detach()
        lane.failed.append(batch)
        if not lane.troubled:  # what follows a failed batch fails too, out of sequence
            self._unschedule(lane)
            self._judge(lane, error)
        if not lane.in_flight and lane.refusal is not None:
            self._drop(lane)

    def _judge(self, lane: PartitionQueue, error: ClientError) -> None:
        if self._transaction is not None and isinstance(error, BrokerError):
            self._judge_transactional(lane, error, self._transaction)
        elif isinstance(error, BrokerError) and error.code in IDENTITY_ERRORS and lane.identity:
            lane.refusal = error
        elif isinstance(error, BrokerError) and error.code in IDENTITY_ERRORS:
            log.warning("%s; taking a new producer id", error)
            self._identity_lost = True
            self._retry(lane, error)
        elif error.retriable or not isinstance(error, BrokerError):
            self._retry(lane, error)
        else:
            lane.refusal = error

    def _judge_transactional(
        self, lane: PartitionQueue, error: BrokerError, transaction: Transaction
    ) -> None:
        if error.code in FENCING:
            raise fenced(transaction.transactional_id, error)
        if (
            error.code == ErrorCode.CONCURRENT_TRANSACTIONS
        ):  # the markers of the one before are being written
            lane.retry_at = time.monotonic() + _MARKERS_SECONDS
            self._waiting.append(lane)
        elif error.retriable:
            self._retry(lane, error)
        else:
            lane.refusal = error

    def _retry(self, lane: PartitionQueue, error: ClientError) -> None:
        lane.retry_at = time.monotonic() + lane.backoff.next()
        lane.trouble = error
        self._waiting.append(lane)
        self._on_retry(lane.partition, error)

    def _drop(self, lane: PartitionQueue) -> None:
        """A refused batch takes the whole queue with it: its owner goes back and reads it again."""
        refusal, lane.refusal = lane.refusal, None
        assert refusal is not None
        lane.next_sequence = lane.failed[0].sequence or 0
        for batch in (*lane.failed, *lane.queue):
            self.buffered_bytes -= batch.weight
        lane.failed.clear()
        lane.queue.clear()
        self._on_refused(lane.partition, refusal)

    def _lost(self, node: int, error: ClientError) -> None:
        if self._repeats.is_news(node, str(error)):
            log.warning("target %s: broker %d: %s", self.cluster.config.alias, node, error)
        self.cluster.disconnect(node)
        pipe = self._pipes.pop(node, None)
        for taken in pipe.requests if pipe is not None else ():
            for lane, batch in taken:
                lane.in_flight -= 1
                self._failed(lane, batch, error)
        for lane in self._ready.pop(node, ()):
            lane.scheduled = False
            self._retry(lane, error)

    # ── trying again ─────────────────────────────────────────────────────────────────────────

    def _wake(self, now: float) -> None:
        """Put lanes whose wait is over back to work, in the order their batches were first sent."""
        due = {
            lane
            for lane in self._waiting
            if lane.retry_at is not None and lane.retry_at <= now and not lane.in_flight
        }
        if not due:
            return
        if now - self._refreshed > _REFRESH_SECONDS:
            self.cluster.refresh(self.topics)
            self._refreshed = now
        self._waiting = [lane for lane in self._waiting if lane not in due]
        for lane in due:
            lane.retry_at = None
            lane.failed.sort(key=lambda batch: batch.order)
            lane.queue.extendleft(reversed(lane.failed))
            lane.failed.clear()
        self._schedule_all()

    def _unschedule(self, lane: PartitionQueue) -> None:
        if lane.scheduled and lane.node is not None:
            self._ready[lane.node].remove(lane)
            lane.scheduled = False

    def _renew_identity(self) -> None:
        self._identity = init_producer_id(self.cluster)
        self._identity_lost = False
        for lane in (lane for lane in self._lanes.values() if lane.identity is None):
            lane.next_sequence = 0
            lane.introduced = False
            for batch in (*lane.failed, *lane.queue):
                batch.sequence = None


def _answers(
    body: memoryview, asked: Container[TopicPartition], version: int
) -> list[produce.ProducedPartition]:
    """What a response says, each partition once and none that was not asked for."""
    answers = produce.decode_response(body, version)
    named = {TopicPartition(answer.topic, answer.partition) for answer in answers}
    if len(named) < len(answers) or any(partition not in asked for partition in named):
        raise MalformedResponse("produce response: partitions that were not asked for, or twice")
    return answers
