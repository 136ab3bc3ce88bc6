"""The copy loop: one flow's share of one task, from source brokers to target brokers.

    source ──fetch──► select ──(repack)──► producer ──produce──► target
                        │ position                    │ acknowledged
                        ▼                             ▼
                  next fetch       offsets, trails, syncs, stretches, receipts

One thread, no Spark: a task runs a link per flow, and the benchmark's raw copy is this loop alone. A
partition in trouble never stops the others: it waits with its cause in `state` and `error`.
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
from heliograph.client.produce.producer import IDENTITY_ERRORS, Producer
from heliograph.client.produce.transactions import Transaction
from heliograph.config.mirror_config import FlowConfig
from heliograph.copy.background_writer import BackgroundWriter
from heliograph.copy.buffer_pool import BufferPool, fetch_limits
from heliograph.copy.cluster_retry import ClusterRetry
from heliograph.copy.foreign_writers import note_foreign_records
from heliograph.copy.log_gaps import GapWatch
from heliograph.copy.offset_store import OffsetStore
from heliograph.copy.offset_syncs import Syncs
from heliograph.copy.partition import Partition
from heliograph.copy.prepare_batches import forward
from heliograph.copy.producer_recovery import ProducerRecovery
from heliograph.copy.producer_snapshots import ProducerSnapshots
from heliograph.copy.producers import Producers
from heliograph.copy.quarantine import Quarantine
from heliograph.copy.subscription import SubscriptionState
from heliograph.copy.target_loss import TargetLoss
from heliograph.copy.throttle import Throttle
from heliograph.errors import BrokerError, ClientError, Interrupted, LeaseLapsed
from heliograph.mm2.state_records import state_topic
from heliograph.model import Lease, PartitionState, Receipt, Timestamps, TopicPartition
from heliograph.records.batch import SEQUENCES
from heliograph.wire.fetch import FetchedPartition
from heliograph.wire.messages import broker_error

log = logging.getLogger(__name__)

_TICK_SECONDS = 0.1
#: How long the end of an epoch waits for acknowledgements and for the offsets to be stored.
_DRAIN_SECONDS = 3.0
#: How long it waits for what stands beside the offsets: syncs and stretches.
_SIDE_SECONDS = 1.5

_OFFSET_OUT_OF_RANGE = 1
_MESSAGE_TOO_LARGE = 10


class CopyLoop:
    def __init__(
        self,
        flow: FlowConfig,
        leases: Iterable[Lease],
        *,
        source: ClusterClient,
        target: ClusterClient,
        looker: ClusterClient,
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
        self._copies = {
            TopicPartition(lease.topic, lease.partition): Partition(
                lease,
                lease.start,
                lease.start,
                lease.start if lease.stored else None,
                flow.isolation_level,
            )
            for lease in leases
        }
        self._by_target = {copy.target: copy for copy in self._copies.values()}
        self._quarantine = Quarantine(flow)
        share = sum(copy.lease.share for copy in self._copies.values())
        rate = flow.limits.bytes_per_second * share
        self._throttle = Throttle(rate, time.monotonic(), f"flow {flow.name}")
        self._fetcher = Fetcher(
            source,
            isolation_level=flow.isolation_level,
            limits=fetch_limits(flow.limits),
            on_records=self._on_records,
            on_nothing=self._on_nothing if self._has_ends() else None,
            on_leaders=lambda epochs: self._gaps.on_leaders(epochs),
            on_metadata=lambda: self._gaps.compare_topics(),
            round_bytes=self._throttle.round_bytes,
        )
        self._gaps = GapWatch(
            flow, self._copies, self._fetcher, source=source, target=target, go_on=self._go_on
        )
        self._producers = Producers(
            partial(
                Producer, on_ack=self._on_ack, on_refused=self._on_refused, on_retry=self._on_retry
            ),
            target,
            {copy.target.topic for copy in self._copies.values()} | self._quarantine.topics,
            offsets or target,
            flow.offsets_topic.name,
            transaction=transaction,
            request_bytes=flow.limits.request_bytes,
        )
        self._producer = self._producers.records
        self._room = BufferPool(
            flow.limits.buffer_memory, self._fetcher, self._producer, self._quarantine
        )
        self._offsets = OffsetStore(flow, self._producers.offsets)
        self._state = BackgroundWriter(
            target.config,
            state_topic(flow.source),
            client_id=f"{flow.name}|{flow.connector_name}|state-producer",
            what=f"flow {flow.name}: trails and stretches",
            lapsed=lapsed,
        )
        self._syncs = Syncs(
            flow,
            self._copies.values(),
            source=source.config,
            target=target.config,
            state=self._state,
            lapsed=lapsed,
        )
        self._trails = ProducerSnapshots(self._state, self._syncs.note_begun)
        self._looker = looker
        self._footing = ProducerRecovery(
            flow, looker, self._producer, self._trails, on_loss=self._on_loss
        )
        self._loss = TargetLoss(flow, looker, self._syncs, self._state)
        self._reach = ClusterRetry(flow.name, self._copies.values())
        self._fates = SubscriptionState(
            flow.name,
            self._copies.values(),
            target=target,
            fetcher=self._fetcher,
            room=self._room,
            quarantine=self._quarantine,
            syncs=self._syncs,
            trails=self._trails,
        )
        # What is stored of a topic that was created again must not outlive its first lease.
        outdated = any(copy.stored is None for copy in self._copies.values())
        self._next_flush = time.monotonic() + (
            0 if outdated else flow.offset_flush_interval_ms / 1000
        )
        self._next_tick = 0.0
        self._last_progress = time.monotonic()
        self._done = False

    def run(self) -> None:
        """Copy until every lease is done or the epoch is stopped; then settle what is under way.

        Raises LeaseLapsed as soon as others may copy the same partitions: then nothing more is sent or
        stored. What was sent just before, brokers take once, by sequence numbers or by fencing; an offset
        or a trail that is stored late would hide those of a successor, and no broker knows better.
        """
        self._state.start()
        self._syncs.start()
        try:
            self._producers.refresh(self._reach)
            self._find_footing(time.monotonic())
            while not (self._stopped() or self._lapsed() or self._done):
                self._step()
            self._finish()
        finally:
            self._syncs.close(_SIDE_SECONDS)
            self._state.close(_SIDE_SECONDS)
            for copy in self._copies.values():
                copy.ended = True

    @property
    def interrupted(self) -> bool:
        """Whether the end of the epoch came upon a question that a cluster had not answered."""
        return self._reach.interrupted

    def receipts(self) -> list[Receipt]:
        """The state of every lease as of now, and where records have landed since the last call; safe to
        call from another thread."""
        return self._syncs.receipts()

    # ── the loop ─────────────────────────────────────────────────────────────────────────────

    def _step(self) -> None:
        self._send()
        self._gaps.compare_topics()
        if self._gaps.due:
            self._reach(self._source, self._gaps.judge)
        rest = self._throttle.wait(self._fetcher.fetched_bytes, time.monotonic())
        if not rest and self._room.find():
            self._reach(self._source, self._fetcher.send)
        connections = [*self._fetcher.connections(), *self._producers.connections()]
        wait(connections, min(rest or _TICK_SECONDS, self._wait_seconds()))
        if self._lapsed():
            return  # a process that was frozen was so here, most likely
        self._producers.pump()
        self._fetcher.pump()
        if time.monotonic() >= self._next_tick:
            self._tick(time.monotonic())

    def _send(self) -> None:
        self._producers.send(self._reach)

    def _wait_seconds(self) -> float:
        """How long nothing has to be done if no answer comes."""
        return _TICK_SECONDS

    def _tick(self, now: float) -> None:
        """What looks at every partition: not with each answer, there may be thousands of both."""
        self._next_tick = now + _TICK_SECONDS
        self._done = self._finished()
        self._find_footing(now)
        throttled = self._throttle.held_back(now)
        for copy in self._copies.values():
            copy.throttled = throttled
            self._fates.retry(copy, now)
        self._syncs.tick(now)
        self._trails.tick(now, self._copies.values())
        self._flush(now)

    def _flush(self, now: float) -> None:
        """Offsets are stored every so often, once what explains them is."""
        if now >= self._next_flush:
            self._next_flush = now + self.flow.offset_flush_interval_ms / 1000
            self._mark()
        if self._offsets.marked and self._state.settled:
            self._store()

    def _mark(self) -> None:
        """What is acknowledged now is to be stored, as soon as all that explains it is."""
        self._syncs.flush()
        self._offsets.mark(self._copies.values())
        self._trails.write(self._copies.values())

    def _has_ends(self) -> bool:
        return any(copy.lease.end is not None for copy in self._copies.values())

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
        # Not what is queued for the offsets topic: `stored` counts on it already.
        self._producer.abandon(self._by_target)
        self._drain()
        self._require_leases()
        self._mark()
        self._state.wait_idle(_SIDE_SECONDS)
        self._require_leases()
        if self._state.settled:
            self._store()
        self._drain()
        self._trails.write_now(self._copies.values(), _SIDE_SECONDS)
        if not self._producers.idle:
            log.error(
                "flow %s: the target did not acknowledge within %.0f s; the last offsets are not stored, "
                "records after them may be copied again",
                self.flow.name,
                _DRAIN_SECONDS,
            )
            for copy in self._copies.values():
                copy.stored = None
            for connection in self._producers.connections():
                connection.forget()

    def _store(self) -> None:
        self._reach(self._producers.offsets.cluster, self._offsets.store)

    def _drain(self) -> None:
        self._producers.drain(self._send, time.monotonic() + _DRAIN_SECONDS)

    # ── source side ──────────────────────────────────────────────────────────────────────────

    def _on_records(self, answer: FetchedPartition) -> None:
        copy = self._copies[TopicPartition(answer.topic, answer.partition)]
        if answer.error:
            self._on_fetch_error(copy, answer.error)
            return
        # The last stable offset is the end of what a read_committed reader can see; the broker gives
        # both, and under read_uncommitted the high watermark counts.
        committed = self.flow.isolation_level.wire == 1
        copy.source_end = answer.last_stable_offset if committed else answer.high_watermark
        if copy.state is PartitionState.RETRYING and not copy.outstanding:
            copy.state, copy.error = PartitionState.RUNNING, None
        if answer.records:
            self._last_progress = time.monotonic()
            self._forward(copy, answer)

    def _forward(self, copy: Partition, answer: FetchedPartition) -> None:
        found = forward(
            copy,
            answer,
            append_time=self.flow.timestamps is Timestamps.READER,
            subject=f"{self.flow.name}: {copy.source}",
            quarantine=self._quarantine.enabled,
        )
        if found.doubtful:
            self._footing.doubt(copy, "the records read there are not those that were copied")
            self._fates.look_again(copy)
            return
        for batch in found.there:
            at = copy.skipped(batch.next_offset, batch.record_count)
            self._syncs.landed(copy, batch, at)
        if found.renumbered:
            copy.barrier = found.position
        for batch in found.batches:
            copy.outstanding += 1
            self._producer.append(copy.target, batch)
        if found.failure is not None:
            self._fates.fail(copy, str(found.failure))
            return
        if found.oversize:
            self._quarantine.hold(copy, found.oversize, found.position)
            self._quarantine.proceed(copy, self._producer)
        else:
            copy.position = found.position
            if not copy.outstanding:
                copy.acked = copy.position
        self._proceed(copy)

    def _proceed(self, copy: Partition) -> None:
        """Fetch on; under new numbers, if the copy has come to where they begin."""
        if copy.barrier is not None and copy.position >= copy.barrier and not copy.outstanding:
            self._renumber(copy, copy.position)
        self._fates.resume(copy)

    def _renumber(self, copy: Partition, position: int) -> None:
        """Go on at `position`, with nothing under way, under numbers that no record had before."""
        copy.renumber(position)
        self._fates.look_again(copy)

    def _on_nothing(self, ends: Mapping[TopicPartition, int]) -> None:
        """No record left below the end of a bounded lease: compaction has removed the rest."""
        for key, readable in ends.items():
            copy = self._copies[key]
            end = copy.lease.end
            if end is not None and copy.position < end <= readable:
                copy.position = end
                if not copy.outstanding:
                    copy.acked = end
                self._fates.resume(copy)

    def _on_fetch_error(self, copy: Partition, code: int) -> None:
        error = broker_error(code, f"{self.flow.name}: {copy.source} at offset {copy.position}")
        if code == _OFFSET_OUT_OF_RANGE:
            self._gaps.suspect(copy, str(error))
        elif error.retriable:
            self._fates.hesitate(copy, str(error))
        else:
            self._fates.fail(copy, str(error))

    def _go_on(self, copy: Partition, position: int | None) -> None:
        """Its log is what it was; or is not, and it goes on at `position`, with nothing under way."""
        if position is not None:
            if copy.skip and position > copy.position:
                self._footing.doubt(copy, "the source has deleted records that followed", position)
            self._renumber(copy, position)
        self._proceed(copy)

    # ── target side ──────────────────────────────────────────────────────────────────────────

    def _on_ack(self, partition: TopicPartition, batch: ProducerBatch, base_offset: int) -> None:
        copy = self._by_target.get(partition)
        if copy is None:
            self._on_own_ack(partition, batch)
            return
        self._last_progress = time.monotonic()
        self._room.moves(copy)
        copy.acknowledge(batch.next_offset, batch.record_count, batch.size)
        assert batch.sequence is not None
        copy.sequence = (batch.sequence + batch.record_count) % SEQUENCES
        if base_offset != copy.downstream:
            self._on_elsewhere(copy, base_offset, batch.record_count)
        else:
            copy.downstream += batch.record_count
        copy.markers = 0
        if copy.lost_from is not None:
            pass  # to be copied again: the map must still tell where what was lost stood
        elif batch.runs is None and base_offset >= 0 and copy.landing is not None:
            copy.landing.land(batch.first_offset, base_offset, batch.record_count)
        else:
            self._syncs.landed(copy, batch, base_offset)
        self._quarantine.proceed(copy, self._producer)
        self._proceed(copy)

    def _on_own_ack(self, partition: TopicPartition, batch: ProducerBatch) -> None:
        if partition.topic not in self._quarantine.topics:
            self._offsets.acknowledged(batch)
            return
        self._last_progress = time.monotonic()
        copy = self._quarantine.acknowledged()
        # A successor counts mirrored records from a trail on: none of them may be one that was left out.
        self._renumber(copy, copy.position)
        self._proceed(copy)

    def _on_elsewhere(self, copy: Partition, base_offset: int, count: int) -> None:
        """A batch has not landed right behind the one before."""
        if copy.shows_loss(base_offset):
            copy.lose_from(base_offset)
            copy.copied_since = True
            self._fates.look_again(copy)
        if gap := copy.landed(base_offset, count):
            self._on_gap(copy, gap)

    def _on_gap(self, copy: Partition, gap: range) -> None:
        note_foreign_records(self.flow.name, copy, len(gap), gap.stop)

    def _on_retry(self, partition: TopicPartition, error: ClientError) -> None:
        if isinstance(error, Interrupted):
            return  # the epoch ends, and what is under way is still seen through: no partition's trouble
        copy = self._by_target.get(partition)
        if copy is not None:
            self._fates.stall(copy, str(error))
        elif partition.topic in self._quarantine.topics:
            for copy in self._quarantine.waiting():
                self._fates.hesitate(copy, f"{self.flow.name}: {copy.source}: quarantine: {error}")
        else:
            log.warning("flow %s: storing offsets: %s; trying again", self.flow.name, error)

    def _on_refused(self, partition: TopicPartition, error: BrokerError) -> None:
        copy = self._by_target.get(partition)
        if copy is None:
            self._on_own_refused(partition, error)
            return
        copy.unsettle()
        self._room.moves(copy)
        self._quarantine.forget(copy)
        if error.code in IDENTITY_ERRORS:
            self._footing.lose(copy, error)
        elif error.code != _MESSAGE_TOO_LARGE or not self._fates.learn_max_bytes(copy):
            self._fates.fail(copy, f"{self.flow.name}: {copy.source}: {error}")
        self._fates.look_again(copy)

    def _on_own_refused(self, partition: TopicPartition, error: BrokerError) -> None:
        if partition.topic in self._quarantine.topics:
            for copy in self._quarantine.refused():
                self._fates.fail(copy, f"{self.flow.name}: {copy.source}: quarantine: {error}")
        else:
            log.error("flow %s: offsets cannot be stored: %s", self.flow.name, error)

    # ── footing ──────────────────────────────────────────────────────────────────────────────

    def _find_footing(self, now: float) -> None:
        if due := self._fates.due(now):
            self._reach(self._target, lambda: self._found(self._footing.find(due)))

    def _on_loss(self, copy: Partition, end: int) -> None:
        """The target has lost what it had acknowledged from its offset `end` on."""
        self._target.refresh(self._producer.topics)
        self._gaps.compare_topics()
        if copy.recheck:
            return  # the topic was created again, which is the driver's matter
        verdict, exact = self._loss.judge(copy, end)
        self._gaps.lost(copy, verdict)
        if copy.copied_since:
            self._footing.doubt(copy, "records have been copied since the target lost others")
        elif not exact and not copy.halted:
            self._footing.doubt(copy, "the offset map ends before the records that the target lost")
        copy.copied_since = False

    def _found(self, copies: Sequence[Partition]) -> None:
        self._fates.found(copies)
        self._gaps.begin(copies)
