"""Publishes where records have landed: offset syncs for MM2, the offset map for Heliograph.

    acknowledged ──► landing ──► collect ──► sync policy ──► offset-syncs topic
                                    │
                                    ├──────► unreported ──► receipts, every second
                                    └──────► segments ────► state topic, with every flush

A batch only updates the partition's own `landing`; everything else is done per partition, periodically.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection

from heliograph.config.mirror_config import FlowConfig
from heliograph.copy.bookkeeping.background_writer import BackgroundWriter
from heliograph.copy.partition import Partition
from heliograph.mm2.offset_map import LOST, OffsetMap, OffsetRange
from heliograph.mm2.offset_map_segments import OffsetMapSegments
from heliograph.mm2.offset_sync import Headers, origin_headers
from heliograph.mm2.sync_policy import BURST, OffsetSyncPolicy
from heliograph.model import ClusterConfig, SyncsLocation, TopicPartition

log = logging.getLogger(__name__)

#: In all receipts of a copy loop together, each second. The rest is sent with the next ones.
_RANGES_PER_REPORT = 50_000
_COLLECT_SECONDS = 0.1
#: After collecting, the next collection is due after this many times its duration.
_REST = 30


class Syncs:
    """Part of one copy loop. `flow` says whether syncs and an offset map are wanted."""

    def __init__(
        self,
        flow: FlowConfig,
        copies: Collection[Partition],
        *,
        source: ClusterConfig,
        target: ClusterConfig,
        state: BackgroundWriter,
        lapsed: Callable[[], bool] = lambda: False,
    ) -> None:
        self.moved = True  # whether any copy may have moved since syncs were last collected
        self._flow = flow
        self._copies = copies
        self._next_collect = 0.0
        self._policy: OffsetSyncPolicy | None = None
        self._headers: dict[TopicPartition, Headers] = {}
        self._syncs: BackgroundWriter | None = None
        self._state = state
        self._exact = False
        self._segments: dict[Partition, OffsetMapSegments] = {}
        self._unreported: dict[Partition, OffsetMap] = {}
        if flow.offset_syncs is not None:
            here = flow.offset_syncs.location
            self._policy = OffsetSyncPolicy(flow.offset_syncs.lag_max)
            self._headers = {c.source: origin_headers(c.lease.lineage.origin) for c in copies}
            self._syncs = BackgroundWriter(
                source if here is SyncsLocation.SOURCE else target,
                flow.offset_syncs.topic.name,
                client_id=f"{flow.name}|{flow.connector_name}|offset-syncs-{here}-producer",
                what=f"flow {flow.name}: offset syncs",
                history=BURST + 1,
                lapsed=lapsed,
            )
        if flow.keeps_offset_map:
            self._segments = {
                copy: OffsetMapSegments(copy.source, copy.lease.lineage.origin) for copy in copies
            }
            self._unreported = {copy: OffsetMap() for copy in copies}
            self._exact = True
        if self._syncs is not None or self._exact:
            for copy in copies:
                copy.map_offsets()

    def start(self) -> None:
        if self._syncs is not None:
            self._syncs.start()

    def tick(self, now: float) -> None:
        """Send syncs that are due."""
        if not self.moved or now < self._next_collect:
            return
        if self._syncs is not None or self._exact:
            self.moved = False
            self._collect()
            took = time.monotonic() - now
            self._next_collect = now + max(took * _REST, _COLLECT_SECONDS)

    def flush(self) -> None:
        """Before offsets are stored: send delayed syncs and write the offset map."""
        self._collect()
        if self._policy is not None:
            self._policy.promote()
            self._fire()
        if self._exact:
            self._state.offer(
                (segment.key(), segment.value())
                for segments in self._segments.values()
                for segment in segments.take()
            )

    def note_begun(self) -> None:
        """Before snapshots are written: a successor that finds fewer records on the target than the snapshot
        says goes back by the offset map. New ranges must be in it; the end of a range that only grows follows
        from its start and the snapshot."""
        self._collect()
        self._state.offer(
            (segment.key(), segment.value())
            for segments in self._segments.values()
            if segments.begun
            for segment in segments.take()
        )

    def close(self, patience: float) -> None:
        if self._syncs is not None:
            self._syncs.close(patience)

    def take_unreported(self) -> dict[Partition, tuple[OffsetRange, ...]]:
        """New ranges since the last call; of thousands of partitions, only some of them at a time."""
        budget = max(_RANGES_PER_REPORT // max(len(self._copies), 1), 1)
        return {
            copy: ranges.take(budget) for copy, ranges in self._unreported.items() if len(ranges)
        }

    def _collect(self) -> None:
        for copy in self._copies:
            landing = copy.remote.landing
            if landing is not None and landing.has_fresh(copy.acked):
                for found in landing.fresh(copy.acked):
                    self._note(copy, found)
        self._fire()

    def _note(self, copy: Partition, each: OffsetRange) -> None:
        if self._policy is not None and each.downstream != LOST and each.count:
            self._policy.acknowledged(copy.source, *each)
        if self._exact:
            self._segments[copy].append(each)
            self._unreported[copy].append(each)

    def _fire(self) -> None:
        if self._policy is not None and self._syncs is not None and self._policy.pending:
            due = self._policy.take(len(self._policy.pending))
            self._syncs.offer_with_headers(
                (sync.key(), sync.value(), self._headers[sync.topic_partition]) for sync in due
            )
