"""Finds gaps between the source and remote logs of a flow, and decides where its partitions resume.

    state topic ──► known ◄── receipts            found on both clusters
                      └────────────► judged ◄─────────┘
                                       ├──► another position, in another generation
                                       └──► failed (source.log.gap.policy), until the user stores an offset

Gaps are topics that were deleted or created again, and positions past the end of the source's log.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from heliograph.config.mirror_config import FlowConfig
from heliograph.mm2.state_records import GapRecord, PartitionStatus
from heliograph.model import (
    AckedOffsets,
    Gap,
    GapKind,
    LeaderEpochMark,
    Lineage,
    LogBounds,
    PartitionState,
    ProducerSnapshot,
    Receipt,
    TopicIdPair,
    TopicPartition,
)
from heliograph.plan.gap_verdict import (
    Found,
    Known,
    Topic,
    Verdict,
    describe,
    differs,
    fails,
    judge,
    mark_after,
    outcome,
)
from heliograph.plan.topic_outcome import TopicIds
from heliograph.runtime.flow.partition_gaps import PartitionGaps

log = logging.getLogger(__name__)

#: Reads the bounds of the source's logs, for the partitions whose leader answers.
LookAtLogs = Callable[
    [Mapping[TopicPartition, LeaderEpochMark | None]], Mapping[TopicPartition, LogBounds]
]
#: New positions; None: no position until one is found.
Moved = dict[TopicPartition, int | None]
#: What a lease must have to be up to date: the ids of both topics, and its generation.
Identity = tuple[TopicIdPair, int]


class FlowGaps:
    """For several threads."""

    def __init__(self, flow: FlowConfig) -> None:
        self._flow = flow
        self._lock = threading.Lock()
        self._partitions: dict[TopicPartition, PartitionGaps] = {}
        self._loaded = False
        self._recheck = False
        self._stuck = False

    # ── what is known ────────────────────────────────────────────────────────────────────────

    @property
    def loaded(self) -> bool:
        return self._loaded

    def load(
        self,
        statuses: Mapping[TopicPartition, PartitionStatus],
        records: Mapping[TopicPartition, GapRecord],
    ) -> None:
        """Start from the records of earlier services in the state topic; called once."""
        with self._lock:
            self._loaded = True
            for partition, status in statuses.items():
                its = self._of(partition)
                its.origin = its.confirmed = status.origin
                its.mark, its.source_end = status.mark, status.source_end
            for partition, record in records.items():
                self._of(partition).restore(record)

    def resume(self, snapshots: Mapping[TopicPartition, ProducerSnapshot]) -> None:
        """Take over the marks of snapshots: a snapshot is newer than the status record, also if it has no
        mark. Without an isolation level it is of a version that did not write marks."""
        with self._lock:
            for partition, snapshot in snapshots.items():
                if snapshot.mark is not None or snapshot.isolation is not None:
                    self._of(partition).mark = snapshot.mark

    def resume_marks(self, marks: Mapping[TopicPartition, LeaderEpochMark]) -> None:
        """Take over the marks of stored offsets, which are newer than the status records."""
        with self._lock:
            for partition, mark in marks.items():
                self._of(partition).mark = mark

    def resume_transactions(self, acked_offsets: Mapping[TopicPartition, AckedOffsets]) -> None:
        """Take over the log lengths of stored offsets."""
        with self._lock:
            for partition, acked in acked_offsets.items():
                self._of(partition).acked_offsets = acked

    def forget(self) -> None:
        """The tasks ended without a last receipt."""
        with self._lock:
            for its in self._partitions.values():
                its.forget_task()

    def learn(self, receipts: Iterable[Receipt]) -> None:
        with self._lock:
            for receipt in receipts:
                self._of(TopicPartition(receipt.topic, receipt.partition)).learn(receipt)
                if receipt.recheck:
                    self._recheck = True
                    self._stuck = self._stuck or receipt.state is PartitionState.FAILED

    def take_recheck(self) -> bool:
        """Whether tasks have reported topics that are missing or replaced since the last call."""
        with self._lock:
            recheck, self._recheck = self._recheck, False
        return recheck

    def take_stuck(self) -> bool:
        """Whether tasks have stopped partitions because of that. If the topics are unchanged (a broker had
        outdated metadata), only a new lease makes them continue."""
        with self._lock:
            stuck, self._stuck = self._stuck, False
        return stuck

    def lineages(self) -> dict[TopicPartition, Lineage]:
        """The lineages of partitions without an unresolved gap. Positions that are read after this call
        belong to these lineages or newer ones."""
        with self._lock:
            return {
                partition: its.lineage()
                for partition, its in self._partitions.items()
                if its.failed is None and not its.moving
            }

    def identities(self) -> dict[TopicPartition, Identity]:
        """What a lease must have to be up to date."""
        return {p: (each.origin, each.generation) for p, each in self.lineages().items()}

    def same_topics(self, before: Mapping[TopicPartition, Identity]) -> frozenset[TopicPartition]:
        """Partitions that are still copied between the same two topics as then."""
        with self._lock:
            return frozenset(
                partition
                for partition, (then, _) in before.items()
                if not differs(then.source, (now := self._of(partition).origin).source)
                and not differs(then.target, now.target)
            )

    def copied_between(self, partition: TopicPartition, generation: int) -> TopicIdPair | None:
        """The topics that a task of this generation copies between; None if it is not the current one."""
        with self._lock:
            its = self._of(partition)
            return its.origin if generation == its.generation else None

    def generations(self, partition: TopicPartition) -> range:
        """The generations whose positions are valid; the last is the current one."""
        with self._lock:
            its = self._of(partition)
            return range(its.since, its.generation + 1)

    def origins(self) -> dict[TopicPartition, TopicIdPair]:
        with self._lock:
            return {partition: its.confirmed for partition, its in self._partitions.items()}

    def records(self) -> list[GapRecord]:
        with self._lock:
            return [its.record for its in self._partitions.values() if its.record is not None]

    def newest(self) -> list[tuple[TopicPartition, Gap]]:
        """The last few gaps of each partition, oldest first."""
        with self._lock:
            return [(p, gap) for p, its in self._partitions.items() for gap in its.newest]

    def counts(self) -> dict[str, tuple[int, int]]:
        """Gaps found since this service started, by each kind: their number, and records never mirrored."""
        with self._lock:
            found = [
                (kind, its)
                for each in self._partitions.values()
                for kind, its in each.found.items()
            ]
        # A counter that begins at 0 is what Prometheus' increase() needs to see the first gap.
        sums: dict[str, tuple[int, int]] = {kind.value: (0, 0) for kind in GapKind}
        for kind, (gaps, records) in found:
            before = sums[kind]
            sums[kind] = (before[0] + gaps, before[1] + records)
        return sums

    def failed(self) -> dict[TopicPartition, Receipt]:
        """Partitions that wait for the user; their receipts have the cause."""
        with self._lock:
            found = {p: its.failed for p, its in self._partitions.items()}
        return {partition: receipt for partition, receipt in found.items() if receipt is not None}

    # ── what is found ────────────────────────────────────────────────────────────────────────

    def look(
        self,
        ids: TopicIds,
        positions: Mapping[TopicPartition, int],
        mirrored: Iterable[TopicPartition],
        *,
        wanted: Callable[[str], bool],
        past_end: Iterable[TopicPartition],
        logs: LookAtLogs,
    ) -> Moved:
        """Compare what is known with both clusters. `mirrored` are the existing partitions that are mirrored,
        `wanted` decides which topics match the filters; partitions `past_end` are checked in any case.
        Returns new positions; their partitions are copied once `moved` was called."""
        with self._lock:
            known = {
                p: self._of(p).known(position)
                for p, position in positions.items()
                if wanted(p.topic) and self._of(p).failed is None
            }
            found = {p: self._topics(p, ids) for p in known}
            past = set(past_end)
            changed = [p for p in known if p in past or _changed(known[p], found[p])]
            for partition in {*mirrored}.difference(changed):
                if (its := self._of(partition)).failed is None:
                    its.origin = self._newest(partition, ids)
        there = {p: known[p].mark for p in changed if found[p].source.there}
        seen = logs(there) if there else {}
        moved: Moved = {}
        with self._lock:
            for partition in sorted(changed):
                if partition in there and partition not in seen:
                    continue  # its leader does not answer: checked again with the next refresh
                all_found = replace(found[partition], log=seen.get(partition))
                verdict = judge(known[partition], all_found, self._flow.auto_offset_reset)
                mark = mark_after(known[partition], all_found, verdict)
                if self._settle(partition, known[partition], verdict, mark, ids):
                    moved[partition] = verdict.position
        return moved

    def release(self, stored: Mapping[TopicPartition, int], ids: TopicIds) -> Moved:
        """Failed partitions whose stored offset the user has changed or deleted, with the new position."""
        with self._lock:
            released: Moved = {
                partition: stored.get(partition)
                for partition, its in self._partitions.items()
                if its.released(stored.get(partition), self._newest(partition, ids))
            }
        for partition, position in released.items():
            log.warning(
                "flow %s: %s: another offset was stored for it (%s); resuming",
                self._flow.name,
                partition,
                "none" if position is None else position,
            )
        return released

    def moved(self, partitions: Iterable[TopicPartition]) -> None:
        """The positions that `look` or `release` returned are in use."""
        with self._lock:
            for partition in partitions:
                self._of(partition).moving = False

    # ── under the lock ───────────────────────────────────────────────────────────────────────

    def _of(self, partition: TopicPartition) -> PartitionGaps:
        its = self._partitions.get(partition)
        if its is None:
            its = PartitionGaps(self._flow.name, partition, self._flow.gap_policies)
            self._partitions[partition] = its
        return its

    def _topics(self, partition: TopicPartition, ids: TopicIds) -> Found:
        topic, remote = partition.topic, self._flow.target_topic(partition.topic)
        return Found(
            source=Topic(topic in ids.source, ids.source.get(topic)),
            remote=Topic(remote in ids.target, ids.target.get(remote)),
        )

    def _newest(self, partition: TopicPartition, ids: TopicIds) -> TopicIdPair:
        """The current topic ids; the previous one where the metadata has none."""
        before, remote = self._of(partition).origin, self._flow.target_topic(partition.topic)
        now = ids.origin(partition.topic, remote)
        known = before.target if remote in ids.target else None
        return TopicIdPair(now.source or before.source, now.target or known)

    def _settle(
        self,
        partition: TopicPartition,
        known: Known,
        verdict: Verdict,
        mark: LeaderEpochMark | None,
        ids: TopicIds,
    ) -> bool:
        """Whether the partition has another position from now on; `mark` is the mark for that position."""
        its, policy = self._of(partition), self._flow.gap_policies
        gone = any(gap.kind is GapKind.SOURCE_DELETED for gap in verdict.gaps)
        if gone and its.reported_deleted():
            return False
        failed = fails(verdict, policy)
        for gap in verdict.gaps:
            now_ms = int(time.time() * 1000)
            stamped = gap._replace(at_ms=now_ms, resumed=-1 if failed else gap.resumed)
            its.count(stamped)
            sentence = f"{describe(gap)}; {outcome(stamped, policy)}"
            log.error("flow %s: %s: %s", self._flow.name, partition, sentence)
        if failed:
            its.fail(known.position)
        if failed or verdict.position is None:
            return False
        before, its.origin = its.origin, self._newest(partition, ids)
        if verdict.position == known.position and not differs(before.source, its.origin.source):
            if before.target not in (None, its.origin.target):
                its.confirmed = its.confirmed._replace(target=its.origin.target)
                its.begin_remote()
            return False
        same = not (
            differs(before.source, its.origin.source) or differs(before.target, its.origin.target)
        )
        # At least once, the retired snapshot has the length of the remote log.
        kept = its.acked_before(verdict.position) if same and self._flow.exactly_once else None
        its.begin_generation(mark, kept)
        return True


def _changed(known: Known, found: Found) -> bool:
    if known.origin.source is not None and not found.source.there:
        return True
    if known.origin.target is not None and not found.remote.there:
        return True
    return differs(known.origin.source, found.source.id) or differs(
        known.origin.target, found.remote.id
    )
