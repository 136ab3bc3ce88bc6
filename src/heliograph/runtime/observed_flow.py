"""One flow as the driver knows it: its topics, where each partition stands, and its load."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Iterable, Mapping

from heliograph.client.fetch.log_history import look_at_logs
from heliograph.client.net.backoff import Backoff
from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import FlowConfig
from heliograph.errors import ClientError
from heliograph.mm2.state_records import state_topic
from heliograph.model import (
    Copied,
    Landmark,
    LeaderEpochMark,
    LogBounds,
    OffsetReset,
    ProducerSnapshot,
    Receipt,
    TopicIdPair,
    TopicPartition,
)
from heliograph.plan.epoch import FlowView
from heliograph.plan.internal_topics import offsets_of, state_of
from heliograph.plan.resume import Resumption, resumption
from heliograph.plan.topic_outcome import TopicIds
from heliograph.runtime.cycle_guard import LoopGuard
from heliograph.runtime.fencing import Fencing
from heliograph.runtime.log_gaps import FlowGaps
from heliograph.runtime.schedule import tell_duration
from heliograph.sync.internal_topics import ensure_internal_topic
from heliograph.sync.offsets import (
    StoredOffset,
    end_positions,
    reset_positions,
    stored_offsets,
    stored_positions,
)
from heliograph.sync.producer_snapshots import read_landmarks, read_snapshots
from heliograph.sync.statuses import read_statuses
from heliograph.sync.topics import sync_topics

log = logging.getLogger(__name__)


#: How often mirrors of other processes are looked for that would make a circle with this one.
_LOOP_SECONDS = 15.0
#: How soon after a refresh the next one may be because tasks have met other topics than they were given.
_RECHECK_SECONDS = 2.0
_RELEASE_SECONDS = 2.0
#: Of offsets and snapshots, which whoever ran before us may still be writing.
_READINGS = 5


class ObservedFlow:
    """Observed and refreshed by one thread; settled, planned and looked at by the driver's."""

    def __init__(
        self,
        config: FlowConfig,
        source: ClusterClient,
        target: ClusterClient,
        guard: LoopGuard,
        fencing: Fencing | None = None,
        *,
        offsets: ClusterClient | None = None,
    ) -> None:
        """`offsets` is the cluster of stored offsets, if that is not the target."""
        self.config = config
        self.gaps = FlowGaps(config)
        self.fencing = fencing  # where it mirrors exactly once
        self._guard = guard
        self.observed = False
        self.hopeless: ClientError | None = None  # why waiting will not help
        self._source = source
        self._target = target
        self._offsets = offsets or target
        self._filter = config.topic_filter()
        self._busy = threading.Lock()  # of the clients: one question at a time
        self._lock = threading.Lock()  # of everything below
        self._problems: dict[str, str] = {}
        self._change: str | None = None
        self._forgotten = 0  # how often
        self._positions: dict[TopicPartition, int] = {}
        self._stored: dict[TopicPartition, int] = {}  # what the offsets topic says
        self._snapshots: dict[TopicPartition, ProducerSnapshot] = {}
        self._unstored: set[TopicPartition] = set()
        self._partitions: set[TopicPartition] = set()
        self._ends: dict[TopicPartition, int] | None = None
        self._loads: dict[TopicPartition, float] = {}
        self._ids = TopicIds()
        self._refreshed = 0.0
        self._next_refresh = 0.0
        self._next_loop_look = 0.0
        self._next_release = 0.0
        self._release_backoff = Backoff(first=_RELEASE_SECONDS, most=60.0)

    def observe(self, *, bounded: bool) -> None:
        """Look at both clusters anew: topics, stored offsets, and where a bounded run ends."""
        with self._busy:
            looked = self._forgotten
            self._require_offsets_topic()
            self._ensure_state_topic()
            self._sync_topics()
            self._load_gaps()
            self._move(self.gaps.release(self._resume(), self._ids))
            ends = end_positions(self._source, self._partitions, self.config.isolation_level)
            self._look_for_gaps(ends)
            self._reset_unknown()
            self._schedule_refresh()
            with self._lock:
                self._ends = ends if bounded else None
                # Nothing is measured yet: what lies ahead of a partition is the best guess at its load.
                self._loads = {
                    p: float(max(ends[p] - at, 0)) for p, at in self._positions.items() if p in ends
                }
                self.observed = looked == self._forgotten

    def forget(self) -> None:
        """What the tasks did last is not known: observe anew before anything is copied. A look that is under
        way does not count: it may have begun before they ended."""
        with self._lock:
            self._forgotten += 1
            self.observed = False
            self._positions = {}
        self.gaps.forget()

    def keep(self) -> Mapping[str, str]:
        """A job for every second: observe until it worked, then refresh when it is time."""
        if self.gaps.take_recheck():
            self._next_refresh = min(self._next_refresh, self._refreshed + _RECHECK_SECONDS)
        if not self.observed:
            self._observe_first()
            self._note(f"flow {self.config.name}: {len(self._partitions)} partitions")
        elif time.monotonic() >= self._next_refresh:
            self._refresh()
        elif time.monotonic() >= self._next_release and self.gaps.failed():
            self._look_for_release()
        elif time.monotonic() >= self._next_loop_look:
            self._look_for_loops()
        return self.problems

    def take_change(self) -> str | None:
        """What has changed since this was last asked, in words."""
        with self._lock:
            change, self._change = self._change, None
        return change

    @property
    def problems(self) -> dict[str, str]:
        failed = {str(p): receipt.error or "" for p, receipt in self.gaps.failed().items()}
        with self._lock:
            return {**self._problems, **failed}

    def refused(self) -> tuple[str, ...]:
        """Topics that are left alone because they would go round in a circle."""
        return tuple(sorted(self._guard.refused(self.config)))

    @property
    def target_id(self) -> str | None:
        """The target's own id, once it is known."""
        return self._target.metadata.cluster_id

    def copied(self, receipts: Iterable[Receipt]) -> list[Copied]:
        """What its tasks tell of where records have landed, as far as their turns last."""
        source, target = self._source.seen, self._target.seen
        found = []
        for receipt in receipts:
            partition = TopicPartition(receipt.topic, receipt.partition)
            if receipt.flow != self.config.name or not receipt.ranges:
                continue
            origin = self.gaps.copied_between(partition, receipt.turn)
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
        """Those that are mirrored, or would be if nothing were wrong; None before the first look."""
        with self._lock:
            return frozenset(self._partitions) if self.observed else None

    def topics(self) -> dict[str, str]:
        """Source topics that are mirrored, and their remote topics."""
        with self._lock:
            topics = {partition.topic for partition in self._partitions}
        return {topic: self.config.target_topic(topic) for topic in sorted(topics)}

    def view(self) -> FlowView:
        refused, lineages = self._guard.refused(self.config), self.gaps.lineages()
        with self._lock:
            positions = {
                p: offset
                for p, offset in self._positions.items()
                if self.observed and p in self._partitions and p.topic not in refused
                if p in lineages
            }
            return FlowView(
                flow=self.config,
                positions=positions,
                ends=self._ends,
                loads=self._loads,
                unstored=frozenset(self._unstored),
                stored=dict(self._stored),
                snapshots=dict(self._snapshots),
                lineages=lineages,
            )

    def settle(self, receipts: Iterable[Receipt]) -> None:
        """The tasks' last word on an epoch is where the next one starts."""
        with self._lock:
            for receipt in receipts:
                partition = TopicPartition(receipt.topic, receipt.partition)
                turns = self.gaps.turns(partition)
                if receipt.turn not in turns:
                    continue  # its position is another meanwhile
                moved = self._positions.get(partition) != receipt.position
                self._positions[partition] = receipt.position
                if receipt.snapshot is not None and receipt.turn == turns[-1]:
                    self._snapshots[partition] = receipt.snapshot
                else:
                    self._snapshots.pop(partition, None)
                if receipt.stored:
                    self._unstored.discard(partition)
                    if moved or partition in self._stored:
                        self._stored[partition] = receipt.position
                else:
                    self._unstored.add(partition)

    def weigh(self, loads: Mapping[TopicPartition, float]) -> None:
        """Bytes as measured by the running tasks, from now on the measure of load."""
        with self._lock:
            self._loads = dict(loads)

    def close(self) -> None:
        for client in (self._source, self._target, self._offsets):
            client.close()
        if self.fencing is not None:
            self.fencing.close()

    def _observe_first(self) -> None:
        try:
            self.observe(bounded=False)
            self.hopeless = None
        except ClientError as e:
            self.hopeless = None if e.retriable else e
            raise

    def _refresh(self) -> None:
        began = time.monotonic()
        with self._busy:
            self._schedule_refresh()
            before = self._partitions
            stuck = self.gaps.take_stuck()
            self._sync_topics()
            moved = self._look_for_gaps()
            self._reset_unknown()
        interval = self.config.refresh_interval_seconds or 0
        tell_duration(f"flow {self.config.name}: topics", began, interval)
        came, went = len(self._partitions - before), len(before - self._partitions)
        if came or went:
            self._note(f"flow {self.config.name}: {came} partitions came, {went} went")
        elif moved or stuck:
            self._note(f"flow {self.config.name}: topics were created again")

    def _look_for_loops(self) -> None:
        """Between refreshes: a mirror of another process may begin, or end, any time."""
        with self._busy:
            self._next_loop_look = time.monotonic() + _LOOP_SECONDS
            before = self._guard.refused(self.config)
            self._guard.look(self.config, self._source, self._target)
        if self._guard.refused(self.config).keys() != before.keys():
            self._next_refresh = 0.0

    def _note(self, change: str) -> None:
        with self._lock:
            self._change = change

    def _require_offsets_topic(self) -> None:
        """Without it nobody would know where to resume: the flow cannot run."""
        problem = ensure_internal_topic(self._offsets, offsets_of(self.config))
        if problem is not None:
            raise ClientError(problem)

    def _ensure_state_topic(self) -> None:
        """Without it a crash leaves doubles: worth a problem, which the state's own job shows."""
        problem = ensure_internal_topic(self._target, state_of(self.config))
        if problem is not None:
            log.warning("flow %s: %s", self.config.name, problem)

    def _resume(self) -> Mapping[TopicPartition, int]:
        """Where the last mirror stopped: by its snapshots, or, where somebody else has stored an offset
        since, by that. What is stored is returned."""
        if self.fencing is not None:
            self.fencing.claim()
        offsets, found = self._read_resumptions()
        stored = {partition: each.position for partition, each in offsets.items()}
        by_stored = sum(each.by_stored for each in found.values())
        if by_stored and self.fencing is None:
            log.info(
                "flow %s: %d partitions go on, at least once, at offsets stored by another mirror or a user",
                self.config.name,
                by_stored,
            )
        with self._lock:
            self._positions = {p: r.start for p, r in found.items() if r.start is not None}
            self._stored = dict(stored)
            self._snapshots = {p: r.snapshot for p, r in found.items() if r.snapshot is not None}
            self._unstored = {p for p in self._snapshots if self._positions[p] != stored.get(p)}
            snapshots = dict(self._snapshots)
        self.gaps.resume(snapshots)
        if self.fencing is not None:
            self._resume_transactions(offsets)
        return stored

    def _resume_transactions(self, stored: Mapping[TopicPartition, StoredOffset]) -> None:
        """Offsets that a transaction stored say what the logs were like; the offset map does for those that a
        version before wrote."""
        landmarks = read_landmarks(self.config.source, self._target)
        marks: dict[TopicPartition, LeaderEpochMark] = {}
        for partition, (position, logs) in stored.items():
            if logs.downstream >= 0:
                landmarks[partition] = Landmark(position, logs.downstream)
            if logs.mark is not None:
                marks[partition] = logs.mark
        self.gaps.resume_transactions(landmarks, marks)

    def _read_resumptions(
        self,
    ) -> tuple[Mapping[TopicPartition, StoredOffset], Mapping[TopicPartition, Resumption]]:
        """Offsets and snapshots are read one after the other, and whoever ran before us may have written in
        between: where they do not fit, they are read again, until nothing is new, or too much is."""
        began, before = time.monotonic(), None
        for left in reversed(range(_READINGS)):
            stored = stored_offsets(self.config, self._offsets)
            snapshots = read_snapshots(self.config.source, self._target)
            found = {
                partition: resumption(
                    stored[partition].position if partition in stored else None,
                    snapshots.get(partition),
                    self.config.target_topic(partition.topic),
                )
                for partition in stored.keys() | snapshots.keys()
            }
            fits = not any(each.by_stored for each in found.values())
            if fits or before == (stored, snapshots) or not left:
                break
            before = stored, snapshots
        tell_duration(f"flow {self.config.name}: stored offsets and snapshots", began, math.inf)
        return stored, found

    def _sync_topics(self) -> None:
        self._guard.look(self.config, self._source, self._target)
        topics = sync_topics(
            self.config,
            self._filter,
            self._source,
            self._target,
            self._guard.refused(self.config),
        )
        with self._lock:
            self._ids = topics.ids
            self._problems = dict(topics.problems)
            self._partitions = {
                TopicPartition(topic, number)
                for topic, count in topics.partitions.items()
                for number in range(count)
            }

    def _reset_unknown(self) -> None:
        with self._lock:
            unknown = self._partitions - self._positions.keys()
        found = reset_positions(self.config, self._source, unknown)
        with self._lock:
            self._positions |= found
            if self.config.auto_offset_reset is OffsetReset.NONE:
                self._problems |= {
                    str(partition): f"{partition}: no stored offset and auto.offset.reset=none; "
                    "nothing is copied"
                    for partition in unknown
                }

    # ── gaps ─────────────────────────────────────────────────────────────────────────────────

    def _load_gaps(self) -> None:
        if not self.gaps.loaded:
            told = read_statuses(self._target, state_topic(self.config.source))
            name = self.config.name
            self.gaps.load(told.partitions.get(name, {}), told.gaps.get(name, {}))

    def _look_for_gaps(self, ends: Mapping[TopicPartition, int] | None = None) -> bool:
        """Whether any lease is not what it should be any more."""
        refused = self._guard.refused(self.config)
        with self._lock:
            positions = dict(self._positions)
        before = self.gaps.identities()
        moved = self.gaps.look(
            self._ids,
            positions,
            self._partitions,
            wanted=lambda topic: (
                topic not in refused and self.config.should_replicate(topic, self._filter)
            ),
            past_end=[p for p, end in (ends or {}).items() if positions.get(p, 0) > end],
            logs=self._logs,
        )
        self._move(moved)
        self._leave_snapshots(before)
        return before != self.gaps.identities()

    def _leave_snapshots(self, before: Mapping[TopicPartition, tuple[TopicIdPair, int]]) -> None:
        """What was known of a remote topic says nothing of another by its name."""
        now = self.gaps.identities()
        with self._lock:
            for partition in before.keys() & now.keys():
                if before[partition][1] != now[partition][1]:
                    self._snapshots.pop(partition, None)

    def _logs(
        self, marks: Mapping[TopicPartition, LeaderEpochMark | None]
    ) -> Mapping[TopicPartition, LogBounds]:
        found, missing = look_at_logs(self._source, marks)
        for partition, problem in missing.items():
            log.warning("flow %s: %s: %s", self.config.name, partition, problem)
        return found

    def _look_for_release(self) -> None:
        """Failed partitions wait for another stored offset; it is looked for less and less often."""
        self._next_release = time.monotonic() + self._release_backoff.next()
        with self._busy:
            stored = stored_positions(self.config, self._offsets)
            released = self.gaps.release(stored, self._ids)
            self._move(released)
            self._reset_unknown()
        if released:
            self._release_backoff.reset()
            self._note(f"flow {self.config.name}: {len(released)} partitions go on")

    def _move(self, moved: Mapping[TopicPartition, int | None]) -> None:
        with self._lock:
            for partition, position in moved.items():
                self._unstored.add(partition)
                self._snapshots.pop(partition, None)
                if position is None:
                    self._positions.pop(partition, None)
                else:
                    self._positions[partition] = position
        self.gaps.moved(moved)

    def _schedule_refresh(self) -> None:
        interval = self.config.refresh_interval_seconds
        self._refreshed = time.monotonic()
        self._next_refresh = time.monotonic() + interval if interval else float("inf")
        self._next_loop_look = time.monotonic() + _LOOP_SECONDS
