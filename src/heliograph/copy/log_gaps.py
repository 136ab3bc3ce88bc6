"""Checks that the source logs of a copy loop's partitions are still the ones that it has read so far.

    OFFSET_OUT_OF_RANGE ──┐                                                ┌─► continue, or resume elsewhere
    new leader ───────────┴──► CHECKING: nothing is fetched ──► judged ──► ┴─► halted
    topic id changed, or topic missing ──► the driver checks

A task decides about offsets in a log by itself; topics are checked by the driver.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping

from heliograph.client.fetch.log_history import look_at_logs
from heliograph.client.net.backoff import Backoff
from heliograph.client.net.cluster import ClusterClient, Metadata
from heliograph.config.mirror_config import FlowConfig
from heliograph.copy.partition import Partition
from heliograph.copy.subscription import SubscriptionState
from heliograph.model import Gap, GapKind, LogBounds, TopicPartition
from heliograph.plan.gap_verdict import (
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
    """Of one copy loop. `fall_back(copy, reason, position)` is `ProducerRecovery`'s."""

    def __init__(
        self,
        flow: FlowConfig,
        copies: Mapping[TopicPartition, Partition],
        subscription: SubscriptionState,
        *,
        source: ClusterClient,
        target: ClusterClient,
        fall_back: Callable[[Partition, str, int], None],
    ) -> None:
        self._flow = flow
        self._copies = copies
        self._subscription = subscription
        self._source = source
        self._target = target
        self._fall_back = fall_back
        self._backoff = Backoff(first=0.1, most=5.0)
        self._next_look = 0.0
        # Clients are reused between leases: metadata from before this lease may be older than the lease.
        self._seen: dict[ClusterClient, Metadata] = {c: c.metadata for c in (source, target)}
        self._gone: dict[ClusterClient, frozenset[str]] = {}

    def begin(self, copies: Iterable[Partition]) -> None:
        """These partitions are about to be fetched."""
        known = self._source.metadata.leader_epochs
        self.on_leaders({c.source: known[c.source] for c in copies if c.source in known})

    def on_leaders(self, epochs: Mapping[TopicPartition, int]) -> None:
        """As in Kafka's consumer (KIP-320): a position is validated with each new leader epoch."""
        for partition, epoch in epochs.items():
            copy = self._copies[partition]
            if copy.source_mark is not None and copy.source_mark.epoch < epoch:
                self.suspect(copy)

    def suspect(self, copy: Partition, error: str | None = None) -> None:
        copy.suspect_source(error)
        self._subscription.obey(copy)

    @property
    def due(self) -> bool:
        """Whether a partition can be checked now."""
        waiting = self._subscription.awaiting_check
        if not waiting or time.monotonic() < self._next_look:
            return False
        return any(copy.may_check() for copy in waiting)

    # ── topics ───────────────────────────────────────────────────────────────────────────────

    def compare_topics(self) -> None:
        """Compare topic ids with the newest metadata of both clusters; sends no request."""
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
                continue  # no new metadata under this lease
            gone = gone or topic in self._gone[cluster]
            if differs(known, cluster.metadata.topic_id(topic)):
                self._hand_over(copy, f"{cluster.config.alias}: {topic} was created again")
                return
        copy.miss_topic(gone)

    def _hand_over(self, copy: Partition, error: str) -> None:
        """Halt the partition under this lease; the driver decides."""
        copy.replaced(error)
        self._subscription.obey(copy)

    # ── logs ─────────────────────────────────────────────────────────────────────────────────

    def judge(self) -> None:
        """Check the partitions that wait for it. Raises ClientError if the source cannot be reached."""
        ready = [copy for copy in self._subscription.awaiting_check if copy.may_check()]
        found, missing = look_at_logs(
            self._source, {copy.source: copy.source_mark for copy in ready}
        )
        self.compare_topics()
        for copy in ready:
            if copy.halted:
                continue  # handed over
            if copy.source in found:
                self._judge(copy, found[copy.source])
            else:
                copy.retrying(missing[copy.source])
        if missing:
            self._next_look = time.monotonic() + self._backoff.next()
        else:
            self._backoff.reset()

    def lost(self, copy: Partition, verdict: Verdict) -> None:
        """The target has lost records: go back to the verdict's position, or wait for the user."""
        self._conclude(copy, verdict, verdict.position)

    def _judge(self, copy: Partition, log_bounds: LogBounds) -> None:
        leader_epoch = self._source.metadata.leader_epochs.get(copy.source)
        known, found = _known(copy, log_bounds.start, leader_epoch), Found(log=log_bounds)
        verdict = judge(known, found, self._flow.auto_offset_reset)
        departs = departure(known, found)
        if departs is not None and not verdict.gaps:
            copy.renumber_from(departs)
            end = copy.position + copy.numbers.skip
            if end > departs:
                # A predecessor that had noticed may have gone on before it could write another snapshot.
                gap = Gap(GapKind.TRUNCATED, departs, end, departs)
                doubt = "the source's log was truncated before or after they were numbered"
                verdict = Verdict(departs, (gap,), doubt)
        if verdict.gaps:
            log.info("%s: gap found: expected %s, found %s", copy.source, known, found)
        copy.set_mark(mark_after(known, found, verdict))
        position = verdict.position
        ahead = position is not None and position > copy.position
        if ahead and copy.numbers.skip and verdict.doubt is None:
            verdict = verdict._replace(doubt="the source has deleted records that followed")
        moved = position != copy.position or verdict.doubt is not None
        self._conclude(copy, verdict, position if moved else None)

    def _conclude(self, copy: Partition, verdict: Verdict, position: int | None) -> None:
        """Report the gaps; then halt the partition or continue, at `position` if it is given."""
        policy = self._flow.gap_policies
        failed = fails(verdict, policy)
        sentence = ""
        for gap in verdict.gaps:
            stamped = gap._replace(
                at_ms=int(time.time() * 1000), resumed=-1 if failed else gap.resumed
            )
            sentence = (
                f"{self._flow.name}: {copy.source}: {describe(gap)}; {outcome(stamped, policy)}"
            )
            log.error("%s", sentence)
            copy.report_gap(stamped)
        if failed:
            copy.halt(sentence)
        else:
            if position is not None and verdict.doubt is not None:
                self._fall_back(copy, verdict.doubt, position)
            copy.confirm_source(position)
        self._subscription.obey(copy)


def _known(copy: Partition, log_start: int, leader_epoch: int | None) -> Known:
    """Records to skip, which the target already has, take at least one offset each: if the source has deleted
    the first of them, the others follow. If the source has deleted all of them, only a mark proves that it
    had the same records there: up to the mark's offset, and beyond it while the same leader leads, since a
    leader never truncates its own log."""
    numbers, mark = copy.numbers, copy.source_mark
    if not numbers.skip or copy.position >= log_start:
        return Known(position=copy.position, mark=mark)
    end = certain = copy.position + numbers.skip
    if log_start < end:
        copy.skip_deleted(log_start)
        return Known(position=copy.position, mark=mark)
    if mark is None:
        certain = copy.position
    elif mark.epoch != leader_epoch:
        certain = min(end, max(mark.offset, copy.position))
    if numbers.holes:
        # In place of those that compaction has removed, newer records were counted, and never compared.
        certain = min(certain, numbers.landed_to)
    return Known(position=certain, mark=mark)
