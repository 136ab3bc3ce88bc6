"""Watches that the logs of a link's partitions are still the ones that it has read so far.

    OFFSET_OUT_OF_RANGE ──┐
    a new leader ─────────┴──► suspected: nothing is fetched ──► judged ──► goes on, elsewhere, or fails
    a topic's id is another, or the topic is gone ──► the driver has to look

What a task can find out for itself, offsets in a log, it decides by itself; topics are the driver's.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping

from heliograph.client.fetch.fetcher import Fetcher
from heliograph.client.fetch.log_history import look_at_logs
from heliograph.client.net.backoff import Backoff
from heliograph.client.net.cluster import ClusterClient, Metadata
from heliograph.config.mirror_config import FlowConfig
from heliograph.copy.partition import Partition
from heliograph.model import Gap, GapKind, PartitionState, TopicPartition
from heliograph.plan.gaps import (
    Found,
    Known,
    Verdict,
    departure,
    describe,
    differs,
    fails,
    judge,
    mark_after,
    outcome,
)

log = logging.getLogger(__name__)


class GapWatch:
    """Of one link. `go_on(copy, position)` lets a partition be fetched again, elsewhere with a position."""

    def __init__(
        self,
        flow: FlowConfig,
        copies: Mapping[TopicPartition, Partition],
        fetcher: Fetcher,
        *,
        source: ClusterClient,
        target: ClusterClient,
        go_on: Callable[[Partition, int | None], None],
    ) -> None:
        self._flow = flow
        self._copies = copies
        self._fetcher = fetcher
        self._source = source
        self._target = target
        self._go_on = go_on
        self._suspects: dict[TopicPartition, Partition] = {}
        self._backoff = Backoff(first=0.1, most=5.0)
        self._next_look = 0.0
        # Clients outlive a lease: what they knew before it may be older than the lease.
        self._seen: dict[ClusterClient, Metadata] = {c: c.metadata for c in (source, target)}
        self._gone: dict[ClusterClient, frozenset[str]] = {}

    def begin(self, copies: Iterable[Partition]) -> None:
        """These are to be fetched now."""
        known = self._source.metadata.leader_epochs
        self.on_leaders({c.source: known[c.source] for c in copies if c.source in known})

    def on_leaders(self, epochs: Mapping[TopicPartition, int]) -> None:
        """As consumers do it: a position is confirmed with a leader newer than the last record read."""
        for partition, epoch in epochs.items():
            copy = self._copies[partition]
            if copy.source_mark is not None and copy.source_mark.epoch < epoch:
                self.suspect(copy)

    def suspect(self, copy: Partition, error: str | None = None) -> None:
        """Not before it is known what of it is on the target: `begin` comes after that."""
        if copy.recovering:
            return
        self._suspects[copy.source] = copy
        copy.suspected = True
        if error is not None and copy.state is not PartitionState.FAILED:
            copy.state, copy.error = PartitionState.RETRYING, error
        self._fetcher.positions.pop(copy.source, None)

    @property
    def due(self) -> bool:
        """Whether something is to be judged now. What is under way comes first: a position can only be left
        when all before it is settled."""
        if not self._suspects or time.monotonic() < self._next_look:
            return False
        return any(map(_ready, self._suspects.values()))

    # ── topics ───────────────────────────────────────────────────────────────────────────────

    def compare_topics(self) -> None:
        """Against the newest metadata of either side; asks nobody."""
        news = [c for c, seen in self._seen.items() if c.metadata is not seen]
        for cluster in news:
            metadata = self._seen[cluster] = cluster.metadata
            known = self._gone.get(cluster, frozenset())
            self._gone[cluster] = (known | metadata.missing) - metadata.partitions.keys()
        if news:
            for copy in self._copies.values():
                self._compare(copy)

    def _compare(self, copy: Partition) -> None:
        origin = copy.lease.lineage.origin
        gone = False
        for cluster, topic, known in (
            (self._source, copy.source.topic, origin.source),
            (self._target, copy.target.topic, origin.target),
        ):
            if cluster not in self._gone:
                continue  # nothing was heard of it under this lease
            gone = gone or topic in self._gone[cluster]
            if differs(known, cluster.metadata.topic_id(topic)):
                self._hand_over(copy, f"{cluster.config.alias}: {topic} was created again")
                return
        copy.recheck = gone

    def _hand_over(self, copy: Partition, error: str) -> None:
        """Not to be touched again under this lease."""
        self._suspects.pop(copy.source, None)
        copy.suspected = copy.recheck = copy.halted = True
        copy.retry_at = None
        copy.state, copy.error = PartitionState.FAILED, error
        self._fetcher.positions.pop(copy.source, None)

    # ── logs ─────────────────────────────────────────────────────────────────────────────────

    def judge(self) -> None:
        """Raises ClientError if the source is out of reach."""
        ready = [copy for copy in self._suspects.values() if _ready(copy)]
        found, missing = look_at_logs(
            self._source, {copy.source: copy.source_mark for copy in ready}
        )
        self.compare_topics()
        for copy in ready:
            if copy.source not in self._suspects:
                continue  # handed over
            if copy.source in found:
                self._judge(copy, Found.of(found[copy.source]))
            elif copy.state is not PartitionState.FAILED:
                copy.state, copy.error = PartitionState.RETRYING, missing[copy.source]
        if missing:
            self._next_look = time.monotonic() + self._backoff.next()
        else:
            self._backoff.reset()

    def lost(self, copy: Partition, verdict: Verdict) -> None:
        """The target has lost records: go back to where the verdict says, or wait for a user's word."""
        copy.suspected = True
        if not self._fails(copy, verdict):
            self._go_on(copy, verdict.position)

    def _judge(self, copy: Partition, found: Found) -> None:
        known = _known(copy, found)
        verdict = judge(known, found, self._flow.auto_offset_reset)
        departs = departure(known, found)
        if departs is not None and not verdict.gaps:
            # What was read from there on is not in the log any more: no record there may get its numbers.
            copy.barrier = departs
            if copy.skip > departs - copy.position:
                end = copy.position + copy.skip
                gap = Gap(GapKind.TRUNCATED, departs, end, departs)
                verdict = verdict._replace(gaps=(gap,))
        if verdict.gaps:
            log.info("%s: judged by %s and %s", copy.source, known, found)
        copy.source_mark = mark_after(known, found, verdict)
        if not self._fails(copy, verdict):
            self._go_on(copy, verdict.position if verdict.position != copy.position else None)

    def _fails(self, copy: Partition, verdict: Verdict) -> bool:
        """Tell of its gaps, and whether they stop the partition."""
        self._suspects.pop(copy.source, None)
        policy = self._flow.gap_policies
        failed = fails(verdict, policy)
        sentences = []
        for gap in verdict.gaps:
            stamped = gap._replace(
                at_ms=int(time.time() * 1000), resumed=-1 if failed else gap.resumed
            )
            sentence = (
                f"{self._flow.name}: {copy.source}: {describe(gap)}; {outcome(stamped, policy)}"
            )
            log.error("%s", sentence)
            sentences.append(sentence)
            copy.gaps.append(stamped)
        copy.halted = failed
        if failed:
            copy.retry_at = None
            copy.state, copy.error = PartitionState.FAILED, sentences[-1]
            return True
        copy.suspected = False
        if copy.state is not PartitionState.FAILED:
            copy.state, copy.error = PartitionState.RUNNING, None
        return False


def _ready(copy: Partition) -> bool:
    """Whether all that was sent of it is settled."""
    return not copy.outstanding and not copy.recovering


def _known(copy: Partition, found: Found) -> Known:
    """Records that are to be skipped, since the target has them, take at least as many offsets as they are:
    if the source has deleted the first of them, the others are still to be found behind."""
    if copy.skip and found.start is not None and copy.position < found.start:
        if found.start < copy.position + copy.skip:
            copy.skip_deleted(found.start)
        else:
            return Known(position=copy.position + copy.skip, mark=copy.source_mark)
    return Known(position=copy.position, mark=copy.source_mark)
