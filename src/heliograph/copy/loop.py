"""The copy loop: copies one flow's partitions of one task from the source brokers to the target brokers.

    source ──fetch──► prepare ──► producer ──produce──► target
                         │ position            │ acknowledged, or committed
                         ▼                     ▼
                    next fetch         offsets, snapshots, syncs, offset map, receipts

One thread, no Spark: a task runs one copy loop per flow, and the raw copy of the benchmark is this loop. Each
response is an event of its partition (`source_events.py`, `target_events.py`, `partition.py`);
`subscription.py` carries out the partition's next command. The delivery decides when records count as
mirrored. A partition that fails does not stop the others: it waits, with the cause in `state` and `error`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from heliograph.client.fetch.fetcher import Fetcher
from heliograph.client.fetch.own_batches import OwnEnd
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
from heliograph.copy.bookkeeping.task_report import Measured, clients
from heliograph.copy.buffer_pool import BufferPool, fetch_limits
from heliograph.copy.cluster_retry import ClusterRetry
from heliograph.copy.delivery import SIDE_SECONDS, Delivery, LoopParts
from heliograph.copy.lane.outlet import Outlet
from heliograph.copy.lane.partition import LanePartition
from heliograph.copy.lane.target_events import LaneTarget
from heliograph.copy.log_gaps import GapWatch
from heliograph.copy.partition import Partition
from heliograph.copy.producer_recovery import ProducerRecovery
from heliograph.copy.producers import Producers
from heliograph.copy.quarantine import Quarantine
from heliograph.copy.source_events import RawForward, SourceEvents
from heliograph.copy.subscription import SubscriptionState
from heliograph.copy.target_events import TargetEvents
from heliograph.copy.target_loss import TargetLoss
from heliograph.copy.throttle import Throttle
from heliograph.copy.transactional import Transactional
from heliograph.errors import BrokerError, ClientError, LeaseLapsed
from heliograph.measured import TaskReport
from heliograph.mm2.state_records import state_topic
from heliograph.model import Lease, Receipt, TopicPartition
from heliograph.wire.fetch import FetchedPartition

if TYPE_CHECKING:
    from heliograph.copy.lane.chain import Chain
    from heliograph.copy.lane.lane import Lane

log = logging.getLogger(__name__)

_TICK_SECONDS = 0.1


class CopyLoop:
    """`probe_client` is a client of the target that nothing else uses; `offsets` is a client of the cluster
    that holds the offsets topic, if that is not the target. A `transaction` makes delivery exactly once; a
    `chain` transforms the records (`lane/`)."""

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
        chain: Chain | None = None,
    ) -> None:
        self.flow = flow
        self._patience_seconds = patience_seconds
        self._source = source
        self._target = target
        self._stopped = stopped
        self._lapsed = lapsed
        lanes = [] if chain is None else self._new_lanes(leases, transaction)
        copies: Sequence[Partition] = lanes or [
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
        self._reach = ClusterRetry(flow.name, copies)
        # In a lane, other partitions may have batches in a queue: nothing of it is released.
        releasable = () if lanes else copies
        self._buffers = BufferPool(
            flow.limits.buffer_memory, releasable, self._fetcher, self._producer
        )
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
        self._began = clients(source, target)
        self._receipts = Receipts(copies, self._syncs, lambda: self._measured.report())
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
        self._lane = None if chain is None else self._new_lane(chain, lanes)
        self._recovery = ProducerRecovery(
            flow, probe_client, self._producer, self._snapshots, on_loss=self._on_loss
        )
        self._gaps = GapWatch(
            flow,
            self._copies,
            self._subscription,
            source=source,
            target=target,
            fall_back=self._recovery.fall_back_to_at_least_once,
        )
        self._offsets = OffsetStore(
            flow, self._producers.offsets, with_marks=self._lane is not None
        )
        self._measured = self._new_measured()
        self._delivery = self._new_delivery(probe_client, transaction)
        self._source_events = self._new_source_events()
        self._target_events = self._new_target_events(probe_client)
        self._next_tick = 0.0
        self._last_progress = time.monotonic()
        self._done = False

    def _new_lanes(
        self, leases: Iterable[Lease], transaction: Transaction | None
    ) -> list[LanePartition]:
        return [
            LanePartition(lease, self.flow.isolation_level, transaction is not None)
            for lease in leases
        ]

    def _new_lane(self, chain: Chain, copies: Sequence[LanePartition]) -> Lane:
        from heliograph.copy.lane.lane import Lane  # most flows have none

        outlet = Outlet(self.flow.name, self._target, self._producer, self._reach)
        return Lane(
            flow=self.flow,
            chain=chain,
            copies=copies,
            outlet=outlet,
            subscription=self._subscription,
            target=LaneTarget(self.flow.name, self._target, outlet, self._subscription),
        )

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
                Producer,
                on_ack=self._on_ack,
                on_refused=self._on_refused,
                on_retry=self._on_retry,
                on_doubt=self._on_doubt,
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
            offsets=self._offsets,
            state=self._state,
            syncs=self._syncs,
            snapshots=self._snapshots,
            recovery=self._recovery,
            subscription=self._subscription,
            quarantine=self._quarantine,
            reach=self._reach,
            mirrored=self._mirrored,
            lost=self._on_loss,
            require_leases=self._require_leases,
        )
        if self._lane is not None:
            return self._lane.delivery(parts, transaction)
        return AtLeastOnce(parts) if transaction is None else Transactional(parts, transaction)

    def _new_measured(self) -> Measured:
        return Measured(
            flow=self.flow.name,
            copies=self._copies.values(),
            fetcher=self._fetcher,
            producer=self._producer,
            buffers=self._buffers,
            throttle=self._throttle,
            offsets=self._offsets,
            began=self._began,
        )

    def _new_source_events(self) -> SourceEvents:
        raw = RawForward(
            flow=self.flow,
            producer=self._producer,
            recovery=self._recovery,
            subscription=self._subscription,
            quarantine=self._quarantine,
        )
        return SourceEvents(
            flow=self.flow,
            copies=self._copies,
            forward=raw if self._lane is None else self._lane.forward(),
            subscription=self._subscription,
            gaps=self._gaps,
            progressed=self._note_progress,
        )

    def _new_target_events(self, probe_client: ClusterClient) -> TargetEvents | LaneTarget:
        if self._lane is not None:
            return self._lane.target
        return TargetEvents(
            flow=self.flow,
            copies=self._by_target,
            target=self._target,
            producer=self._producer,
            delivery=self._delivery,
            recovery=self._recovery,
            subscription=self._subscription,
            quarantine=self._quarantine,
            gaps=self._gaps,
            loss=TargetLoss(self.flow, probe_client, self._syncs, self._state),
        )

    def run(self) -> None:
        """Copy until every lease is done or the epoch is stopped; then finish what is in flight.

        Raises LeaseLapsed as soon as other tasks may copy the same partitions: then nothing more is sent or
        stored. Batches sent just before are written at most once, by sequence numbers or by fencing; but an
        offset or a snapshot stored late would hide the successor's, and no broker would reject it.
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
        """Whether the end of the epoch interrupted a request."""
        return self._reach.interrupted

    def set_rate_share(self, share: float) -> None:
        """For another thread: of throttle.bytes.per.second, from now on."""
        self._throttle.set_rate(self.flow.limits.bytes_per_second * share)

    def ask_for_receipts(self) -> None:
        """For another thread, as is `receipts`, which has the new ones a moment later."""
        self._receipts.ask()

    def receipts(self) -> list[Receipt]:
        """The newest receipts, with the offset ranges and gaps since the last call."""
        return self._receipts.take()

    def report(self) -> TaskReport | None:
        """As of the newest receipts; None before the first."""
        return self._receipts.report

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
        self._fetcher.round.smooth = self._throttle.round_bytes
        if not rest and self._may_fetch():
            self._reach(self._source, self._fetcher.send)
        connections = [*self._fetcher.connections(), *self._producers.connections()]
        idle = self._delivery.wait_seconds(time.monotonic(), _TICK_SECONDS)
        wait(connections, min(rest or _TICK_SECONDS, idle))
        if self._lapsed():
            return  # if this process was frozen, it was most likely in `wait`
        self._producers.pump()
        self._fetcher.pump()
        if time.monotonic() >= self._next_tick:
            self._tick(time.monotonic())

    def _may_fetch(self) -> bool:
        ending = self._lane is not None and self._lane.outlet.closed  # its transaction
        return self._buffers.has_room() and not ending

    def _tick(self, now: float) -> None:
        """Work that visits every partition. Not done for each response: there may be thousands of both."""
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
                f"flow {self.flow.name}: the driver did not confirm the leases in time; the task stops"
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

    # ── callbacks of the fetcher and the producers ───────────────────────────────────────────

    def _on_records(self, answer: FetchedPartition) -> None:
        self._source_events.fetched(answer)

    def _on_nothing(self, ends: Mapping[TopicPartition, int]) -> None:
        self._source_events.nothing_left(ends)

    def _on_leaders(self, epochs: Mapping[TopicPartition, int]) -> None:
        self._gaps.on_leaders(epochs)

    def _on_metadata(self) -> None:
        self._gaps.compare_topics()

    def _on_ack(self, partition: TopicPartition, batch: ProducerBatch, base_offset: int) -> None:
        self._delivery.acknowledged(partition, batch, base_offset)

    def _mirrored(self, partition: TopicPartition, batch: ProducerBatch, base_offset: int) -> None:
        self._note_progress()
        self._target_events.mirrored(partition, batch, base_offset)

    def _on_retry(self, partition: TopicPartition, error: ClientError) -> None:
        self._target_events.retried(partition, error)

    def _on_doubt(self, partition: TopicPartition, error: ClientError) -> None:
        self._target_events.doubted(partition, error)

    def _on_refused(self, partition: TopicPartition, error: BrokerError) -> None:
        self._delivery.refused(partition, error)

    def _on_loss(self, copy: Partition, left: OwnEnd) -> None:
        self._target_events.lost(copy, left)

    def _note_progress(self) -> None:
        self._last_progress = time.monotonic()
