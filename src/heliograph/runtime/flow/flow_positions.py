"""The driver's record of a flow's partitions: position, stored offset, snapshot and load of each."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping

from heliograph.config.mirror_config import FlowConfig
from heliograph.model import Lineage, ProducerSnapshot, Receipt, TopicPartition
from heliograph.plan.epoch import FlowView
from heliograph.plan.resume import Resumption


class FlowPositions:
    """Written by the thread that observes the flow and by the driver's; nothing is read or written without
    the lock."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._partitions: frozenset[TopicPartition] = frozenset()
        self._positions: dict[TopicPartition, int] = {}
        self._stored: dict[TopicPartition, int] = {}  # offsets in the offsets topic
        self._snapshots: dict[TopicPartition, ProducerSnapshot] = {}
        self._unstored: set[TopicPartition] = set()
        self._ends: Mapping[TopicPartition, int] | None = None
        self._loads: dict[TopicPartition, float] = {}

    # ── what was observed ────────────────────────────────────────────────────────────────────

    def set_partitions(self, partitions: Iterable[TopicPartition]) -> None:
        with self._lock:
            self._partitions = frozenset(partitions)

    def resume(
        self, found: Mapping[TopicPartition, Resumption], stored: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, ProducerSnapshot]:
        """Start from what the last mirror left behind; returns its snapshots that are still valid."""
        with self._lock:
            self._positions = {p: r.start for p, r in found.items() if r.start is not None}
            self._stored = dict(stored)
            self._snapshots = {p: r.snapshot for p, r in found.items() if r.snapshot is not None}
            self._unstored = {p for p in self._snapshots if self._positions[p] != stored.get(p)}
            return dict(self._snapshots)

    def start_run(self, ends: Mapping[TopicPartition, int], *, bounded: bool) -> None:
        """`ends` are the source's log ends. They bound a bounded run, and until loads are measured the number
        of records up to them is the best estimate of a partition's load."""
        with self._lock:
            self._ends = ends if bounded else None
            self._loads = {
                p: float(max(ends[p] - at, 0)) for p, at in self._positions.items() if p in ends
            }

    def add(self, positions: Mapping[TopicPartition, int]) -> None:
        with self._lock:
            self._positions |= positions

    def move(
        self,
        moved: Mapping[TopicPartition, int | None],
        same_topics: Collection[TopicPartition] = (),
    ) -> None:
        """New positions because of a gap or a user's offset; None: no position until one is found. Within the
        `same_topics` the copy continues under the next epoch of its producer id."""
        with self._lock:
            for partition, position in moved.items():
                self._unstored.add(partition)
                snapshot = self._snapshots.pop(partition, None)
                if snapshot is not None and position is not None and partition in same_topics:
                    self._snapshots[partition] = snapshot.retire(position)
                if position is None:
                    self._positions.pop(partition, None)
                else:
                    self._positions[partition] = position

    def drop_snapshots(self, partitions: Iterable[TopicPartition]) -> None:
        with self._lock:
            for partition in partitions:
                self._snapshots.pop(partition, None)

    def forget(self) -> None:
        with self._lock:
            self._positions = {}

    # ── what tasks reported ──────────────────────────────────────────────────────────────────

    def settle(
        self, receipts: Iterable[Receipt], generations: Callable[[TopicPartition], range]
    ) -> None:
        """The last receipts of an epoch are the positions of the next one. `generations(partition)` are those
        whose positions are valid; the last of them is the current one."""
        with self._lock:
            for receipt in receipts:
                partition = TopicPartition(receipt.topic, receipt.partition)
                valid = generations(partition)
                if receipt.generation in valid:
                    self._settle(partition, receipt, current=receipt.generation == valid[-1])

    def _settle(self, partition: TopicPartition, receipt: Receipt, *, current: bool) -> None:
        moved = self._positions.get(partition) != receipt.position
        self._positions[partition] = receipt.position
        if receipt.snapshot is not None and current:
            self._snapshots[partition] = receipt.snapshot
        else:
            self._snapshots.pop(partition, None)
        if receipt.stored:
            self._unstored.discard(partition)
            if moved or partition in self._stored:
                self._stored[partition] = receipt.position
        else:
            self._unstored.add(partition)

    def set_loads(self, loads: Mapping[TopicPartition, float]) -> None:
        """Bytes per partition as measured by the running tasks."""
        with self._lock:
            self._loads = dict(loads)

    # ── copies of what is known ──────────────────────────────────────────────────────────────

    @property
    def partitions(self) -> frozenset[TopicPartition]:
        with self._lock:
            return self._partitions

    @property
    def positions(self) -> dict[TopicPartition, int]:
        with self._lock:
            return dict(self._positions)

    @property
    def unknown(self) -> frozenset[TopicPartition]:
        """Mirrored partitions without a position."""
        with self._lock:
            return self._partitions - self._positions.keys()

    def view(
        self,
        flow: FlowConfig,
        lineages: Mapping[TopicPartition, Lineage],
        may_copy: Callable[[TopicPartition], bool],
    ) -> FlowView:
        with self._lock:
            return FlowView(
                flow=flow,
                positions={
                    p: offset
                    for p, offset in self._positions.items()
                    if p in self._partitions and p in lineages and may_copy(p)
                },
                ends=self._ends,
                loads=dict(self._loads),
                unstored=frozenset(self._unstored),
                stored=dict(self._stored),
                snapshots=dict(self._snapshots),
                lineages=lineages,
            )
