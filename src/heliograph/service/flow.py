"""One flow as the driver knows it: its topics, where each partition stands, and its load."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Mapping

from heliograph.client.cluster import ClusterClient
from heliograph.config.mirror_config import FlowConfig
from heliograph.model import IsolationLevel, OffsetReset, Receipt, TopicPartition
from heliograph.plan.epoch import FlowView
from heliograph.sync.offsets import (
    end_positions,
    ensure_offsets_topic,
    reset_positions,
    stored_positions,
)
from heliograph.sync.topics import sync_topics

log = logging.getLogger(__name__)


class ObservedFlow:
    def __init__(self, config: FlowConfig, source: ClusterClient, target: ClusterClient) -> None:
        self.config = config
        self.problems: dict[str, str] = {}
        self._source = source
        self._target = target
        self._filter = config.topic_filter()
        self._lock = threading.Lock()  # of the positions: Spark's thread settles, ours refreshes
        self._positions: dict[TopicPartition, int] = {}
        self._partitions: set[TopicPartition] = set()
        self._ends: dict[TopicPartition, int] | None = None
        self._loads: dict[TopicPartition, float] = {}
        self._next_refresh = 0.0

    def observe(self, *, bounded: bool) -> None:
        """Look at both clusters anew: topics, stored offsets, and where a bounded run ends."""
        ensure_offsets_topic(self.config, self._target)
        self._sync_topics()
        self._positions = dict(stored_positions(self.config, self._target))
        self._reset_unknown()
        ends = end_positions(self._source, self._partitions, self.config.isolation_level)
        self._drop_lost(ends)
        self._ends = ends if bounded else None
        # Nothing is measured yet: what lies ahead of a partition is the best guess at its load.
        self._loads = {
            p: float(max(ends[p] - at, 0)) for p, at in self._positions.items() if p in ends
        }
        self._schedule_refresh()

    def refresh(self) -> str | None:
        """When it is time: see whether topics or partitions have come or gone; what changed, in words."""
        if time.monotonic() < self._next_refresh:
            return None
        self._schedule_refresh()
        before = self._partitions
        self._sync_topics()
        self._reset_unknown()
        came, went = len(self._partitions - before), len(before - self._partitions)
        if not came and not went:
            return None
        return f"flow {self.config.name}: {came} partitions came, {went} went"

    def view(self) -> FlowView:
        with self._lock:
            positions = {p: o for p, o in self._positions.items() if p in self._partitions}
        return FlowView(
            flow=self.config,
            positions=positions,
            ends=self._ends,
            loads=self._loads,
        )

    def settle(self, receipts: Iterable[Receipt]) -> None:
        """The tasks' last word on an epoch is where the next one starts."""
        with self._lock:
            for receipt in receipts:
                partition = TopicPartition(receipt.topic, receipt.partition)
                self._positions[partition] = receipt.position

    def weigh(self, loads: Mapping[TopicPartition, float]) -> None:
        """Bytes as measured by the running tasks, from now on the measure of load."""
        self._loads = dict(loads)

    def close(self) -> None:
        self._source.close()
        self._target.close()

    def _sync_topics(self) -> None:
        topics = sync_topics(self.config, self._filter, self._source, self._target)
        self.problems = topics.problems
        self._partitions = {
            TopicPartition(topic, number)
            for topic, count in topics.partitions.items()
            for number in range(count)
        }

    def _reset_unknown(self) -> None:
        unknown = self._partitions - self._positions.keys()
        found = reset_positions(self.config, self._source, unknown)
        with self._lock:
            self._positions |= found
        if self.config.auto_offset_reset is OffsetReset.NONE:
            for partition in unknown:
                self.problems[str(partition)] = (
                    f"flow {self.config.name}: {partition}: no stored offset and "
                    "auto.offset.reset=none; nothing is copied"
                )

    def _drop_lost(self, ends: Mapping[TopicPartition, int]) -> None:
        """A stored offset past the source's end: the log was truncated, or the topic created again."""
        beyond = [p for p, end in ends.items() if self._positions.get(p, 0) > end]
        # Under read_committed an open transaction may hold the end back: that loses nothing.
        high = end_positions(self._source, beyond, IsolationLevel.READ_UNCOMMITTED)
        lost = [p for p in beyond if self._positions[p] > high[p]]
        for partition in lost:
            log.error(
                "flow %s: %s: the stored offset %d is past the source's end %d (truncated, or created "
                "again); starting over as auto.offset.reset=%s says",
                self.config.name,
                partition,
                self._positions.pop(partition),
                high[partition],
                self.config.auto_offset_reset,
            )
        if lost:
            self._reset_unknown()

    def _schedule_refresh(self) -> None:
        interval = self.config.refresh_interval_seconds
        self._next_refresh = time.monotonic() + interval if interval else float("inf")
