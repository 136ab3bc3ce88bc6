"""Observes one flow for the driver: its topics, the positions of its partitions, and gaps in its logs."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection, Iterable, Mapping

from heliograph.client.fetch.log_history import look_at_logs
from heliograph.client.net.backoff import Backoff
from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import FlowConfig
from heliograph.counted import counted
from heliograph.errors import ClientError
from heliograph.mm2.state_records import state_topic
from heliograph.model import (
    Copied,
    LeaderEpochMark,
    LogBounds,
    OffsetReset,
    Receipt,
    TopicPartition,
)
from heliograph.plan.epoch import FlowView
from heliograph.plan.internal_topics import offsets_of, state_of
from heliograph.plan.topic_outcome import TopicIds
from heliograph.runtime.connectors.schedule import log_duration
from heliograph.runtime.epoch.fencing import Fencing
from heliograph.runtime.events import EventLog
from heliograph.runtime.flow.cycle_guard import CycleGuard
from heliograph.runtime.flow.event_history import EventHistory
from heliograph.runtime.flow.flow_positions import FlowPositions
from heliograph.runtime.flow.log_gaps import FlowGaps
from heliograph.runtime.flow.resume_points import (
    read_committed_logs,
    read_resume_points,
    stored_marks,
)
from heliograph.sync.internal_topics import ensure_internal_topic
from heliograph.sync.offsets import end_positions, reset_positions, stored_positions
from heliograph.sync.statuses import read_statuses
from heliograph.sync.topics import sync_topics

log = logging.getLogger(__name__)


#: How often the clusters are checked for mirrors of other processes that would form a cycle with this one.
_CYCLE_SECONDS = 15.0
#: The least time between two refreshes when a task reports that a topic was replaced.
_RECHECK_SECONDS = 2.0
_RELEASE_SECONDS = 2.0


class ObservedFlow:
    """Observed and refreshed by one thread; planned and settled by the driver's."""

    def __init__(
        self,
        config: FlowConfig,
        source: ClusterClient,
        target: ClusterClient,
        guard: CycleGuard,
        fencing: Fencing | None = None,
        *,
        offsets: ClusterClient | None = None,
        events: EventLog | None = None,
    ) -> None:
        """`offsets` is a client of the cluster with the offsets topic, if that is not the target."""
        self.config = config
        self.gaps = FlowGaps(config)
        self.history = EventHistory(config.name, events or EventLog())
        self.fencing = fencing  # None unless it mirrors exactly once
        self.fatal_error: ClientError | None = None
        self._guard = guard
        self._source = source
        self._target = target
        self._offsets = offsets or target
        self._filter = config.topic_filter()
        self._positions = FlowPositions()
        self._busy = threading.Lock()  # for the clients: one request at a time
        self._lock = threading.Lock()  # for the four below
        self._observed = False
        self._forgotten = 0  # how often
        self._problems: dict[str, str] = {}
        self._change: str | None = None
        self._refresh_asked = threading.Event()
        # Used by the observing thread alone.
        self._ids = TopicIds()
        self._refreshed = 0.0
        self._next_refresh = 0.0
        self._next_cycle_check = 0.0
        self._next_release = 0.0
        self._release_backoff = Backoff(first=_RELEASE_SECONDS, most=60.0)

    # ── for the driver's and other threads ───────────────────────────────────────────────────

    @property
    def observed(self) -> bool:
        with self._lock:
            return self._observed

    def forget(self) -> None:
        """The tasks ended without a last receipt: observe again before anything is copied. An observation in
        progress does not count, since it may have begun before the tasks ended."""
        with self._lock:
            self._forgotten += 1
            self._observed = False
        self._positions.forget()
        self.gaps.forget()

    def refresh_soon(self) -> None:
        """Read the topics again without waiting for the interval, once the flow is observed."""
        self._refresh_asked.set()

    def take_change(self) -> str | None:
        """A sentence on what has changed since the last call."""
        with self._lock:
            change, self._change = self._change, None
        return change

    @property
    def problems(self) -> dict[str, str]:
        failed = {str(p): receipt.error or "" for p, receipt in self.gaps.failed().items()}
        with self._lock:
            return {**self._problems, **failed}

    def refused(self) -> tuple[str, ...]:
        """Topics that are not mirrored because they would form a cycle."""
        return tuple(sorted(self._guard.refused(self.config)))

    @property
    def reachable(self) -> dict[str, bool]:
        """By alias: whether a broker answered the last request of this flow's driver."""
        return {each.config.alias: each.meter.reachable for each in (self._source, self._target)}

    @property
    def target_id(self) -> str | None:
        """The target's cluster id, once it is known."""
        return self._target.metadata.cluster_id

    def copied(self, receipts: Iterable[Receipt]) -> list[Copied]:
        """New ranges of the offset map, from receipts of the current generation."""
        source, target = self._source.seen, self._target.seen
        found = []
        for receipt in receipts:
            partition = TopicPartition(receipt.topic, receipt.partition)
            if receipt.flow != self.config.name or not receipt.ranges:
                continue
            origin = self.gaps.copied_between(partition, receipt.generation)
            if origin is not None:
                found.append(
                    Copied(
                        partition=partition,
                        origin=origin,
                        ranges=receipt.ranges,
                        source=source,
                        target=target,
                    )
                )
        return found

    def partitions(self) -> frozenset[TopicPartition] | None:
        """Partitions that match the filters, including failed ones; None before the first observation."""
        return self._positions.partitions if self.observed else None

    def topics(self) -> dict[str, str]:
        """Mirrored source topics and their remote topics."""
        topics = {partition.topic for partition in self._positions.partitions}
        return {topic: self.config.target_topic(topic) for topic in sorted(topics)}

    def view(self) -> FlowView:
        refused, lineages = self._guard.refused(self.config), self.gaps.lineages()
        observed = self.observed
        return self._positions.view(
            self.config, lineages, lambda partition: observed and partition.topic not in refused
        )

    def settle(self, receipts: Iterable[Receipt]) -> None:
        """The last receipts of an epoch are where the next one starts."""
        self._positions.settle(receipts, self.gaps.generations)

    def set_loads(self, loads: Mapping[TopicPartition, float]) -> None:
        """Bytes per partition, as measured by the running tasks."""
        self._positions.set_loads(loads)

    def close(self) -> None:
        for client in (self._source, self._target, self._offsets):
            client.close()
        if self.fencing is not None:
            self.fencing.close()

    # ── the observing thread ─────────────────────────────────────────────────────────────────

    def observe(self, *, bounded: bool) -> None:
        """Read topics and stored offsets of both clusters again, and where a bounded run ends."""
        with self._busy:
            with self._lock:
                began = self._forgotten
            self._require_offsets_topic()
            self._ensure_state_topic()
            self._sync_topics()
            self._load_gaps()
            self._move(self.gaps.release(self._resume(), self._ids))
            partitions = self._positions.partitions
            ends = end_positions(self._source, partitions, self.config.isolation_level)
            self._look_for_gaps(ends)
            self._reset_unknown()
            self._schedule_refresh()
            self._positions.start_run(ends, bounded=bounded)
            with self._lock:
                self._observed = began == self._forgotten

    def keep(self) -> Mapping[str, str]:
        """A job for every second: observe until that succeeds, then refresh when it is due."""
        if self.observed and self._refresh_asked.is_set():
            self._refresh_asked.clear()
            self._next_refresh = 0.0
        if self.gaps.take_recheck():
            self._next_refresh = min(self._next_refresh, self._refreshed + _RECHECK_SECONDS)
        if not self.observed:
            self._observe_first()
            self._note(
                f"flow {self.config.name}: {counted(len(self._positions.partitions), 'partition')}"
            )
        elif time.monotonic() >= self._next_refresh:
            self._refresh()
        elif time.monotonic() >= self._next_release and self.gaps.failed():
            self._look_for_release()
        elif time.monotonic() >= self._next_cycle_check:
            self._check_for_cycles()
        return self.problems

    def _observe_first(self) -> None:
        try:
            self.observe(bounded=False)
            self.fatal_error = None
        except ClientError as e:
            self.fatal_error = None if e.retriable else e
            raise

    def _refresh(self) -> None:
        began = time.monotonic()
        with self._busy:
            self._schedule_refresh()
            before = self._positions.partitions
            stuck = self.gaps.take_stuck()
            self._sync_topics()
            moved = self._look_for_gaps()
            self._reset_unknown()
        log_duration(f"flow {self.config.name}: topics", began)
        now = self._positions.partitions
        added, removed = len(now - before), len(before - now)
        if added or removed:
            self._note(
                f"flow {self.config.name}: {counted(added, 'partition')} added, {removed:,} removed"
            )
        elif moved or stuck:
            self._note(f"flow {self.config.name}: topics were created again")

    def _check_for_cycles(self) -> None:
        """Between refreshes: a mirror of another process may start or stop at any time."""
        with self._busy:
            self._next_cycle_check = time.monotonic() + _CYCLE_SECONDS
            before = self._guard.refused(self.config)
            self._guard.look(self.config, self._source, self._target)
        if self._guard.refused(self.config).keys() != before.keys():
            self._next_refresh = 0.0

    def _note(self, change: str) -> None:
        with self._lock:
            self._change = change

    def _require_offsets_topic(self) -> None:
        """Without it there is no position to resume from: the flow cannot run."""
        problem = ensure_internal_topic(self._offsets, offsets_of(self.config))
        if problem is not None:
            raise ClientError(problem)

    def _ensure_state_topic(self) -> None:
        """Without it a crash leads to duplicates; the job that writes the state shows the problem."""
        problem = ensure_internal_topic(self._target, state_of(self.config))
        if problem is not None:
            log.warning("flow %s: %s", self.config.name, problem)

    def _resume(self) -> Mapping[TopicPartition, int]:
        """Set positions from the last mirror's snapshots or, where another program has stored an offset
        since, from the stored offset. Returns the stored offsets."""
        if self.fencing is not None:
            self.fencing.claim()
        points = read_resume_points(self.config, self._offsets, self._target)
        by_stored = sum(each.by_stored for each in points.found.values())
        if by_stored and self.fencing is None:
            log.info(
                "flow %s: resuming, at least once: %s, at offsets stored by another mirror or a "
                "user, or by auto.offset.reset where the stored offset was deleted",
                self.config.name,
                counted(by_stored, "partition"),
            )
        stored = points.positions
        self.gaps.resume(self._positions.resume(points.found, stored))
        if self.fencing is not None or self.config.lane is not None:
            self.gaps.resume_marks(stored_marks(points.stored))
        if self.fencing is not None:
            logs = read_committed_logs(self.config, self._target, points.stored)
            self.gaps.resume_transactions(logs)
        return stored

    def _sync_topics(self) -> None:
        self._guard.look(self.config, self._source, self._target)
        topics = sync_topics(
            self.config,
            self._filter,
            self._source,
            self._target,
            self._guard.refused(self.config),
        )
        self._positions.set_partitions(
            TopicPartition(topic, number)
            for topic, count in topics.partitions.items()
            for number in range(count)
        )
        self._ids = topics.ids
        with self._lock:
            self._problems = dict(topics.problems)

    def _reset_unknown(self) -> None:
        unknown = self._positions.unknown
        self._positions.add(reset_positions(self.config, self._source, unknown))
        if self.config.auto_offset_reset is OffsetReset.NONE:
            found = {
                str(p): f"{p}: no stored offset and auto.offset.reset=none; nothing is copied"
                for p in unknown
            }
            with self._lock:
                self._problems |= found

    # ── gaps ─────────────────────────────────────────────────────────────────────────────────

    def _load_gaps(self) -> None:
        if not self.gaps.loaded:
            statuses = read_statuses(self._target, state_topic(self.config.source))
            name = self.config.name
            self.gaps.load(statuses.partitions.get(name, {}), statuses.gaps.get(name, {}))
            self.history.load(statuses.events.get(name, ()))

    def _look_for_gaps(self, ends: Mapping[TopicPartition, int] | None = None) -> bool:
        """Whether any lease is out of date."""
        refused = self._guard.refused(self.config)
        positions = self._positions.positions
        before = self.gaps.identities()
        moved = self.gaps.look(
            self._ids,
            positions,
            self._positions.partitions,
            wanted=lambda topic: (
                topic not in refused and self.config.should_replicate(topic, self._filter)
            ),
            past_end=[p for p, end in (ends or {}).items() if positions.get(p, 0) > end],
            logs=self._logs,
        )
        same = self.gaps.same_topics(before)
        self._move(moved, same)
        now = self.gaps.identities()
        # A snapshot is not valid for another topic of the same name.
        self._positions.drop_snapshots(before.keys() & now.keys() - same)
        return before != now

    def _logs(
        self, marks: Mapping[TopicPartition, LeaderEpochMark | None]
    ) -> Mapping[TopicPartition, LogBounds]:
        found, missing = look_at_logs(self._source, marks)
        for partition, problem in missing.items():
            log.warning("flow %s: %s: %s", self.config.name, partition, problem)
        return found

    def _look_for_release(self) -> None:
        """Failed partitions resume when the user stores another offset; checked at growing intervals."""
        self._next_release = time.monotonic() + self._release_backoff.next()
        with self._busy:
            stored = stored_positions(self.config, self._offsets)
            released = self.gaps.release(stored, self._ids)
            self._move(released)
            self._reset_unknown()
        if released:
            self._release_backoff.reset()
            self._note(f"flow {self.config.name}: resuming {counted(len(released), 'partition')}")

    def _move(
        self,
        moved: Mapping[TopicPartition, int | None],
        same_topics: Collection[TopicPartition] = (),
    ) -> None:
        self._positions.move(moved, same_topics)
        self.gaps.moved(moved)

    def _schedule_refresh(self) -> None:
        interval = self.config.refresh_interval_seconds
        self._refreshed = time.monotonic()
        self._next_refresh = time.monotonic() + interval if interval else float("inf")
        self._next_cycle_check = time.monotonic() + _CYCLE_SECONDS
