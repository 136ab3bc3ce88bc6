"""Measures the load of partitions, and decides whether a new epoch would balance the tasks better."""

from __future__ import annotations

import time
from collections.abc import Sequence

from heliograph.model import Lease, TopicPartition
from heliograph.plan.epoch import gain
from heliograph.runtime.flow.observed_flow import ObservedFlow
from heliograph.runtime.progress import Progress

#: A change of epoch pauses the copy for a fraction of a second, so the balance is checked once a minute only.
_SECONDS = 60.0
_HEAVY_BYTES_PER_SECOND = 10e6
_WORTHWHILE_GAIN = 0.25


class LoadMonitor:
    """Measures every partition's load once a minute; the next epoch is planned with it."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._measured: dict[str, dict[TopicPartition, int]] = {}
        self._next = time.monotonic() + _SECONDS

    def look(self, flows: Sequence[ObservedFlow], tasks: Sequence[Sequence[Lease]]) -> str | None:
        """Why the epoch should end, if a better balance is worth the pause; else None."""
        if time.monotonic() <= self._next:
            return None
        self._next = time.monotonic() + _SECONDS
        heaviest = max((self._measure(flow) for flow in flows), default=0.0)
        won = gain([flow.view() for flow in flows], tasks)
        if heaviest / _SECONDS > _HEAVY_BYTES_PER_SECOND and won > _WORTHWHILE_GAIN:
            return f"rebalancing takes {won:.0%} of the load off the busiest task"
        return None

    def _measure(self, flow: ObservedFlow) -> float:
        """Bytes copied since the last measurement."""
        name = flow.config.name
        now, before = self._progress.bytes_by_partition(name), self._measured.get(name, {})
        loads = {p: float(size - before.get(p, 0)) for p, size in now.items()}
        self._measured[name] = now
        flow.set_loads(loads)
        return sum(loads.values())
