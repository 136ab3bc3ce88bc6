"""The copy loop: one flow's share of one task, from source brokers to target brokers.

    source ──fetch──► prepare ──► producer ──produce──► target
                         │ position            │ acknowledged, or committed
                         ▼                     ▼
                    next fetch         offsets, snapshots, syncs, offset map, receipts

One thread, no Spark: a task runs a copy loop per flow, and the benchmark's raw copy is this loop alone. Each
answer is an event of its partition (`partition.py`); what the partition asks for then, `subscription.py`
does. When records count as mirrored is a matter of the delivery. A partition in trouble never stops the
others: it waits with its cause in `state` and `error`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from heliograph.client.fetch.fetcher import Fetcher
from heliograph.client.net.cluster import ClusterClient
from heliograph.client.net.poller import wait
from heliograph.client.produce.partition_queue import ProducerBatch
from heliograph.client.produce.producer import Producer
from heliograph.client.produce.transactions import Transaction
from heliograph.config.mirror_config import FlowConfig
from heliograph.copy.at_least_once import AtLeastOnce
from heliograph.copy.bookkeeping.background_writer import BackgroundWriter
from heliograph.copy.bookkeeping.offset_store import OffsetStore
from heliograph.copy.bookkeeping.offset_syncs import Syncs
from heliograph.copy.bookkeeping.producer_snapshots import ProducerSnapshots
from heliograph.copy.bookkeeping.receipts import Receipts
from heliograph.copy.buffer_pool import BufferPool, fetch_limits
from heliograph.copy.cluster_retry import ClusterRetry
from heliograph.copy.delivery import SIDE_SECONDS, Delivery, LoopParts
from heliograph.copy.log_gaps import GapWatch
from heliograph.copy.partition import Partition
from heliograph.copy.prepare_batches import prepare
from heliograph.copy.producer_recovery import ProducerRecovery
from heliograph.copy.producers import Producers
from heliograph.copy.quarantine import Quarantine
from heliograph.copy.subscription import SubscriptionState
from heliograph.copy.target_loss import TargetLoss
from heliograph.copy.throttle import Throttle
from heliograph.copy.transactional import Transactional
from heliograph.errors import BrokerError, ClientError, Interrupted, LeaseLapsed
from heliograph.mm2.state_records import state_topic
from heliograph.model import Lease, Receipt, Timestamps, TopicPartition
from heliograph.wire.error_codes import ErrorCode
from heliograph.wire.fetch import FetchedPartition
from heliograph.wire.messages import broker_error

log = logging.getLogger(__name__)

_TICK_SECONDS = 0.1


class CopyLoop:
    """`probe_client` is a client of the target that nothing else uses; `offsets` one of the cluster that
    offsets are stored on, if that is another. With a `transaction`, records are delivered exactly once."""

    def __init__(
        self,
        flow: FlowConfig,
        leases: Iterable[Lease],
        *,
        source: ClusterClient,
        target: ClusterClient,
        probe_client: ClusterClient,
        offsets: ClusterClient | None = None,
        stopped: Callable[[], bool],
        lapsed: Callable[[], bool] = lambda: False,
        patience_seconds: float = 60.0,
        transaction: Transaction | None = None,
    ) -> None:
        self.flow = flow
        self._patience_seconds = patience_seconds
        self._source = source
        self._target = target
        self._stopped = stopped
        self._lapsed = lapsed
        copies = [
            Partition(lease, flow.isolation_level, transaction is not None) for lease in leases
        ]
        self._copies = {copy.source: copy for copy in copies}
        self._by_target = {copy.target: copy for copy in copies}
        self._throttle = Throttle(
            flow.limits.bytes_per_second * sum(copy.lease.share for copy in copies),
            time.monotonic(),
            f"flow {flow.name}",
        )
        self._fetcher = self._new_fetcher()
        self._quarantine = Quarantine(flow)
        self._producers = self._new_producers(offsets or target, transaction)
        self._producer = self._producers.records
        self._buffers = BufferPool(flow.limits.buffer_memory, copies, self._fetcher, self._producer)
        self._reach = ClusterRetry(flow.name, copies)
        self._state = BackgroundWriter(
            target.config,
            state_topic(flow.source),
            client_id=f"{flow.name}|{flow.connector_name}|state-producer",
            what=f"flow {flow.name}: producer snapshots and offset map",
            lapsed=lapsed,
        )
        self._syncs = Syncs(
            flow,
            copies,
            source=source.config,
            target=target.config,
            state=self._state,
            lapsed=lapsed,
        )
        self._receipts = Receipts(copies, self._syncs)
        self._snapshots = ProducerSnapshots(self._state, self._syncs.note_begun)
        self._subscription = SubscriptionState(
            flow.name,
            copies,
            target=target,
            fetcher=self._fetcher,
            producer=self._producer,
            quarantine=self._quarantine,
            syncs=self._syncs,
            snapshots=self._snapshots,
        )
        self._recovery = ProducerRecovery(
            flow, probe_client, self._producer, self._snapshots, on_loss=self._on_loss
        )
        self._loss = TargetLoss(flow, probe_client, self._syncs, self._state)
        self._gaps = GapWatch(
            flow,
            self._copies,
            self._subscription,
            source=source,
            target=target,
            fall_back=self._recovery.fall_back_to_at_least_once,
        )
        self._delivery = self._new_delivery(probe_client, transaction)
        self._next_tick = 0.0
        self._last_progress = time.monotonic()
        self._done = False

    def _new_fetcher(self) -> Fetcher:
        bounded = any(copy.lease.end is not None for copy in self._copies.values())
        return Fetcher(
            self._source,
            isolation_level=self.flow.isolation_level,
            limits=fetch_limits(self.flow.limits),
            on_records=self._on_records,
            on_nothing=self._on_nothing if bounded else None,
            on_leaders=self._on_leaders,
            on_metadata=self._on_metadata,
            round_bytes=self._throttle.round_bytes,
        )

    def _new_producers(
        self, stored_on: ClusterClient, transaction: Transaction | None
    ) -> Producers:
        return Producers(
            partial(
                Producer, on_ack=self._on_ack, on_refused=self._on_refused, on_retry=self._on_retry
            ),
            self._target,
            {copy.target.topic for copy in self._copies.values()} | self._quarantine.topics,
            stored_on,
            self.flow.offsets_topic.name,
            transaction=transaction,
            request_bytes=self.flow.limits.request_bytes,
        )

    def _new_delivery(
        self, probe_client: ClusterClient, transaction: Transaction | None
    ) -> Delivery:
        parts = LoopParts(
            flow=self.flow,
            copies=self._by_target,
            target=self._target,
            probe_client=probe_client,
            producers=self._producers,
            offsets=OffsetStore(self.flow, self._producers.offsets),
            state=self._state,
            syncs=self._syncs,
            snapshots=self._snapshots,
            recovery=self._recovery,
            subscription=self._subscription,
            quarantine=self._quarantine,
            reach=self._reach,
            mirrored=self._mirrored,
            require_leases=self._require_leases,
        )
        return AtLeastOnce(parts) if transaction is None else Transactional(parts, transaction)

    def run(self) -> None:
        """Copy until every lease is done or the epoch is stopped; then settle what is under way.

        Raises LeaseLapsed as soon as others may copy the same partitions: then nothing more is sent or
        stored. What was sent just before, brokers take once, by sequence numbers or by fencing; an offset
        or a snapshot that is stored late would hide those of a successor, and no broker knows better.
        """
        self._state.start()
        self._syncs.start()
        try:
            self.begin()
            while not (self._stopped() or self._lapsed() or self._done):
                self.step()
            self._finish()
        finally:
            self._syncs.close(SIDE_SECONDS)
            self._state.close(SIDE_SECONDS)
            self._receipts.ended = True
            self._receipts.publish()

    @property
    def interrupted(self) -> bool:
        """Whether the end of the epoch came upon a question that a cluster had not answered."""
        return self._reach.interrupted

    def ask_for_receipts(self) -> None:
        """To be taken a moment later. For another thread, as is `receipts`."""
        self._receipts.ask()

    def receipts(self) -> list[Receipt]:
        """The newest that were made, and where records have landed since the last call."""
        return self._receipts.take()

    # ── the loop ─────────────────────────────────────────────────────────────────────────────

    def begin(self) -> None:
        self._producers.refresh(self._reach)
        self._recover(time.monotonic())

    def step(self) -> None:
        self._receipts.publish_if_asked()
        self._delivery.send()
        self._gaps.compare_topics()
        if self._gaps.due:
            self._reach(self._source, self._gaps.judge)
        rest = self._throttle.wait(self._fetcher.fetched_bytes, time.monotonic())
        if not rest and self._buffers.has_room():
            self._reach(self._source, self._fetcher.send)
        connections = [*self._fetcher.connections(), *self._producers.connections()]
        idle = self._delivery.wait_seconds(time.monotonic(), _TICK_SECONDS)
        wait(connections, min(rest or _TICK_SECONDS, idle))
        if self._lapsed():
            return  # a process that was frozen was so here, most likely
        self._producers.pump()
        self._fetcher.pump()
        if time.monotonic() >= self._next_tick:
            self._tick(time.monotonic())

    def _tick(self, now: float) -> None:
        """What looks at every partition: not with each answer, there may be thousands of both."""
        self._next_tick = now + _TICK_SECONDS
        self._done = self._finished()
        self._recover(now)
        self._receipts.throttled = self._throttle.held_back(now)
        for copy in self._copies.values():
            self._subscription.retry(copy, now)
        self._syncs.tick(now)
        self._delivery.tick(now)

    def _finished(self) -> bool:
        if any(copy.lease.end is None for copy in self._copies.values()):
            return False
        if time.monotonic() - self._last_progress > self._patience_seconds:
            log.error(
                "flow %s: no progress for %g s; giving up", self.flow.name, self._patience_seconds
            )
            return True
        return all(copy.finished for copy in self._copies.values())

    def _require_leases(self) -> None:
        if self._lapsed():
            raise LeaseLapsed(
                f"flow {self.flow.name}: the driver has not confirmed the leases in time; the task stops"
            )

    def _finish(self) -> None:
        self._require_leases()
        self._fetcher.close()
        self._delivery.finish()

    def _recover(self, now: float) -> None:
        if due := self._subscription.to_recover(now):
            self._reach(self._target, lambda: self._recovered(self._delivery.recover(due)))

    def _recovered(self, copies: Sequence[Partition]) -> None:
        self._subscription.recovered(copies)
        self._gaps.begin(copies)

    # ── source side ──────────────────────────────────────────────────────────────────────────

    def _on_records(self, answer: FetchedPartition) -> None:
        copy = self._copies[TopicPartition(answer.topic, answer.partition)]
        if answer.error:
            self._on_fetch_error(copy, answer.error)
            return
        # The last stable offset is the end of what a read_committed reader can see; the broker gives
        # both, and under read_uncommitted the high watermark counts.
        committed = self.flow.isolation_level.wire == 1
        copy.answered(answer.last_stable_offset if committed else answer.high_watermark)
        if answer.records:
            self._last_progress = time.monotonic()
            self._forward(copy, answer)

    def _forward(self, copy: Partition, answer: FetchedPartition) -> None:
        prepared = prepare(
            copy,
            answer,
            append_time=self.flow.timestamps is Timestamps.READER,
            subject=f"{self.flow.name}: {copy.source}",
            quarantine=self._quarantine.enabled,
        )
        copy.read(prepared)
        if prepared.uncertain:
            self._recovery.fall_back_to_at_least_once(
                copy, "the records read there are not those that were copied"
            )
            self._subscription.obey(copy)
            return
        if prepared.failure is not None and copy.error != str(prepared.failure):
            log.error("%s", prepared.failure)
        unplaced = copy.remote.unplaced
        copy.fetched(prepared, time.monotonic())
        if copy.remote.unplaced != unplaced:
            self._warn_of_unplaced(copy, prepared.there)
        for batch in prepared.batches:
            self._producer.append(copy.target, batch)
        self._subscription.obey(copy)

    def _on_nothing(self, ends: Mapping[TopicPartition, int]) -> None:
        """No record left below the end of a bounded lease: compaction has removed the rest."""
        for key, readable in ends.items():
            copy = self._copies[key]
            end = copy.lease.end
            if end is not None and copy.position < end <= readable:
                copy.read_to(end)
                self._subscription.obey(copy)

    def _on_fetch_error(self, copy: Partition, code: int) -> None:
        error = broker_error(code, f"{self.flow.name}: {copy.source} at offset {copy.position}")
        if code == ErrorCode.OFFSET_OUT_OF_RANGE:
            self._gaps.suspect(copy, str(error))
        elif error.retriable:
            self._subscription.mark_retrying(copy, str(error))
        else:
            self._subscription.fail(copy, str(error))

    def _on_leaders(self, epochs: Mapping[TopicPartition, int]) -> None:
        self._gaps.on_leaders(epochs)

    def _on_metadata(self) -> None:
        self._gaps.compare_topics()

    # ── target side ──────────────────────────────────────────────────────────────────────────

    def _on_ack(self, partition: TopicPartition, batch: ProducerBatch, base_offset: int) -> None:
        self._delivery.acknowledged(partition, batch, base_offset)

    def _mirrored(self, partition: TopicPartition, batch: ProducerBatch, base_offset: int) -> None:
        """A batch counts from now on; or the coordinates of records that are left out."""
        self._last_progress = time.monotonic()
        copy = self._by_target.get(partition)
        if copy is None:
            copy = self._quarantine.acknowledged()
        else:
            unplaced = copy.remote.unplaced
            foreign = copy.acknowledged(batch, base_offset, time.time())
            if foreign is not None:
                self._delivery.foreign(copy, foreign)
            if copy.remote.unplaced != unplaced:
                self._warn_of_unplaced(copy, [batch])
        self._subscription.obey(copy)

    def _warn_of_unplaced(self, copy: Partition, batches: Sequence[ProducerBatch]) -> None:
        log.warning(
            "%s: %s: the target has source offsets %d to %d, but does not say where; offsets among "
            "them are translated by syncs (%d records so far)",
            self.flow.name,
            copy.source,
            batches[0].first_offset,
            batches[-1].next_offset - 1,
            copy.remote.unplaced,
        )

    def _on_retry(self, partition: TopicPartition, error: ClientError) -> None:
        if isinstance(error, Interrupted):
            return  # the epoch ends, and what is under way is still seen through: no partition's trouble
        copy = self._by_target.get(partition)
        if copy is not None:
            self._subscription.stall(copy, str(error))
        elif partition.topic in self._quarantine.topics:
            for copy in self._quarantine.waiting():
                self._subscription.mark_retrying(
                    copy, f"{self.flow.name}: {copy.source}: quarantine: {error}"
                )
        else:
            log.warning("flow %s: storing offsets: %s; trying again", self.flow.name, error)

    def _on_refused(self, partition: TopicPartition, error: BrokerError) -> None:
        self._delivery.refused(partition, error)

    def _on_loss(self, copy: Partition, end: int) -> None:
        """The target has lost what it had acknowledged from its offset `end` on."""
        self._delivery.losing(copy)
        self._target.refresh(self._producer.topics)
        self._gaps.compare_topics()
        if copy.recheck:
            return  # the topic was created again, which is the driver's matter
        verdict, exact = self._loss.judge(copy, end)
        self._gaps.lost(copy, verdict)
        if copy.remote.copied_since:
            self._recovery.fall_back_to_at_least_once(
                copy, "records have been copied since the target lost others"
            )
        elif not exact and not copy.halted:
            self._recovery.fall_back_to_at_least_once(
                copy, "the offset map ends before the records that the target lost"
            )
